/* Pruning after inlining is recomputed from where a call is now, not patched at each inlining: the debug location
 * survives passes that drop or duplicate our metadata. */
#include "md_internal.h"

/* An id of 0 is a frame whose place is unknown: it must not rule a context out. */
static bool agrees(const hearth_md_mib *mib, const uint64_t *callsite, size_t n_callsite) {
  for (size_t i = 0; i < mib->depth && i + 1 < n_callsite; i++)
    if (callsite[i + 1] && mib->stack[i] && mib->stack[i] != callsite[i + 1])
      return false;
  return true;
}

bool hearth_md_prune(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite) {
  hearth_md_mibs all;
  if (!hearth_md_get_mibs(md, call, &all))
    return false;
  /* LLVM's inliner drops `!callsite` once the contexts left share a class, which it then notes as the attribute: where
   * no debug location can say more, that class is what is known. */
  hearth_class hint = n_callsite ? HEARTH_CLASS_UNKNOWN : hearth_md_get_hint(call, NULL);
  size_t kept = 0;
  for (size_t i = 0; i < all.count; i++)
    if (hint != HEARTH_CLASS_UNKNOWN ? all.mibs[i].hotness == hint : agrees(&all.mibs[i], callsite, n_callsite)) {
      all.mibs[kept++] = all.mibs[i];
      all.nodes[kept] = all.nodes[i + 1];
    }
  if (kept == 0 && n_callsite && !LLVMGetMetadata(call, md->kind_callsite) &&
      hearth_md_get_hint(call, NULL) != HEARTH_CLASS_UNKNOWN) {
    /* The ids begin further inside than the contexts do: frames that the profile lacks were passed over when they were
     * attached. The class, which LLVM's inliner left as attribute, still holds. */
    hearth_md_mibs_free(&all);
    return hearth_md_prune(md, call, NULL, 0);
  }
  if (kept == 0)
    hearth_md_remove(md, call);
  else if (n_callsite || hint != HEARTH_CLASS_UNKNOWN)
    hearth_md_attach_nodes(md, call, callsite, n_callsite, all.mibs, all.nodes, kept);
  hearth_md_mibs_free(&all);
  return true;
}
