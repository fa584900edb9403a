/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matches each allocation call again, where inlining has put it. Without a profile, or where it does not know the call,
 * the metadata that the call carries are narrowed by the ids of its debug location. */
#include "hearth/ir_facts.h"
#include "match.h"
#include "shim.h"

typedef struct pruning {
  hearth_session session;
  hearth_edits edits; /* from the profile */
  hearth_error err;
  bool changed; /* from the metadata */
} pruning;

/* The ids of the frames a call lies in. Its debug location is the truth; but ids that are not hashes of it (those of
 * hand-written IR, or of another scheme) only exist in `!callsite`, which LLVM's inliner maintains from LLVM 15 on. */
static size_t callsite_ids(hearth_session *session, LLVMValueRef call, uint64_t ids[HEARTH_CHAIN_MAX]) {
  hearth_location chain[HEARTH_CHAIN_MAX];
  size_t n = hearth_locate(session->locator, call, chain);
  size_t carried = hearth_md_get_callsite(session->md, call, ids, HEARTH_CHAIN_MAX);
  if (!hearth_session_ids_are_ours(session))
    n = 0;
  for (size_t leaf = 0; leaf < n; leaf++) {
    if (carried && (!chain[leaf].id || chain[leaf].id != ids[0]))
      continue; /* annotation may have passed over inner frames */
    for (size_t i = leaf; i < n; i++)
      ids[i - leaf] = chain[i].id;
    return n - leaf;
  }
  return carried < HEARTH_CHAIN_MAX ? carried : HEARTH_CHAIN_MAX;
}

/* The end of the pipeline is where an allocation call without contexts is known to stay without. */
static void report_unmatched(LLVMValueRef call) {
  if (hearth_ir_instruction_location(call))
    hearth_shim_remark(call, true, "NotInProfile",
                       "allocation call without hint: its place is not in the heap profile");
  else
    hearth_shim_remark(call, true, "NoLocation",
                       "allocation call without hint: it has no debug location (compile with -gmlt "
                       "-fdebug-info-for-profiling)");
}

/* By the metadata alone. False if the call has no contexts; its `!callsite`, if it has one, is then lengthened by the
 * frames it was inlined into since, as LLVM's inliner does from LLVM 15 on. */
static bool prune_by_metadata(pruning *p, LLVMValueRef call) {
  uint64_t ids[HEARTH_CHAIN_MAX];
  if (!hearth_md_has_any(p->session.md, call))
    return false;
  size_t n = callsite_ids(&p->session, call, ids);
  size_t carried = hearth_md_get_callsite(p->session.md, call, NULL, 0);
  bool pruned = hearth_md_prune(p->session.md, call, ids, n);
  bool longer = !pruned && carried && n > carried;
  if (longer)
    hearth_md_set_callsite(p->session.md, call, ids, n);
  p->changed |= pruned || longer;
  return pruned;
}

/* LLVM's class of a call stays: the profile does not know what contexts are left to a clone. Before a link there are
 * none; only the inliner resolves calls, and it calls those notcold, too, whose contexts of one stack differ: there
 * the profile knows better. */
static bool keeps_class(pruning *p, LLVMValueRef call) {
  hearth_class resolved = hearth_md_get_resolved_class(p->session.md, call);
  bool by_inliner = resolved == HEARTH_CLASS_NOTCOLD && p->session.options->lto_phase != HEARTH_LTO_POSTLINK;
  return resolved != HEARTH_CLASS_UNKNOWN && !by_inliner;
}

/* Prune an allocation call: by the profile, which also knows calls that came without metadata, else by the metadata.
 * E_NOT_FOUND: it has no contexts. */
static hearth_status prune_allocation(pruning *p, LLVMValueRef call) {
  hearth_status status = HEARTH_E_NOT_FOUND;
  if (p->session.matcher && !keeps_class(p, call))
    status = hearth_session_match_allocation(&p->session, call, &p->edits, &p->err);
  return status == HEARTH_E_NOT_FOUND && prune_by_metadata(p, call) ? HEARTH_OK : status;
}

static void prune_visit(LLVMValueRef instruction, void *data) {
  pruning *p = data;
  if (p->err.status != HEARTH_OK || !hearth_ir_is_call(instruction))
    return;
  if (!hearth_alloc_function_of(instruction)) {
    prune_by_metadata(p, instruction); /* it may have been lowered before it was inlined */
    return;
  }
  hearth_status status = prune_allocation(p, instruction);
  if (status != HEARTH_OK && status != HEARTH_E_NOT_FOUND)
    p->err.status = status;
  else if (status != HEARTH_OK && p->session.matcher)
    report_unmatched(instruction);
}

bool hearth_pass_prune(LLVMModuleRef module, const hearth_pass_options *options) {
  pruning p = {.err = {HEARTH_OK, ""}};
  if (hearth_session_open(&p.session, module, options)) {
    hearth_ir_for_each_instruction(module, prune_visit, &p);
    if (p.err.status == HEARTH_OK)
      p.changed |= hearth_session_apply(&p.session, &p.edits);
    else
      hearth_session_fail(&p.session, &p.err);
  }
  hearth_edits_free(&p.edits);
  hearth_session_close(&p.session);
  return p.changed;
}
