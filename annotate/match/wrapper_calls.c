/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Marks frames of the listed functions, finds for each stack the nearest such frame outwards by one walk from callers
 * to callees, and lists the calls by frame for binary search. */
#include "match.h"

#include <stdlib.h>
#include <string.h>

#include "alloc_functions.h"
#include "array.h"
#include "hearth/ids.h"
#include "hearth/ir_facts.h"
#include "shim.h"

typedef struct search {
  hearth_wrapper_calls *calls;
  hearth_profile *profile;
  bool *is_wrapper;  /* by row of frames: the frame is in a wrapper */
  uint32_t *nearest; /* by node: the first one in a wrapper from there outwards, or HEARTH_NONE */
  hearth_error *err;
} search;

static int wrapper_call_by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_listed(const hearth_function_info *function, bool llvm_ids, const char *const *names, size_t n) {
  bool is_stripped = hearth_is_stripped_name(function->name);
  if (!llvm_ids && !is_stripped)
    return bsearch(&function->name, names, n, sizeof *names, wrapper_call_by_name) != NULL;
  uint64_t id = llvm_ids ? function->id : hearth_llvm_id_of_name(function->name);
  for (size_t i = 0; i < n; i++)
    if (hearth_llvm_function_id(names[i], strlen(names[i])) == id)
      return true;
  return false;
}

/* Mark the frames of all functions with these names; several files may have one. */
static hearth_status mark_wrappers(search *s, const char *const *names, size_t n) {
  hearth_profile_summary summary;
  HEARTH_TRY(hearth_profile_get_summary(s->profile, &summary, s->err));
  for (uint32_t row = 0, end = hearth_profile_function_count(s->profile); row < end; row++) {
    hearth_function_info function;
    HEARTH_TRY(hearth_profile_get_function(s->profile, row, &function, s->err));
    if (is_listed(&function, summary.id_scheme == HEARTH_IDS_LLVM, names, n))
      memset(s->is_wrapper + function.first_frame, true, function.frame_count);
  }
  return HEARTH_OK;
}

/* Callers are lower than callees: each node finds its caller's answer. */
static hearth_status find_nearest(search *s) {
  for (uint32_t node = 0, end = hearth_profile_stack_count(s->profile); node < end; node++) {
    uint32_t frame, caller;
    HEARTH_TRY(hearth_profile_get_stack(s->profile, node, &frame, &caller, s->err));
    s->nearest[node] = s->is_wrapper[frame] ? node : caller == HEARTH_NONE ? HEARTH_NONE : s->nearest[caller];
  }
  return HEARTH_OK;
}

static hearth_status wrapper_call_add_call(search *s, hearth_wrapper_call call) {
  hearth_wrapper_calls *calls = s->calls;
  if (!hearth_array_grow(&calls->items, &calls->room, calls->count, sizeof *calls->items))
    return hearth_error_nomem(s->err);
  calls->items[calls->count++] = call;
  return HEARTH_OK;
}

/* All calls of wrappers in one context: a wrapper may call another one. */
static hearth_status search_context(search *s, uint32_t context) {
  uint32_t node, frame, caller, next;
  HEARTH_TRY(hearth_profile_get_context(s->profile, context, &node, NULL, s->err));
  for (uint32_t wrapper = s->nearest[node]; wrapper != HEARTH_NONE; wrapper = s->nearest[caller]) {
    HEARTH_TRY(hearth_profile_get_stack(s->profile, wrapper, &frame, &caller, s->err));
    if (caller == HEARTH_NONE)
      break;
    HEARTH_TRY(hearth_profile_get_stack(s->profile, caller, &frame, &next, s->err));
    HEARTH_TRY(wrapper_call_add_call(s, (hearth_wrapper_call){.frame = frame, .context = context, .node = caller}));
  }
  return HEARTH_OK;
}

static int by_frame(const void *a, const void *b) {
  const hearth_wrapper_call *x = a, *y = b;
  return x->frame != y->frame ? (x->frame > y->frame) - (x->frame < y->frame)
                              : (x->context > y->context) - (x->context < y->context);
}

static hearth_status search_all(search *s, const char *const *names, size_t n) {
  HEARTH_TRY(mark_wrappers(s, names, n));
  HEARTH_TRY(find_nearest(s));
  for (uint32_t row = 0, end = hearth_profile_context_count(s->profile); row < end; row++)
    HEARTH_TRY(search_context(s, row));
  if (s->calls->count)
    qsort(s->calls->items, s->calls->count, sizeof *s->calls->items, by_frame);
  s->calls->known = true;
  return HEARTH_OK;
}

hearth_status hearth_wrapper_calls_find(hearth_wrapper_calls *calls, hearth_profile *profile, const char *const *names,
                                        size_t n, hearth_error *err) {
  search s = {.calls = calls, .profile = profile, .err = err};
  const char **sorted = malloc((n + 1) * sizeof *sorted);
  s.is_wrapper = calloc((size_t)hearth_profile_frame_count(profile) + 1, sizeof *s.is_wrapper);
  s.nearest = calloc((size_t)hearth_profile_stack_count(profile) + 1, sizeof *s.nearest);
  hearth_status status = HEARTH_OK;
  if (!sorted || !s.is_wrapper || !s.nearest) {
    status = hearth_error_nomem(err);
  } else {
    memcpy(sorted, names, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, wrapper_call_by_name);
    status = search_all(&s, sorted, n);
  }
  free(sorted);
  free(s.is_wrapper);
  free(s.nearest);
  return status;
}

void hearth_wrapper_calls_free(hearth_wrapper_calls *calls) {
  free(calls->items);
  memset(calls, 0, sizeof *calls);
}

size_t hearth_wrapper_calls_from(const hearth_wrapper_calls *calls, uint32_t frame) {
  const hearth_wrapper_call first = {.frame = frame};
  return hearth_lower_bound(&first, calls->items, calls->count, sizeof first, by_frame);
}

/* ------------------------------------------------ pointer calls ------------------------------------------------ */

/* A table from types to functions. The call that is left for other functions is marked, so that it is promoted once. */

#define PROMOTED "hearth-promoted"

/* The function that is called through pointers, of several with the same type. */
static const struct {
  const char *name, *signature;
} functions[] = {{"malloc", "pz"}, {"calloc", "pzz"}, {"realloc", "ppz"}};

bool hearth_is_pointer_call(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  return !LLVMIsAConstant(callee) && !LLVMIsAInlineAsm(callee) &&
         !LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, PROMOTED, strlen(PROMOTED));
}

static const char *function_of_type(LLVMTypeRef type) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (hearth_has_signature(type, functions[i].signature))
      return functions[i].name;
  return NULL;
}

/* Is the name free, or that of a declaration of the type? */
static bool can_declare(LLVMModuleRef module, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  if (function)
    return LLVMIsDeclaration(function) && LLVMGlobalGetValueType(function) == type;
  return !LLVMGetNamedGlobal(module, name) && !LLVMGetNamedGlobalAlias(module, name, strlen(name));
}

const char *hearth_pointer_callee(LLVMValueRef call, const char **ret_why) {
  LLVMTypeRef type = LLVMGetCalledFunctionType(call);
  const char *name = function_of_type(type);
  *ret_why = NULL;
  if (!name)
    *ret_why = "its type is not that of malloc, calloc or realloc";
  else if (hearth_ir_call_is_musttail(call))
    *ret_why = "it is musttail";
  else if (!can_declare(LLVMGetGlobalParent(hearth_ir_function_of(call)), name, type))
    *ret_why = "the module defines the function that its type fits, or declares it with another type";
  return *ret_why ? NULL : name;
}

LLVMValueRef hearth_promote_pointer_call(LLVMValueRef call) {
  const char *why, *name = hearth_pointer_callee(call, &why);
  LLVMModuleRef module = LLVMGetGlobalParent(hearth_ir_function_of(call));
  LLVMValueRef function = LLVMGetNamedFunction(module, name);
  if (!function)
    function = LLVMAddFunction(module, name, LLVMGetCalledFunctionType(call));
  LLVMValueRef direct = hearth_shim_promote_call(call, function);
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                           LLVMCreateStringAttribute(LLVMGetModuleContext(module), PROMOTED, strlen(PROMOTED), "", 0));
  return direct;
}
