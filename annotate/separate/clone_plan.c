/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A greedy knapsack: again and again the candidate of most cold bytes for each added instruction that the budget still
 * affords. Functions that several candidates need are paid once. */
#include "clone_plan.h"

#include <stdlib.h>
#include <string.h>

#include "alloc_functions.h"
#include "array.h"
#include "compare.h"
#include "hearth/ir_facts.h"
#include "search.h"

/* A call: the id of its innermost frame, the function that it is in, and the ids of all frames. */
typedef struct caller {
  uint64_t id;
  size_t function;
  size_t first_frame, n_frames; /* in the plan's frames */
} caller;

typedef struct planning {
  hearth_clone_plan *plan;
  hearth_session *session;
  size_t function; /* that is being looked at */
  uint64_t *ids;   /* of all callers in candidates' contexts; sorted and distinct once all are known */
  size_t n_ids, ids_capacity;
  caller *callers; /* sorted in the end */
  size_t n_callers, callers_capacity;
  uint64_t *frames; /* of all callers */
  size_t n_frames, frames_capacity;
  size_t candidates_capacity;
  bool failed; /* out of memory */
} planning;

static int compare_callers(const void *a, const void *b) {
  const caller *x = a, *y = b;
  return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : (x->function > y->function) - (x->function < y->function);
}

static int compare_indexes(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

static bool is_wanted(const planning *p, uint64_t id) {
  return p->n_ids && bsearch(&id, p->ids, p->n_ids, sizeof id, hearth_compare_u64);
}

static bool same_stack(const hearth_md_mib *a, const hearth_md_mib *b) {
  return a->depth == b->depth && (!a->depth || memcmp(a->stack, b->stack, a->depth * sizeof *a->stack) == 0);
}

/* Has a neighbour of another class the same stack? Contexts are cut off at a recursion, and stand together then. */
static bool is_cut_off(const hearth_md_mibs *all, size_t i) {
  return (i > 0 && same_stack(&all->mibs[i - 1], &all->mibs[i])) ||
         (i + 1 < all->count && same_stack(&all->mibs[i + 1], &all->mibs[i]));
}

/* Bytes of cold contexts that callers tell from others, at least 1 if there is one; 0 if there are no others. */
static uint64_t separable_cold_bytes(const hearth_md_mibs *all) {
  uint64_t cold_bytes = 0;
  size_t cold = 0, separable = 0;
  for (size_t i = 0; i < all->count; i++)
    if (all->mibs[i].hotness == HEARTH_CLASS_COLD) {
      cold++;
      if (is_cut_off(all, i))
        continue;
      separable++;
      cold_bytes += hearth_md_mib_bytes(&all->mibs[i]);
    }
  return separable && cold < all->count ? cold_bytes + !cold_bytes : 0;
}

static void want_ids(planning *p, const hearth_md_mib *mib) {
  for (size_t i = 0; i < mib->depth; i++) {
    if (!mib->stack[i])
      continue;
    if (hearth_array_grow(&p->ids, &p->ids_capacity, p->n_ids, sizeof *p->ids))
      p->ids[p->n_ids++] = mib->stack[i];
    else
      p->failed = true;
  }
}

static void add_candidate(LLVMValueRef call, void *data) {
  planning *p = data;
  hearth_md_mibs all;
  if (!hearth_alloc_function_of(call) || hearth_md_get_callsite(p->session->md, call, NULL, 0) == 0 ||
      !hearth_md_get_mibs(p->session->md, call, &all))
    return;
  uint64_t cold_bytes = separable_cold_bytes(&all);
  if (cold_bytes) {
    hearth_clone_plan *plan = p->plan;
    if (hearth_array_grow(&plan->candidates, &p->candidates_capacity, plan->n_candidates, sizeof *plan->candidates))
      plan->candidates[plan->n_candidates++] = (hearth_clone_candidate){.call = call, .cold_bytes = cold_bytes};
    else
      p->failed = true;
    for (size_t i = 0; i < all.count; i++)
      want_ids(p, &all.mibs[i]);
  }
  hearth_md_mibs_free(&all);
}

/* Passes that rebuild calls drop `!callsite`, and so does LLVM 22 at the start of a link. */
static void restore_callsite(planning *p, LLVMValueRef call) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  uint64_t ids[HEARTH_CHAIN_MAX];
  if (hearth_md_get_callsite(p->session->md, call, NULL, 0) || !hearth_session_ids_are_ours(p->session))
    return;
  size_t n = hearth_locate(p->session->locator, call, chain);
  if (n == 0 || !is_wanted(p, chain[0].id))
    return;
  for (size_t i = 0; i < n; i++)
    ids[i] = chain[i].id;
  hearth_md_set_callsite(p->session->md, call, ids, n);
}

static void add_caller(planning *p, LLVMValueRef call) {
  uint64_t ids[HEARTH_CHAIN_MAX];
  size_t n = hearth_md_get_callsite(p->session->md, call, ids, HEARTH_CHAIN_MAX);
  if (n == 0 || n > HEARTH_CHAIN_MAX || !is_wanted(p, ids[0]))
    return;
  bool ok = hearth_array_grow(&p->callers, &p->callers_capacity, p->n_callers, sizeof *p->callers);
  for (size_t i = 0; ok && i < n; i++) {
    ok = hearth_array_grow(&p->frames, &p->frames_capacity, p->n_frames + i, sizeof *p->frames);
    if (ok)
      p->frames[p->n_frames + i] = ids[i];
  }
  p->failed |= !ok;
  if (ok)
    p->callers[p->n_callers++] = (caller){ids[0], p->function, p->n_frames, n};
  p->n_frames += n;
}

/* A call that cloning must not know as a caller. LLVM's pass gives a call the clone's type, which attributes of the call's own
 * may not fit (of undeclared and variadic functions). */
static bool is_no_caller(LLVMValueRef call) {
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(call));
  if (!callee)
    return !hearth_ir_cloning_copes_with_pointers();
  bool is_other_type = LLVMGlobalGetValueType(callee) != LLVMGetCalledFunctionType(call);
  return is_other_type || (!LLVMIsDeclaration(callee) && !hearth_ir_is_clonable(callee));
}

static void scan_instruction(planning *p, LLVMValueRef instruction) {
  if (!hearth_ir_is_call(instruction) || hearth_alloc_function_of(instruction))
    return;
  if (is_no_caller(instruction)) {
    LLVMContextRef context = LLVMGetModuleContext(p->session->module);
    LLVMSetMetadata(instruction, LLVMGetMDKindIDInContext(context, "callsite", strlen("callsite")), NULL);
    return;
  }
  restore_callsite(p, instruction);
  add_caller(p, instruction);
}

static void scan_functions(planning *p) {
  LLVMValueRef function = LLVMGetFirstFunction(p->session->module);
  for (p->function = 0; function; function = LLVMGetNextFunction(function), p->function++) {
    p->plan->functions[p->function].clonable = hearth_ir_is_clonable(function);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
      for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        p->plan->functions[p->function].size++;
        scan_instruction(p, i);
      }
  }
  if (p->n_callers)
    qsort(p->callers, p->n_callers, sizeof *p->callers, compare_callers);
}

static bool add_function(hearth_clone_candidate *candidate, size_t *capacity, size_t function) {
  if (!hearth_array_grow(&candidate->functions, capacity, candidate->n_functions, sizeof *candidate->functions))
    return false;
  candidate->functions[candidate->n_functions++] = function;
  return true;
}

/* Functions through which callers [from ...) of the context reach the allocation. The outermost only calls another function
 * than before; so does one that the rest of the context is inlined into. */
static bool add_functions_of(planning *p, hearth_clone_candidate *candidate, size_t *capacity, const hearth_md_mib *mib,
                             size_t from) {
  const caller first = {.id = from < mib->depth ? mib->stack[from] : 0};
  size_t i =
      first.id ? hearth_lower_bound(&first, p->callers, p->n_callers, sizeof first, compare_callers) : p->n_callers;
  for (; i < p->n_callers && p->callers[i].id == first.id; i++) {
    const caller *call = &p->callers[i];
    if (from + call->n_frames < mib->depth &&
        hearth_md_callers_agree(mib, from, p->frames + call->first_frame, call->n_frames) &&
        (!add_function(candidate, capacity, call->function) ||
         !add_functions_of(p, candidate, capacity, mib, from + call->n_frames)))
      return false;
  }
  return true;
}

static size_t index_of(LLVMModuleRef module, LLVMValueRef wanted) {
  size_t index = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f && f != wanted; f = LLVMGetNextFunction(f))
    index++;
  return index;
}

static bool find_functions(planning *p, hearth_clone_candidate *candidate) {
  hearth_md_mibs all;
  size_t capacity = 0, inlined = hearth_md_get_callsite(p->session->md, candidate->call, NULL, 0) - 1;
  bool ok = add_function(candidate, &capacity, index_of(p->session->module, hearth_ir_function_of(candidate->call)));
  if (!ok || !hearth_md_get_mibs(p->session->md, candidate->call, &all))
    return false;
  for (size_t i = 0; ok && i < all.count; i++)
    ok = add_functions_of(p, candidate, &capacity, &all.mibs[i], inlined);
  hearth_md_mibs_free(&all);
  qsort(candidate->functions, candidate->n_functions, sizeof *candidate->functions, compare_indexes);
  size_t kept = 0;
  for (size_t i = 0; i < candidate->n_functions; i++)
    if (!kept || candidate->functions[kept - 1] != candidate->functions[i])
      candidate->functions[kept++] = candidate->functions[i];
  candidate->n_functions = kept;
  for (size_t i = 0; i < kept; i++)
    candidate->unclonable |= !p->plan->functions[candidate->functions[i]].clonable;
  return ok;
}

/* Instructions that it would add to those of the candidates chosen so far. */
static size_t cost_of(const hearth_clone_plan *plan, const hearth_clone_candidate *candidate) {
  size_t cost = 0;
  for (size_t i = 0; i < candidate->n_functions; i++)
    if (!plan->functions[candidate->functions[i]].paid)
      cost += plan->functions[candidate->functions[i]].size;
  return cost;
}

/* The one of most cold bytes for an instruction that is affordable, or NULL. */
static hearth_clone_candidate *best(const hearth_clone_plan *plan, size_t budget) {
  hearth_clone_candidate *found = NULL;
  double found_gain = 0;
  for (size_t i = 0; i < plan->n_candidates; i++) {
    hearth_clone_candidate *candidate = &plan->candidates[i];
    size_t cost = candidate->chosen ? 0 : cost_of(plan, candidate);
    double gain = (double)candidate->cold_bytes / (double)(cost + 1);
    if (!candidate->chosen && !candidate->unclonable && cost <= budget && gain > found_gain) {
      found = candidate;
      found_gain = gain;
    }
  }
  return found;
}

static void choose(hearth_clone_plan *plan, unsigned percent) {
  size_t total = 0;
  for (size_t i = 0; i < plan->n_functions; i++)
    total += plan->functions[i].size;
  size_t budget = total / 100 * percent;
  if (budget < HEARTH_CLONE_ALWAYS)
    budget = HEARTH_CLONE_ALWAYS;
  plan->budget = budget;
  for (hearth_clone_candidate *next; (next = best(plan, budget)); plan->n_chosen++) {
    budget -= cost_of(plan, next);
    next->chosen = true;
    for (size_t i = 0; i < next->n_functions; i++)
      plan->functions[next->functions[i]].paid = true;
  }
}

bool hearth_clone_plan_make(hearth_clone_plan *plan, hearth_session *session, unsigned budget) {
  planning p = {.plan = plan, .session = session};
  memset(plan, 0, sizeof *plan);
  hearth_ir_for_each_instruction(session->module, add_candidate, &p);
  if (plan->n_candidates && !p.failed) {
    p.n_ids = hearth_sort_distinct_u64(p.ids, p.n_ids);
    plan->n_functions = index_of(session->module, NULL);
    plan->functions = calloc(plan->n_functions, sizeof *plan->functions);
    p.failed = !plan->functions;
    if (plan->functions)
      scan_functions(&p);
    for (size_t i = 0; i < plan->n_candidates && !p.failed; i++)
      p.failed = !find_functions(&p, &plan->candidates[i]);
    if (!p.failed)
      choose(plan, budget);
  }
  free(p.ids);
  free(p.callers);
  free(p.frames);
  return !p.failed;
}

void hearth_clone_plan_free(hearth_clone_plan *plan) {
  for (size_t i = 0; i < plan->n_candidates; i++)
    free(plan->candidates[i].functions);
  free(plan->candidates);
  free(plan->functions);
}
