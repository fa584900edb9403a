/* What surrounds LLVM's context disambiguation, which clones functions so that each clone's allocation calls have
 * contexts of one class only. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <llvm-c/Comdat.h>

#include "alloc_functions.h"
#include "clone_plan.h"
#include "hearth/ir_facts.h"
#include "shim.h"

#define CLONE ".memprof." /* and a number, behind the name of the function that it is a clone of */

/* LLVM's pass sees the flat form only. */
static void hide(LLVMModuleRef module, LLVMValueRef call) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMSetMetadata(call, LLVMGetMDKindIDInContext(context, "memprof", strlen("memprof")), NULL);
}

/* The name of a clone ends with CLONE and a number. */
static bool is_clone(LLVMValueRef function) {
  size_t length;
  const char *name = LLVMGetValueName2(function, &length), *end = name + length, *digits = end;
  while (digits > name && isdigit((unsigned char)digits[-1]))
    digits--;
  size_t suffix = strlen(CLONE);
  return digits < end && (size_t)(digits - name) > suffix && memcmp(digits - suffix, CLONE, suffix) == 0;
}

/* Clones that other modules may call: those that LLVM planned for all modules of a thin link. */
static bool was_cloned_by_link(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (is_clone(f) && LLVMGetLinkage(f) != LLVMInternalLinkage)
      return true;
  return false;
}

/* Without the profile: calls were matched with it when they were pruned. */
static bool open_session(hearth_session *session, LLVMModuleRef module, const hearth_options *options) {
  hearth_options metadata_only = *options;
  metadata_only.profile = "";
  return hearth_session_open(session, module, &metadata_only);
}

bool hearth_pass_before_cloning(LLVMModuleRef module, const hearth_options *options) {
  hearth_session session;
  hearth_clone_plan plan = {0};
  if (!options->clone_budget || was_cloned_by_link(module))
    return false;
  bool worth_it = open_session(&session, module, options) &&
                  hearth_clone_plan_make(&plan, &session, options->clone_budget) && plan.n_chosen;
  for (size_t i = 0; worth_it && i < plan.n_candidates; i++)
    if (!plan.candidates[i].chosen) {
      hide(module, plan.candidates[i].call);
      hearth_shim_remark(plan.candidates[i].call, true, "NotCloned",
                         "contexts not told apart by cloning: that would enlarge the module beyond "
                         "-memprof-clone-budget");
    }
  hearth_clone_plan_free(&plan);
  hearth_session_close(&session);
  return worth_it;
}

/* Clone `number` (>= 1) of a function; NULL if there is none. */
static LLVMValueRef clone_of(LLVMValueRef function, unsigned number) {
  char name[512];
  int length = snprintf(name, sizeof name, "%s" CLONE "%u", LLVMGetValueName(function), number);
  return length < (int)sizeof name ? LLVMGetNamedFunction(LLVMGetGlobalParent(function), name) : NULL;
}

/* May the call at this place be one of `function`? A use that is no call may be any. */
static bool may_be_called_at(hearth_session *session, LLVMValueRef function, uint64_t id) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!hearth_ir_is_call(user) || LLVMGetCalledValue(user) != function ||
        hearth_locate(session->locator, user, chain) == 0 || chain[0].id == id)
      return true;
  }
  return false;
}

/* Is it known that contexts which go through a call at this place reach a clone of the function, and not itself? */
static bool goes_to_a_clone(hearth_session *session, LLVMValueRef function, uint64_t id) {
  LLVMValueRef clone;
  if (may_be_called_at(session, function, id))
    return false;
  for (unsigned i = 1; (clone = clone_of(function, i)); i++)
    if (may_be_called_at(session, clone, id))
      return true;
  return false;
}

/* What is not cold, LLVM calls notcold, be it hot, or ambiguous because callers are not in sight. */
static hearth_class class_of_rest(hearth_session *session, LLVMValueRef call, const hearth_md_mibs *all) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  LLVMValueRef function = hearth_ir_function_of(call);
  if (!is_clone(function) && !clone_of(function, 1))
    return HEARTH_CLASS_UNKNOWN;
  size_t n = hearth_locate(session->locator, call, chain);
  bool hot = n > 0;
  for (size_t i = 0; hot && i < all->count; i++) {
    const hearth_md_mib *mib = &all->mibs[i];
    bool apart =
        mib->hotness == HEARTH_CLASS_COLD && mib->depth >= n && goes_to_a_clone(session, function, mib->stack[n - 1]);
    hot = mib->hotness == HEARTH_CLASS_HOT || apart;
  }
  return hot ? HEARTH_CLASS_HOT : HEARTH_CLASS_NOTCOLD;
}

static void report_clone(LLVMValueRef call, hearth_class hint) {
  char message[400];
  LLVMValueRef function = hearth_ir_function_of(call);
  if (hint == HEARTH_CLASS_UNKNOWN || !is_clone(function))
    return;
  snprintf(message, sizeof message, "allocation call for %s contexts only, in the clone %.256s",
           hint == HEARTH_CLASS_COLD ? "cold" : "other than cold", LLVMGetValueName(function));
  hearth_shim_remark(call, false, "Cloned", message);
}

typedef struct settling {
  hearth_session session;
  bool changed;
} settling;

static void settle(LLVMValueRef call, void *data) {
  settling *s = data;
  hearth_md_mibs all;
  if (!hearth_alloc_function_of(call))
    return;
  hearth_class hint = hearth_md_get_settled_class(s->session.md, call);
  report_clone(call, hint);
  if (hint != HEARTH_CLASS_NOTCOLD || !hearth_md_get_mibs(s->session.md, call, &all))
    return;
  bool differ = false;
  for (size_t i = 1; i < all.count; i++)
    differ |= all.mibs[i].hotness != all.mibs[0].hotness;
  hearth_class rest = differ ? class_of_rest(&s->session, call, &all) : hint;
  if (rest != hint)
    hearth_md_settle(s->session.md, call, rest);
  s->changed |= rest != hint;
  hearth_md_mibs_free(&all);
}

/* Clones are this module's own. Under the name and in the group of the function that they were made of, another module's
 * clones for other contexts could take their place, or none. */
static void make_internal(LLVMValueRef function) {
  LLVMSetComdat(function, NULL);
  LLVMSetLinkage(function, LLVMInternalLinkage);
}

/* LLVM 19 makes clones for contexts whose callers are not in sight, too. True if one was removed: what it alone called
 * may be unused now. */
static bool remove_unused_clone(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (is_clone(f) && !LLVMIsDeclaration(f) && !LLVMGetFirstUse(f)) {
      LLVMDeleteFunction(f);
      return true;
    }
  return false;
}

bool hearth_pass_after_cloning(LLVMModuleRef module, const hearth_options *options) {
  bool changed = false;
  (void)options;
  while (remove_unused_clone(module))
    changed = true;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (is_clone(f) && !LLVMIsDeclaration(f)) {
      make_internal(f);
      changed = true;
    }
  return changed;
}

bool hearth_pass_settle(LLVMModuleRef module, const hearth_options *options) {
  settling s = {.changed = false};
  if (open_session(&s.session, module, options))
    hearth_ir_for_each_instruction(module, settle, &s);
  hearth_session_close(&s.session);
  return s.changed;
}
