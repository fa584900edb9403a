#include "alloc_functions.h"
#include "session.h"

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
  for (size_t leaf = 0; leaf < n; leaf++) {
    if (carried && (!chain[leaf].id || chain[leaf].id != ids[0]))
      continue; /* annotation may have passed over inner frames */
    for (size_t i = leaf; i < n; i++)
      ids[i - leaf] = chain[i].id;
    return n - leaf;
  }
  return carried < HEARTH_CHAIN_MAX ? carried : HEARTH_CHAIN_MAX;
}

static void visit(LLVMValueRef instruction, void *data) {
  pruning *p = data;
  if (p->err.status != HEARTH_OK || !hearth_alloc_function_of(instruction))
    return;
  hearth_status status = HEARTH_E_NOT_FOUND;
  if (p->session.matcher.profile)
    status = hearth_session_match_allocation(&p->session, instruction, &p->edits, &p->err);
  if (status == HEARTH_E_NOT_FOUND) {
    uint64_t ids[HEARTH_CHAIN_MAX];
    p->changed |= hearth_md_prune(p->session.md, instruction, ids, callsite_ids(&p->session, instruction, ids));
  } else {
    p->err.status = status;
  }
}

bool hearth_pass_prune(LLVMModuleRef module, const hearth_options *options) {
  pruning p = {.err = {HEARTH_OK, ""}};
  if (hearth_session_open(&p.session, module, options)) {
    hearth_for_each_instruction(module, visit, &p);
    if (p.err.status == HEARTH_OK)
      p.changed |= hearth_session_apply(&p.session, &p.edits);
    else
      hearth_session_fail(&p.session, &p.err);
  }
  hearth_edits_free(&p.edits);
  hearth_session_close(&p.session);
  return p.changed;
}
