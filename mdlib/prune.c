/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pruning after inlining is recomputed from where a call is now, not patched at each inlining: the debug location
 * survives passes that drop or duplicate our metadata. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

size_t hearth_md_keep_possible(hearth_md_mibs *all, const uint64_t *callsite, size_t n, hearth_class resolved) {
  size_t kept = 0;
  for (size_t i = 0; i < all->count; i++)
    if (hearth_md_is_possible(&all->mibs[i], callsite, n, resolved)) {
      all->mibs[kept++] = all->mibs[i];
      all->nodes[kept] = all->nodes[i + 1];
    }
  if (kept)
    all->count = kept;
  return kept;
}

bool hearth_md_prune(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite) {
  hearth_md_mibs all;
  if (!hearth_ir_is_call(call) || !hearth_md_get_mibs(md, call, &all))
    return false;
  hearth_class resolved = hearth_md_get_resolved_class(md, call);
  bool known = n_callsite || resolved != HEARTH_CLASS_UNKNOWN;
  size_t left = hearth_md_keep_possible(&all, callsite, n_callsite, resolved);
  if (!left && resolved != HEARTH_CLASS_UNKNOWN) {
    /* The ids begin further inside than the contexts do: frames that the profile lacks were passed over when they were
     * attached. The class still holds. */
    n_callsite = 0;
    left = hearth_md_keep_possible(&all, NULL, 0, resolved);
  }
  if (left && known)
    hearth_md_attach_nodes(md, call, callsite, n_callsite, &all);
  else if (!left)
    hearth_md_clear(md, call);
  hearth_md_mibs_free(&all);
  return true;
}

bool hearth_md_concatenate_callsites(hearth_md *md, LLVMValueRef call, LLVMValueRef outer) {
  size_t n, n_outer;
  if (!hearth_ir_is_call(call) || !hearth_ir_is_call(outer))
    return false;
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
