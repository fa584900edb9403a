/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Read attachments back. A module may hold anything: metadata without the expected shape counts as absent. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

static bool first_id(LLVMMetadataRef stack, uint64_t *ret) {
  hearth_md_cursor cursor = hearth_md_stack_begin(stack);
  return hearth_md_stack_next(&cursor, ret);
}

/* Calls that mdlib annotated have the attribute, which the RFC does not know. */
bool hearth_md_lacks_own_id(hearth_md *md, LLVMValueRef call) {
  LLVMMetadataRef list = md->chained_only ? hearth_ir_attachment(call, md->kind_memprof) : NULL;
  LLVMMetadataRef callsite = hearth_ir_attachment(call, md->kind_callsite);
  uint64_t caller, first;
  if (!list || hearth_md_has_hint(call))
    return false;
  if (callsite && !first_id(callsite, &first))
    return false;
  for (unsigned i = 0, n = callsite ? hearth_ir_operand_count(list) : 0; i < n; i++)
    if (first_id(hearth_ir_operand(hearth_ir_operand(list, i), 0), &caller) && caller == first)
      return true;
  return !callsite;
}

size_t hearth_md_get_callsite(hearth_md *md, LLVMValueRef call, uint64_t *ids, size_t capacity) {
  size_t n = hearth_md_stack_read(hearth_ir_attachment(call, md->kind_callsite), ids, capacity);
  n = n == SIZE_MAX ? 0 : n;
  if (!hearth_md_lacks_own_id(md, call))
    return n;
  if (capacity) {
    memmove(ids + 1, ids, (n < capacity ? n : capacity - 1) * sizeof *ids);
    ids[0] = 0;
  }
  return n + 1;
}

/* All ids of the call's `!callsite`, malloc'd; NULL if there are none. */
static uint64_t *all_callsite_ids(hearth_md *md, LLVMValueRef call, size_t *ret_count) {
  *ret_count = hearth_md_get_callsite(md, call, NULL, 0);
  uint64_t *ids = *ret_count ? malloc(*ret_count * sizeof *ids) : NULL;
  if (ids)
    hearth_md_get_callsite(md, call, ids, *ret_count);
  else
    *ret_count = 0;
  return ids;
}

hearth_class hearth_md_get_resolved_class(hearth_md *md, LLVMValueRef call) {
  bool open = hearth_ir_attachment(call, md->kind_callsite) || hearth_ir_attachment(call, md->kind_memprof);
  return open ? HEARTH_CLASS_UNKNOWN : hearth_md_get_hint(call, NULL);
}

/* Sum of the lengths of all stacks, or SIZE_MAX if one is malformed. */
static size_t total_length(LLVMMetadataRef list, unsigned first, unsigned n) {
  size_t total = 0;
  for (unsigned i = first; i < n; i++) {
    size_t length = hearth_md_stack_read(hearth_ir_operand(hearth_ir_operand(list, i), 0), NULL, 0);
    if (length == SIZE_MAX)
      return SIZE_MAX;
    total += length;
  }
  return total;
}

/* `ids` has room for the stack. Of a flat stack, the first id is the call's own. */
static bool read_mib(const hearth_md_schema *schema, LLVMMetadataRef node, hearth_md_mib *mib, uint64_t *ids) {
  size_t length = hearth_md_stack_read(hearth_ir_operand(node, 0), ids, SIZE_MAX), own = schema ? 0 : 1;
  if (length < own)
    return false;
  mib->stack = ids + own;
  mib->depth = length - own;
  return schema ? hearth_md_read_values(schema, node, mib) : hearth_md_read_flat_values(node, mib);
}

static bool read_mib_list(hearth_md *md, LLVMMetadataRef list, hearth_md_mibs *ret) {
  unsigned n = hearth_ir_operand_count(list), first = ret->encoding == HEARTH_MD_CHAINED && !md->chained_only ? 1 : 0;
  const hearth_md_schema *schema = NULL;
  LLVMMetadataRef schema_node = NULL;
  if (ret->encoding == HEARTH_MD_CHAINED) {
    schema_node = first ? hearth_ir_operand(list, 0) : hearth_md_only_schema(md);
    schema = hearth_md_read_schema(md, schema_node);
  }
  size_t total = total_length(list, first, n);
  if (n <= first || total == SIZE_MAX || (ret->encoding == HEARTH_MD_CHAINED && !schema))
    return false;
  ret->mibs = calloc(n - first, sizeof *ret->mibs);
  ret->ids = malloc((total + 1) * sizeof *ret->ids);
  ret->nodes = malloc((n - first + 1) * sizeof *ret->nodes);
  if (!ret->mibs || !ret->ids || !ret->nodes)
    return false;
  ret->nodes[0] = schema_node;
  uint64_t *ids = ret->ids;
  for (unsigned i = first; i < n; i++) {
    hearth_md_mib *mib = &ret->mibs[ret->count++];
    ret->nodes[ret->count] = hearth_ir_operand(list, i);
    if (!read_mib(schema, ret->nodes[ret->count], mib, ids))
      return false;
    ids = (uint64_t *)mib->stack + mib->depth;
  }
  return true;
}

bool hearth_md_get_mibs(hearth_md *md, LLVMValueRef call, hearth_md_mibs *ret) {
  memset(ret, 0, sizeof *ret);
  LLVMMetadataRef list = hearth_ir_attachment(call, md->chained_only ? md->kind_memprof : md->kind_mib);
  ret->encoding = HEARTH_MD_CHAINED;
  if (!list && !md->chained_only) {
    list = hearth_ir_attachment(call, md->kind_memprof);
    ret->encoding = HEARTH_MD_FLAT;
  }
  bool ok = list && read_mib_list(md, list, ret);
  if (!ok)
    hearth_md_mibs_free(ret);
  return ok;
}

void hearth_md_mibs_free(hearth_md_mibs *mibs) {
  free(mibs->mibs);
  free(mibs->ids);
  free(mibs->nodes);
  memset(mibs, 0, sizeof *mibs);
}

/* ------------------------------------------------ prune ------------------------------------------------ */

/* Pruning after inlining is recomputed from where a call is now, not patched at each inlining: the debug location
 * survives passes that drop or duplicate our metadata. */

/* Can the context be that of a call at this callsite (n may be 0: unknown), whose class LLVM had resolved (else
 * UNKNOWN)? They are compared on their common prefix; an id of 0 agrees with any. */
static bool is_possible(const hearth_md_mib *mib, const uint64_t *callsite, size_t n, hearth_class resolved) {
  for (size_t i = 0; i + 1 < n && i < mib->depth; i++)
    if (callsite[i + 1] && mib->stack[i] && callsite[i + 1] != mib->stack[i])
      return false;
  return resolved == HEARTH_CLASS_UNKNOWN || mib->hotness == HEARTH_CLASS_UNKNOWN || mib->hotness == resolved;
}

/* Keep in place the contexts that are possible, and return how many there are; all, if that is 0. */
static size_t keep_possible(hearth_md_mibs *all, const uint64_t *callsite, size_t n, hearth_class resolved) {
  size_t kept = 0;
  for (size_t i = 0; i < all->count; i++)
    if (is_possible(&all->mibs[i], callsite, n, resolved)) {
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
  size_t left = keep_possible(&all, callsite, n_callsite, resolved);
  if (!left && resolved != HEARTH_CLASS_UNKNOWN) {
    /* The ids begin further inside than the contexts do: frames that the profile lacks were passed over when they were
     * attached. The class still holds. */
    n_callsite = 0;
    left = keep_possible(&all, NULL, 0, resolved);
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
  uint64_t *ids = all_callsite_ids(md, call, &n), *outer_ids = all_callsite_ids(md, outer, &n_outer);
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
