/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls are sorted by callee, bits and whether they may unwind; a group that is large enough gets one function. */
#include "shared_calls.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "hearth/ir_facts.h"
#include "shim.h"
#include "unwind_edges.h"

/* The function takes as many bytes as setting the bits around three calls. */
#define SHARED_MIN 4u
#define PREFIX     "__hearth_decide."

/* A call by the properties that allow sharing; `index` in the list. */
typedef struct sharing {
  LLVMValueRef callee;
  uint64_t bits;
  bool may_unwind;
  size_t index;
} sharing;

static bool share(const sharing *x, const sharing *y) {
  return x->callee == y->callee && x->bits == y->bits && x->may_unwind == y->may_unwind;
}

static int compare_sharing(const void *a, const void *b) {
  const sharing *x = a, *y = b;
  if (x->callee != y->callee)
    return ((uintptr_t)x->callee > (uintptr_t)y->callee) - ((uintptr_t)x->callee < (uintptr_t)y->callee);
  if (x->bits != y->bits)
    return (x->bits > y->bits) - (x->bits < y->bits);
  if (x->may_unwind != y->may_unwind)
    return x->may_unwind - y->may_unwind;
  return (x->index > y->index) - (x->index < y->index);
}

/* The function that is called by name, if another one can call it in the same way; else NULL. */
static LLVMValueRef shareable_callee(LLVMValueRef call) {
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  if (!callee)
    return NULL;
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  unsigned convention = LLVMGetInstructionCallConv(call), twice = LLVMGetEnumAttributeKindForName("returns_twice", 13);
  bool is_same = type == LLVMGetCalledFunctionType(call) && convention == LLVMGetFunctionCallConv(callee) &&
                 (convention == LLVMCCallConv || convention == LLVMFastCallConv);
  bool returns_twice = LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, twice) ||
                       LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, twice);
  return is_same && !LLVMIsFunctionVarArg(type) && !returns_twice ? callee : NULL;
}

/* Attributes that code of the caller relies on: the width of registers, and that stacks can be followed. */
static void copy_target(LLVMValueRef from, LLVMValueRef to) {
  static const char *const names[] = {"target-cpu", "target-features", "tune-cpu", "frame-pointer"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    LLVMAttributeRef attribute =
        LLVMGetStringAttributeAtIndex(from, LLVMAttributeFunctionIndex, names[i], (unsigned)strlen(names[i]));
    if (attribute)
      LLVMAddAttributeAtIndex(to, LLVMAttributeFunctionIndex, attribute);
  }
}

/* Makes the function; returns its call. */
static hearth_decision_call make_shared(const hearth_decision_call *first) {
  char name[512];
  size_t length;
  LLVMValueRef call, callee = LLVMGetCalledValue(first->call);
  snprintf(name, sizeof name, PREFIX "%s", LLVMGetValueName2(callee, &length));
  LLVMValueRef function = hearth_shim_make_forwarder(callee, name, &call);
  hearth_shim_make_support_function(function);
  copy_target(hearth_ir_function_of(first->call), function);
  if (!hearth_may_unwind(first->call))
    hearth_add_attribute(function, LLVMAttributeFunctionIndex, "nounwind", 0);
  return (hearth_decision_call){call, first->bits, first->is_alone, false};
}

/* Sets `first` of each call that is to share: the index of the first one of its group. */
static void find_groups(hearth_decision_call *calls, size_t count, sharing *items, size_t *first) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    LLVMValueRef callee = calls[i].may_jump ? NULL : shareable_callee(calls[i].call);
    first[i] = SIZE_MAX;
    if (callee)
      items[n++] = (sharing){callee, calls[i].bits, hearth_may_unwind(calls[i].call), i};
  }
  qsort(items, n, sizeof *items, compare_sharing);
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i; end < n && share(&items[i], &items[end]); end++)
      ;
    for (size_t k = i; end - i >= SHARED_MIN && k < end; k++)
      first[items[k].index] = items[i].index;
  }
}

/* In the order of the first calls, so that equal modules stay equal. `shared` is at the index of the first call of each
 * group. */
static size_t redirect(hearth_decision_call *calls, size_t count, const size_t *first, hearth_decision_call *shared) {
  size_t kept = 0, groups = 0;
  for (size_t i = 0; i < count; i++) {
    if (first[i] == SIZE_MAX) {
      calls[kept++] = calls[i];
      continue;
    }
    if (first[i] == i)
      shared[i] = make_shared(&calls[i]);
    hearth_ir_call_set_callee(calls[i].call, hearth_ir_function_of(shared[first[i]].call));
  }
  for (size_t i = 0; i < count; i++)
    if (first[i] == i)
      calls[kept + groups++] = shared[i];
  return kept + groups;
}

size_t hearth_share_decision_calls(hearth_decision_call *calls, size_t count) {
  sharing *items = malloc((count + 1) * sizeof *items);
  size_t *first = malloc((count + 1) * sizeof *first);
  hearth_decision_call *shared = malloc((count + 1) * sizeof *shared);
  if (items && first && shared) { /* else as good, and larger */
    find_groups(calls, count, items, first);
    count = redirect(calls, count, first, shared);
  }
  free(items);
  free(first);
  free(shared);
  return count;
}
