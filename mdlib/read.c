/* Read attachments back. A module may hold anything: what does not have the expected shape is not there. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

/* Length of a chain, or SIZE_MAX if it is malformed or longer than HEARTH_MD_DEPTH_MAX (a cycle of distinct nodes). */
static size_t chain_read(LLVMValueRef node, uint64_t *ids) {
  size_t n = 0;
  if (!hearth_md_is_node(node))
    return SIZE_MAX;
  if (hearth_md_operand_count(node) == 0)
    return 0;
  for (; node; n++) {
    uint64_t id;
    unsigned operands = hearth_md_operand_count(node);
    if (n == HEARTH_MD_DEPTH_MAX || operands < 1 || operands > 2 ||
        !hearth_md_as_integer(hearth_md_operand(node, 0), &id))
      return SIZE_MAX;
    if (ids)
      ids[n] = id;
    LLVMValueRef next = operands == 2 ? hearth_md_operand(node, 1) : NULL;
    if (operands == 2 && !hearth_md_is_node(next))
      return SIZE_MAX;
    node = next;
  }
  return n;
}

size_t hearth_md_get_callsite(hearth_md *md, LLVMValueRef call, uint64_t *ids, size_t capacity) {
  LLVMValueRef node = LLVMGetMetadata(call, md->kind_callsite);
  if (!hearth_md_is_node(node))
    return 0;
  if (md->chained_only) {
    size_t n = chain_read(node, NULL);
    uint64_t *all = n && n != SIZE_MAX ? malloc(n * sizeof *all) : NULL;
    if (!all)
      return 0;
    chain_read(node, all);
    memcpy(ids, all, (n < capacity ? n : capacity) * sizeof *ids);
    free(all);
    return n;
  }
  unsigned n = hearth_md_operand_count(node);
  for (unsigned i = 0; i < n; i++) {
    uint64_t id;
    if (!hearth_md_as_integer(hearth_md_operand(node, i), &id))
      return 0;
    if (i < capacity)
      ids[i] = id;
  }
  return n;
}

static bool read_mib(const hearth_md *md, LLVMValueRef node, hearth_md_mib *mib, uint64_t *ids) {
  unsigned n;
  LLVMValueRef *operands = hearth_md_operands(node, &n);
  bool ok = n == (unsigned)md->last_count + 1;
  mib->stack = ids;
  mib->depth = ok ? chain_read(operands[0], ids) : 0;
  for (unsigned i = 1; ok && i < n; i++) {
    unsigned tag = md->last_tags[i - 1];
    ok = !operands[i] || hearth_md_as_integer(operands[i], &mib->values[tag]);
    mib->recorded |= operands[i] ? UINT64_C(1) << tag : 0;
  }
  free(operands);
  mib->values[0] = 0; /* where fields we do not know were put */
  uint64_t hotness = mib->values[HEARTH_TAG_Hotness];
  mib->hotness = hotness <= HEARTH_CLASS_HOT ? (hearth_class)hotness : HEARTH_CLASS_UNKNOWN;
  return ok;
}

/* Sum of the depths of all stacks, or SIZE_MAX if one is malformed. */
static size_t total_depth(LLVMValueRef *mibs, unsigned n) {
  size_t total = 0;
  for (unsigned i = 0; i < n; i++) {
    size_t depth = chain_read(hearth_md_operand(mibs[i], 0), NULL);
    if (depth == SIZE_MAX)
      return SIZE_MAX;
    total += depth;
  }
  return total;
}

/* `operands` are a list of MIBs, on LLVM 15 and newer behind their schema. */
static bool read_list(hearth_md *md, LLVMValueRef *operands, unsigned n, hearth_md_mibs *ret) {
  unsigned first = md->chained_only ? 0 : 1;
  if (n <= first || hearth_md_read_schema(md, first ? operands[0] : NULL) < 0)
    return false;
  size_t total = total_depth(operands + first, n - first);
  if (total == SIZE_MAX)
    return false;
  ret->mibs = calloc(n - first, sizeof *ret->mibs);
  ret->ids = malloc((total + 1) * sizeof *ret->ids);
  ret->nodes = malloc((n - first + 1) * sizeof *ret->nodes);
  if (!ret->mibs || !ret->ids || !ret->nodes)
    return false;
  ret->nodes[0] = md->last_schema;
  uint64_t *ids = ret->ids;
  for (unsigned i = first; i < n; i++) {
    hearth_md_mib *mib = &ret->mibs[ret->count++];
    ret->nodes[ret->count] = hearth_md_as_metadata(md, operands[i]);
    if (!read_mib(md, operands[i], mib, ids))
      return false;
    ids += mib->depth;
  }
  return true;
}

bool hearth_md_get_mibs(hearth_md *md, LLVMValueRef call, hearth_md_mibs *ret) {
  memset(ret, 0, sizeof *ret);
  unsigned n;
  LLVMValueRef *operands =
      hearth_md_operands(LLVMGetMetadata(call, md->chained_only ? md->kind_memprof : md->kind_mib), &n);
  bool ok = read_list(md, operands, n, ret);
  free(operands);
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
