/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Prepares and completes LLVM's context disambiguation in a link. LLVM's pass clones functions so that each
 * clone's allocation calls have contexts of one class only. */
#include <stdio.h>
#include <string.h>

#include <llvm-c/Comdat.h>

#include "alloc_functions.h"
#include "clone_plan.h"
#include "clones.h"
#include "hearth/ir_facts.h"
#include "renamed.h"
#include "shim.h"

/* LLVM's pass sees the flat form only. */
static void hide(LLVMModuleRef module, LLVMValueRef call) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMSetMetadata(call, LLVMGetMDKindIDInContext(context, "memprof", strlen("memprof")), NULL);
}

/* Clones that other modules may call: those that LLVM planned for all modules of a thin link. */
static bool was_cloned_by_link(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (hearth_is_clone(f) && LLVMGetLinkage(f) != LLVMInternalLinkage)
      return true;
  return false;
}

/* Without the profile: calls were matched with it when they were pruned. */
static bool open_session(hearth_session *session, LLVMModuleRef module, const hearth_pass_options *options) {
  hearth_pass_options metadata_only = *options;
  metadata_only.profile = "";
  return hearth_session_open(session, module, &metadata_only);
}

/* Do the frames of a call agree with callers [from ...) of the context? *ret is where those outside of them begin. */
static bool agrees(hearth_session *session, LLVMValueRef call, const hearth_md_mib *mib, size_t from, size_t *ret) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  uint64_t ids[HEARTH_CHAIN_MAX];
  size_t n = hearth_locate(session->locator, call, chain);
  for (size_t i = 0; i < n; i++)
    ids[i] = chain[i].id;
  *ret = n ? from + n : mib->depth;
  return hearth_md_callers_agree(mib, from, ids, n);
}

/* Can other modules call the function? Clones have the callers that they were made for. */
static bool has_callers_elsewhere(LLVMValueRef function) {
  return hearth_is_external(function) && !hearth_is_clone(function);
}

/* May callers [from ...) of the context reach the function, by this module's calls or, if asked for, by others? A use that is no
 * call may be any. */
static bool may_reach(hearth_session *session, const hearth_md_mib *mib, size_t from, LLVMValueRef function,
                      bool from_elsewhere) {
  size_t outside;
  if (from_elsewhere && has_callers_elsewhere(function))
    return true;
  for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAInstruction(user) || !hearth_ir_is_call(user) || LLVMGetCalledValue(user) != function)
      return true;
    if (agrees(session, user, mib, from, &outside) &&
        (outside >= mib->depth || may_reach(session, mib, outside, hearth_ir_function_of(user), from_elsewhere)))
      return true;
  }
  return false;
}

/* Is it known that the context reaches a clone of the function, and not itself? */
static bool goes_to_a_clone(hearth_session *session, const hearth_md_mib *mib, size_t from, LLVMValueRef function) {
  LLVMValueRef clone;
  if (may_reach(session, mib, from, function, false))
    return false;
  for (unsigned i = 1; (clone = hearth_clone_of(function, i)); i++)
    if (may_reach(session, mib, from, clone, false))
      return true;
  return false;
}

/* Can other contexts than cold ones be left at a call that LLVM resolved to cold? Its pass moves the contexts of one allocation
 * call at a time to a clone of a function; those of another that come the same way then find themselves in the clone (LLVM
 * 19), and some callers are not in sight. Where contexts part at these, LLVM 19 may give either the function itself. */
static bool may_have_others(hearth_session *session, LLVMValueRef call, const hearth_md_mibs *all) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  uint64_t ids[HEARTH_CHAIN_MAX];
  size_t n = hearth_locate(session->locator, call, chain);
  for (size_t i = 0; i < n; i++)
    ids[i] = chain[i].id;
  for (size_t i = 0; n > 0 && i < all->count; i++)
    if (all->mibs[i].hotness != HEARTH_CLASS_COLD && hearth_md_callers_agree(&all->mibs[i], 0, ids + 1, n - 1) &&
        may_reach(session, &all->mibs[i], n - 1, hearth_ir_function_of(call), true))
      return true;
  return false;
}

/* Is each call of the function one that some context goes through? Of a caller that the profile never saw nothing is known. */
static bool has_known_callers(hearth_session *session, const hearth_md_mibs *all, size_t from, LLVMValueRef function) {
  size_t outside;
  for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    bool is_known = !LLVMIsAInstruction(user) || !hearth_ir_is_call(user) || LLVMGetCalledValue(user) != function;
    for (size_t i = 0; i < all->count && !is_known; i++)
      is_known = from >= all->mibs[i].depth || agrees(session, user, &all->mibs[i], from, &outside);
    if (!is_known)
      return false;
  }
  return true;
}

/* What a call is resolved to. */
typedef struct resolution {
  hearth_class hotness;
  hearth_placement pool;
} resolution;

/* LLVM calls all other contexts notcold, whether they are hot, or ambiguous because callers are not in sight. */
static resolution resolution_of_rest(hearth_session *session, LLVMValueRef call, const hearth_md_mibs *all) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  LLVMValueRef function = hearth_ir_function_of(call);
  resolution open = {HEARTH_CLASS_NOTCOLD, hearth_md_common_pool(all->mibs, all->count)};
  if (!hearth_has_clones(function))
    return (resolution){HEARTH_CLASS_UNKNOWN, open.pool};
  if (open.pool)
    open.pool = HEARTH_MD_POOL_AMBIGUOUS;
  size_t n = hearth_locate(session->locator, call, chain);
  const hearth_md_mib *rest = NULL;
  for (size_t i = 0; n > 0 && i < all->count; i++) {
    const hearth_md_mib *mib = &all->mibs[i];
    bool cold = mib->hotness == HEARTH_CLASS_COLD;
    if (cold && mib->depth >= n && goes_to_a_clone(session, mib, n - 1, function))
      continue;
    if (cold || (rest && hearth_md_placement(mib) != hearth_md_placement(rest)))
      return open;
    rest = mib;
  }
  if (!rest || !has_known_callers(session, all, n - 1, function))
    return open;
  return (resolution){rest->hotness, rest->pool};
}

static void resolve_to(hearth_session *session, LLVMValueRef call, resolution to) {
  hearth_md_resolve(session->md, call, to.hotness);
  hearth_md_set_pool(session->md, call, to.pool);
}

/* ------------------------------------------------ before cloning ------------------------------------------------ */

static void report_not_cloned(const hearth_clone_candidate *candidate) {
  hearth_shim_remark(candidate->call, true, "NotCloned",
                     candidate->unclonable
                         ? "contexts not told apart by cloning: they share a function whose labels have addresses"
                         : "contexts not told apart by cloning: that would enlarge the module beyond "
                           "-memprof-clone-budget");
}

/* A module has one schema. */
static void follow_schema(hearth_md *md) {
  LLVMMetadataRef node = hearth_md_get_schema(md, 0);
  hearth_md_schema schema;
  if (node && !hearth_md_get_schema(md, 1) && hearth_md_schema_read(node, &schema))
    hearth_md_use_schema(md, &schema);
}

/* LLVM's pass leaves nothing of flat contexts, and what it did is checked with the chained ones. */
static void keep_contexts(hearth_session *session, LLVMValueRef call) {
  uint64_t ids[HEARTH_CHAIN_MAX];
  hearth_md_mibs all;
  unsigned chained =
      LLVMGetMDKindIDInContext(LLVMGetModuleContext(session->module), "memprof.mib", strlen("memprof.mib"));
  size_t n = hearth_md_get_callsite(session->md, call, ids, HEARTH_CHAIN_MAX);
  if (LLVMGetMetadata(call, chained) || n == 0 || n > HEARTH_CHAIN_MAX || !hearth_md_get_mibs(session->md, call, &all))
    return;
  hearth_placement pool = hearth_md_get_pool(call);
  follow_schema(session->md);
  hearth_md_attach(session->md, call, ids, n, all.mibs, all.count);
  hearth_md_set_pool(session->md, call, pool);
  hearth_md_mibs_free(&all);
}

bool hearth_pass_before_cloning(LLVMModuleRef module, const hearth_pass_options *options) {
  hearth_session session;
  hearth_clone_plan plan = {0};
  bool worth_it = false;
  if (!options->clone_budget || was_cloned_by_link(module))
    return false;
  bool ok = open_session(&session, module, options) && hearth_clone_plan_make(&plan, &session, options->clone_budget);
  for (size_t i = 0; ok && i < plan.n_candidates; i++) {
    const hearth_clone_candidate *candidate = &plan.candidates[i];
    if (candidate->chosen) {
      keep_contexts(&session, candidate->call);
      worth_it = true;
    } else if (plan.n_chosen) {
      report_not_cloned(candidate);
      hide(module, candidate->call);
    }
  }
  hearth_clone_plan_free(&plan);
  hearth_session_close(&session);
  return worth_it;
}

/* ------------------------------------------------ after cloning ------------------------------------------------- */

static void report_clone(LLVMValueRef call, hearth_class hint) {
  char message[400];
  LLVMValueRef function = hearth_ir_function_of(call);
  if (hint == HEARTH_CLASS_UNKNOWN || !hearth_is_clone(function))
    return;
  snprintf(message, sizeof message, "allocation call for %s contexts only, in the clone %.256s",
           hint == HEARTH_CLASS_COLD ? "cold" : "other than cold", LLVMGetValueName(function));
  hearth_shim_remark(call, false, "Cloned", message);
}

typedef struct resolving {
  hearth_session session;
  bool by_link; /* LLVM resolved the calls that have no contexts, too */
  bool changed;
} resolving;

/* LLVM also calls notcold what it found no clone for, and pools are those of contexts that are not cold. */
static resolution without_contexts(const resolving *s, resolution now) {
  bool is_open = s->by_link && now.hotness == HEARTH_CLASS_NOTCOLD && now.pool;
  return (resolution){now.hotness, is_open ? (hearth_placement)HEARTH_MD_POOL_AMBIGUOUS : now.pool};
}

/* What LLVM resolved the call to, as far as its contexts bear that out. */
static resolution corrected(resolving *s, LLVMValueRef call, resolution now) {
  hearth_session *session = &s->session;
  hearth_md_mibs all;
  resolution ret = now;
  bool differ = false;
  if (now.hotness == HEARTH_CLASS_UNKNOWN)
    return now;
  if (!hearth_md_get_mibs(session->md, call, &all))
    return without_contexts(s, now);
  for (size_t i = 1; i < all.count; i++)
    differ |= hearth_md_placement(&all.mibs[i]) != hearth_md_placement(&all.mibs[0]);
  if (differ && now.hotness == HEARTH_CLASS_NOTCOLD)
    ret = resolution_of_rest(session, call, &all);
  if (differ && now.hotness == HEARTH_CLASS_COLD && may_have_others(session, call, &all))
    ret.hotness = HEARTH_CLASS_UNKNOWN;
  hearth_md_mibs_free(&all);
  return ret;
}

static void resolve(LLVMValueRef call, void *data) {
  resolving *s = data;
  if (!hearth_alloc_function_of(call))
    return;
  resolution now = {hearth_md_get_resolved_class(s->session.md, call), hearth_md_get_pool(call)};
  resolution right = corrected(s, call, now);
  report_clone(call, right.hotness == HEARTH_CLASS_UNKNOWN ? right.hotness : now.hotness);
  if (right.hotness == now.hotness && right.pool == now.pool)
    return;
  resolve_to(&s->session, call, right);
  s->changed = true;
}

/* Clones are this module's own. Under the name and in the group of the function that they were made of, another module's
 * clones for other contexts could take their place, or none. */
static void make_internal(LLVMValueRef function) {
  LLVMSetComdat(function, NULL);
  LLVMSetLinkage(function, LLVMInternalLinkage);
}

/* LLVM 19 makes clones for contexts whose callers are not in sight, too. True if one was removed: functions that it
 * alone called may be unused now. */
static bool remove_unused_clone(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (hearth_is_clone(f) && !LLVMIsDeclaration(f) && !LLVMGetFirstUse(f)) {
      LLVMDeleteFunction(f);
      return true;
    }
  return false;
}

bool hearth_pass_after_cloning(LLVMModuleRef module, const hearth_pass_options *options) {
  bool changed = false;
  (void)options;
  while (remove_unused_clone(module))
    changed = true;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (hearth_is_clone(f) && !LLVMIsDeclaration(f)) {
      make_internal(f);
      changed = true;
    }
  return changed;
}

bool hearth_pass_resolve(LLVMModuleRef module, const hearth_pass_options *options, bool by_link) {
  resolving s = {.by_link = by_link};
  if (open_session(&s.session, module, options))
    hearth_ir_for_each_instruction(module, resolve, &s);
  hearth_session_close(&s.session);
  return s.changed;
}
