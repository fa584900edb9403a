/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Call stacks as nodes, in both encodings. */
#include <stdlib.h>

#include "md_internal.h"

/* Built from the root, so that LLVM's uniquing makes equal tails one node. Looking a node up costs more than comparing
 * ids, so the callers shared with the last stack are taken from there. */
LLVMMetadataRef hearth_md_stack_create(hearth_md *md, const uint64_t *ids, size_t n) {
  n = n < HEARTH_MD_DEPTH_MAX ? n : HEARTH_MD_DEPTH_MAX;
  size_t made = 0;
  while (made < n && made < md->last_stack.depth && md->last_stack.ids[made] == ids[n - 1 - made])
    made++;
  for (; made < n; made++) {
    uint64_t id = ids[n - 1 - made];
    LLVMMetadataRef operands[2] = {hearth_md_integer(md, 64, id), made ? md->last_stack.chains[made - 1] : NULL};
    md->last_stack.ids[made] = id;
    md->last_stack.chains[made] = hearth_md_node(md, operands, made ? 2 : 1);
  }
  md->last_stack.depth = n;
  return n ? md->last_stack.chains[n - 1] : hearth_md_node(md, NULL, 0);
}

LLVMMetadataRef hearth_md_stack_create_flat(hearth_md *md, const uint64_t *ids, size_t n) {
  LLVMMetadataRef *operands = malloc(n * sizeof *operands);
  if (!operands)
    return NULL;
  for (size_t i = 0; i < n; i++)
    operands[i] = hearth_md_integer(md, 64, ids[i]);
  LLVMMetadataRef node = hearth_md_node(md, operands, n);
  free(operands);
  return node;
}

/* One id is the same in both encodings; of two operands, the second tells. */
hearth_md_cursor hearth_md_stack_begin(LLVMMetadataRef stack) {
  unsigned n = hearth_ir_operand_count(stack);
  return (hearth_md_cursor){.node = n ? stack : NULL,
                            .flat = n > 2 || (n == 2 && !hearth_ir_is_node(hearth_ir_operand(stack, 1))),
                            .malformed = !hearth_ir_is_node(stack)};
}

/* A longer chain is a cycle, or garbage. A flat stack may have the call's own id besides. */
static bool advance(hearth_md_cursor *c) {
  unsigned n = hearth_ir_operand_count(c->node);
  size_t limit = HEARTH_MD_DEPTH_MAX + (c->flat ? 1 : 0);
  LLVMMetadataRef next = c->flat ? c->node : hearth_ir_operand(c->node, 1);
  bool last = c->flat ? ++c->index == n : n == 1;
  if (!last && (c->depth == limit || (!c->flat && (n != 2 || hearth_ir_operand_count(next) == 0))))
    return false;
  c->node = last ? NULL : next;
  return true;
}

bool hearth_md_stack_next(hearth_md_cursor *c, uint64_t *ret_id) {
  if (!c->node || c->malformed)
    return false;
  c->malformed = hearth_ir_integer(hearth_ir_operand(c->node, c->index), ret_id) == 0;
  c->depth += !c->malformed;
  c->malformed = c->malformed || !advance(c);
  return !c->malformed;
}

size_t hearth_md_stack_read(LLVMMetadataRef stack, uint64_t *ids, size_t capacity) {
  uint64_t id;
  size_t n = 0;
  hearth_md_cursor c = hearth_md_stack_begin(stack);
  for (; hearth_md_stack_next(&c, &id); n++)
    if (n < capacity)
      ids[n] = id;
  return c.malformed ? SIZE_MAX : n;
}
