/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Depth first from the allocation outwards through callers: a caller whose contexts are all cold calls the clone, one
 * whose contexts differ is split further, up to STEPS_MAX functions, within the budget. */
#include "cold_clones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "clones.h"
#include "hearth/ir_facts.h"
#include "shim.h"

#define STEPS_MAX 16 /* functions between the allocation and the caller that settles the class */

/* A function on the way from a caller to the allocation. */
typedef struct step {
  struct step *callee; /* the next one towards the allocation; NULL: this one has the allocation call */
  LLVMValueRef call;   /* in this function: of the callee's, or the allocation */
  size_t depth;        /* ids of the path down to and including this function's frames */
  LLVMValueRef cold;   /* its clone; NULL until it is needed */
  size_t steps;        /* with this one */
} step;

typedef struct splitting {
  hearth_session *session;
  hearth_md_mibs contexts;
  uint64_t path[HEARTH_MD_DEPTH_MAX]; /* ids from the allocation outwards */
  size_t *budget;
  bool any;
} splitting;

typedef struct call_list {
  LLVMValueRef *items;
  size_t count, capacity;
} call_list;

static size_t size_of(LLVMValueRef function) {
  size_t size = 0;
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
      size++;
  return size;
}

/* The instructions that the clones of a step and of those towards the allocation would add. */
static size_t cost_of(const step *s) {
  size_t cost = 0;
  for (; s && !s->cold; s = s->callee)
    cost += size_of(hearth_ir_function_of(s->call));
  return cost;
}

static bool make_clone(splitting *p, step *s) {
  char name[HEARTH_CLONE_NAME_MAX];
  unsigned number = 1;
  LLVMValueRef copy, function = hearth_ir_function_of(s->call);
  if (s->cold)
    return true;
  if (s->callee && !make_clone(p, s->callee))
    return false;
  while (hearth_clone_of(function, number))
    number++;
  size_t size = size_of(function);
  s->cold = hearth_clone_name(function, number, name) ? hearth_shim_clone(function, name, s->call, &copy) : NULL;
  if (!s->cold)
    return false;
  *p->budget -= size;
  p->any = true;
  if (s->callee)
    hearth_ir_call_set_callee(copy, s->callee->cold);
  else
    hearth_md_resolve(p->session->md, copy, HEARTH_CLASS_COLD);
  return true;
}

/* Appends the frames of a call of the step's function to the path; 0 if it cannot be told where that is. */
static size_t extend(splitting *p, const step *s, LLVMValueRef call) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  size_t n = hearth_locate(p->session->locator, call, chain);
  if (n == 0 || n > HEARTH_MD_DEPTH_MAX - s->depth)
    return 0;
  for (size_t i = 0; i < n; i++)
    p->path[s->depth + i] = chain[i].id;
  return s->depth + n;
}

typedef enum verdict { NOTHING_COLD, ALL_COLD, DIFFERENT, INSEPARABLE } verdict;

/* Of the contexts that agree with path[0..depth). Further callers tell only those apart that have further callers. */
static verdict judge(const splitting *p, size_t depth) {
  size_t cold = 0, others = 0;
  bool longer = false;
  for (size_t i = 0; depth && i < p->contexts.count; i++) {
    const hearth_md_mib *mib = &p->contexts.mibs[i];
    if (!hearth_md_is_possible(mib, p->path, depth, HEARTH_CLASS_UNKNOWN))
      continue;
    mib->hotness == HEARTH_CLASS_COLD ? cold++ : others++;
    longer |= mib->depth >= depth; /* the path begins with the call's own id */
  }
  if (cold == 0 || others == 0)
    return cold == 0 ? NOTHING_COLD : ALL_COLD;
  return longer ? DIFFERENT : INSEPARABLE;
}

static bool is_on_path(const step *s, LLVMValueRef function) {
  for (; s; s = s->callee)
    if (hearth_ir_function_of(s->call) == function || s->cold == function)
      return true;
  return false;
}

/* Direct calls; those through pointers reach the function itself. */
static void list_calls(LLVMValueRef function, call_list *ret) {
  for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAInstruction(user) || !hearth_ir_is_call(user) || LLVMGetCalledValue(user) != function)
      continue;
    if (!hearth_array_grow(&ret->items, &ret->capacity, ret->count, sizeof *ret->items))
      return; /* fewer are told apart */
    ret->items[ret->count++] = user;
  }
}

static void split(splitting *p, step *s);

static void part(splitting *p, step *s, LLVMValueRef call, verdict wanted) {
  size_t depth = extend(p, s, call);
  LLVMValueRef caller = hearth_ir_function_of(call);
  if (judge(p, depth) != wanted || is_on_path(s, caller))
    return;
  if (wanted == DIFFERENT && s->steps < STEPS_MAX) {
    step outer = {.callee = s, .call = call, .depth = depth, .steps = s->steps + 1};
    split(p, &outer);
  } else if (wanted == ALL_COLD && cost_of(s) <= *p->budget && make_clone(p, s)) {
    hearth_ir_call_set_callee(call, s->cold);
  }
}

/* Callers that are cold throughout come first: their calls are then copied as they are to be. */
static void split(splitting *p, step *s) {
  call_list calls = {0};
  LLVMValueRef function = hearth_ir_function_of(s->call);
  if (hearth_ir_is_clonable(function))
    list_calls(function, &calls);
  for (size_t i = 0; i < calls.count; i++)
    part(p, s, calls.items[i], ALL_COLD);
  for (size_t i = 0; i < calls.count; i++)
    if (LLVMGetCalledValue(calls.items[i]) == function)
      part(p, s, calls.items[i], DIFFERENT);
  free(calls.items);
}

bool hearth_cold_clones_make(hearth_session *session, LLVMValueRef call, size_t *budget) {
  splitting p = {.session = session, .budget = budget};
  step innermost = {.call = call, .steps = 1};
  innermost.depth = hearth_md_get_callsite(session->md, call, p.path, HEARTH_MD_DEPTH_MAX);
  if (innermost.depth == 0 || innermost.depth > HEARTH_MD_DEPTH_MAX ||
      !hearth_md_get_mibs(session->md, call, &p.contexts))
    return false;
  split(&p, &innermost);
  hearth_md_mibs_free(&p.contexts);
  return p.any;
}
