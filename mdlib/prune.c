/* Pruning after inlining is recomputed from where a call is now, not patched at each inlining: the debug location
 * survives passes that drop or duplicate our metadata. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

/* Keep in place the contexts that agree, or, where a class is given, those of that class. */
static void filter(hearth_md_mibs *all, const uint64_t *callsite, size_t n_callsite, hearth_class hint) {
  size_t kept = 0;
  for (size_t i = 0; i < all->count; i++)
    if (hint != HEARTH_CLASS_UNKNOWN ? all->mibs[i].hotness == hint
                                     : hearth_md_agrees(&all->mibs[i], callsite, n_callsite)) {
      all->mibs[kept++] = all->mibs[i];
      all->nodes[kept] = all->nodes[i + 1];
    }
  all->count = kept;
}

bool hearth_md_prune(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite) {
  hearth_md_mibs all;
  if (!hearth_md_get_mibs(md, call, &all))
    return false;
  /* LLVM's inliner drops `!callsite` once the contexts left share a class, which it then notes as the attribute: where
   * no debug location can say more, that class is what is known. */
  hearth_class hint = n_callsite ? HEARTH_CLASS_UNKNOWN : hearth_md_get_hint(call, NULL);
  filter(&all, callsite, n_callsite, hint);
  if (all.count == 0 && n_callsite && !hearth_ir_attachment(call, md->kind_callsite) &&
      hearth_md_get_hint(call, NULL) != HEARTH_CLASS_UNKNOWN) {
    /* The ids begin further inside than the contexts do: frames that the profile lacks were passed over when they were
     * attached. The class, which LLVM's inliner left as attribute, still holds. */
    hearth_md_mibs_free(&all);
    return hearth_md_prune(md, call, NULL, 0);
  }
  if (all.count == 0)
    hearth_md_remove(md, call);
  else if (n_callsite || hint != HEARTH_CLASS_UNKNOWN)
    hearth_md_attach_nodes(md, call, callsite, n_callsite, &all);
  hearth_md_mibs_free(&all);
  return true;
}

bool hearth_md_concatenate_callsites(hearth_md *md, LLVMValueRef call, LLVMValueRef outer) {
  size_t n, n_outer;
  uint64_t *ids = hearth_md_callsite_ids(md, call, &n), *outer_ids = hearth_md_callsite_ids(md, outer, &n_outer);
  uint64_t *all = n && n_outer ? realloc(ids, (n + n_outer) * sizeof *all) : NULL;
  if (all) {
    ids = all;
    memcpy(all + n, outer_ids, n_outer * sizeof *all);
    if (!hearth_md_prune(md, call, all, n + n_outer))
      hearth_md_set_callsite(md, call, all, n + n_outer);
  }
  free(ids);
  free(outer_ids);
  return all != NULL;
}
