/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One context: its values, and its node in either encoding. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

/* -------------------------------------------------- values -------------------------------------------------- */

bool hearth_md_mib_get(const hearth_md_mib *mib, unsigned tag, uint64_t *ret) {
  if (tag >= HEARTH_TAG_LIMIT || !(mib->recorded >> tag & 1))
    return false;
  *ret = mib->values[tag];
  return true;
}

void hearth_md_mib_set(hearth_md_mib *mib, unsigned tag, uint64_t value) {
  if (tag >= HEARTH_TAG_LIMIT)
    return;
  mib->values[tag] = value;
  mib->recorded |= UINT64_C(1) << tag;
}

void hearth_md_mib_set_all(hearth_md_mib *mib, const hearth_mib *record) {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  hearth_md_mib_set(mib, tag, record->Name);
#define HEARTH_MIB_DERIVED(tag, Name, unit, numerator, denominator, ir_bits, ir_default, description)                  \
  hearth_md_mib_set(mib, tag, record->denominator ? record->numerator / record->denominator : 0);
#include "hearth/mib_fields.def"
}

/* -------------------------------------------------- nodes -------------------------------------------------- */

static LLVMMetadataRef integer_node(hearth_md *md, unsigned bits, uint64_t value) {
  return LLVMValueAsMetadata(LLVMConstInt(LLVMIntTypeInContext(md->context, bits), value, false));
}

static LLVMMetadataRef value_node(hearth_md *md, const hearth_md_field *field, const hearth_md_mib *mib) {
  uint64_t value;
  if (field->tag == HEARTH_TAG_Hotness) {
    if (mib->hotness == HEARTH_CLASS_UNKNOWN)
      return NULL;
    value = mib->hotness;
  } else if (field->tag == HEARTH_TAG_Pool) {
    if (!mib->pool)
      return NULL;
    value = mib->pool - HEARTH_PLACEMENT_POOL;
  } else if (!hearth_md_mib_get(mib, field->tag, &value)) {
    return NULL;
  }
  if (field->bits < 64 && value >> field->bits)
    value = (UINT64_C(1) << field->bits) - 1;
  return integer_node(md, field->bits, value);
}

LLVMMetadataRef hearth_md_chained_mib(hearth_md *md, const hearth_md_schema *schema, const hearth_md_mib *mib) {
  LLVMMetadataRef operands[HEARTH_MD_FIELDS_MAX + 1] = {hearth_md_stack_create(md, mib->stack, mib->depth)};
  for (size_t i = 0; i < schema->count; i++)
    operands[i + 1] = value_node(md, hearth_md_field_by_tag(schema->tags[i]), mib);
  return hearth_md_node(md, operands, schema->count + 1);
}

LLVMMetadataRef hearth_md_flat_mib(hearth_md *md, uint64_t own_id, const hearth_md_mib *mib) {
  uint64_t ids[HEARTH_MD_DEPTH_MAX + 1]; /* 32 KiB: not worth clearing for some ids */
  size_t depth = mib->depth < HEARTH_MD_DEPTH_MAX ? mib->depth : HEARTH_MD_DEPTH_MAX;
  ids[0] = own_id;
  memcpy(ids + 1, mib->stack, depth * sizeof *ids);
  LLVMMetadataRef stack = hearth_md_stack_create_flat(md, ids, depth + 1);
  const char *type = hearth_md_class_name(hearth_md_flat_class(mib->hotness));
  LLVMMetadataRef operands[2] = {stack, hearth_md_string(md, type)};
  return stack ? hearth_md_node(md, operands, 2) : NULL;
}

bool hearth_md_read_values(const hearth_md_schema *schema, LLVMMetadataRef node, hearth_md_mib *ret) {
  bool ok = hearth_ir_operand_count(node) == schema->count + 1;
  for (unsigned i = 0; i < schema->count; i++) {
    uint64_t value;
    LLVMMetadataRef operand = hearth_ir_operand(node, i + 1);
    if (!operand || schema->tags[i] == 0)
      continue;
    if (hearth_ir_integer(operand, &value))
      hearth_md_mib_set(ret, schema->tags[i], value);
    else
      ok = false;
  }
  uint64_t pool, hotness = ret->values[HEARTH_TAG_Hotness];
  ret->hotness = hotness <= HEARTH_CLASS_HOT ? (hearth_class)hotness : HEARTH_CLASS_UNKNOWN;
  bool is_cold = ret->hotness < HEARTH_CLASS_NOTCOLD;
  if (!is_cold && hearth_md_mib_get(ret, HEARTH_TAG_Pool, &pool) && pool < HEARTH_POOLS_MAX)
    ret->pool = (hearth_placement)(HEARTH_PLACEMENT_POOL + pool);
  return ok;
}

bool hearth_md_read_flat_values(LLVMMetadataRef node, hearth_md_mib *ret) {
  size_t length;
  unsigned n = hearth_ir_operand_count(node);
  const char *type = hearth_ir_string(hearth_ir_operand(node, 1), &length);
  ret->hotness = type ? hearth_md_class_by_name(type, length) : HEARTH_CLASS_UNKNOWN;
  uint64_t sum = 0;
  for (unsigned i = 2; i < n; i++) {
    uint64_t id, bytes;
    LLVMMetadataRef pair = hearth_ir_operand(node, i);
    if (!hearth_ir_flat_mibs_have_pairs() || hearth_ir_operand_count(pair) != 2 ||
        !hearth_ir_integer(hearth_ir_operand(pair, 0), &id) || !hearth_ir_integer(hearth_ir_operand(pair, 1), &bytes))
      return false;
    sum = hearth_merge_SUM(sum, bytes);
    hearth_md_mib_set(ret, HEARTH_TAG_TotalSize, sum);
  }
  return ret->hotness != HEARTH_CLASS_UNKNOWN;
}

/* ------------------------------------------------ stack ------------------------------------------------ */

/* Call stacks as nodes, in both encodings. */

/* Built from the root, so that LLVM's uniquing makes equal tails one node. Looking a node up costs more than comparing
 * ids, so the callers shared with the last stack are taken from there. */
LLVMMetadataRef hearth_md_stack_create(hearth_md *md, const uint64_t *ids, size_t n) {
  n = n < HEARTH_MD_DEPTH_MAX ? n : HEARTH_MD_DEPTH_MAX;
  size_t made = 0;
  while (made < n && made < md->last_stack.depth && md->last_stack.ids[made] == ids[n - 1 - made])
    made++;
  for (; made < n; made++) {
    uint64_t id = ids[n - 1 - made];
    LLVMMetadataRef operands[2] = {integer_node(md, 64, id), made ? md->last_stack.chains[made - 1] : NULL};
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
    operands[i] = integer_node(md, 64, ids[i]);
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
static bool mib_advance(hearth_md_cursor *c) {
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
  c->malformed = c->malformed || !mib_advance(c);
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

/* ------------------------------------------------ node ------------------------------------------------ */

/* Metadata nodes, made and attached. Taking them apart is in ir_facts.cpp. */

LLVMMetadataRef hearth_md_string(hearth_md *md, const char *text) {
  return LLVMMDStringInContext2(md->context, text, strlen(text));
}

LLVMMetadataRef hearth_md_node(hearth_md *md, LLVMMetadataRef *operands, size_t count) {
  return LLVMMDNodeInContext2(md->context, operands, count);
}

void hearth_md_set(hearth_md *md, LLVMValueRef call, unsigned kind, LLVMMetadataRef node) {
  LLVMSetMetadata(call, kind, node ? LLVMMetadataAsValue(md->context, node) : NULL);
}
