/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Repair: metadata that obeys the rules stays; of the rest, well-formed parts are written anew, and the others are
 * removed. The verifier decides which metadata needs it, so the two cannot disagree about the rules. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

typedef struct repair {
  hearth_md *md;
  hearth_md_locate locate;
  void *data;
  hearth_md_repairs *counts;
  hearth_md_schema schema; /* that all lists are to follow: the known fields of all schemas found */
  LLVMMetadataRef schema_node;
  bool schema_sound; /* it is the module's already, and that of all lists */
  bool has_schema;   /* the module names one */
  bool changed;
} repair;

/* -------------------------------------------------- schema -------------------------------------------------- */

/* Names that are unknown or repeated become tag 0: their values are passed over. */
static bool read_leniently(LLVMMetadataRef node, hearth_md_schema *ret) {
  uint64_t seen = 1;
  bool ok = hearth_md_schema_read(node, ret);
  for (size_t i = 0; i < ret->count; i++) {
    uint64_t bit = UINT64_C(1) << ret->tags[i];
    if (seen & bit)
      ret->tags[i] = 0;
    seen |= bit;
  }
  return ok;
}

static void add_fields(repair *r, LLVMMetadataRef node) {
  hearth_md_schema found;
  read_leniently(node, &found);
  for (size_t i = 0; i < found.count; i++)
    if (found.tags[i] && !memchr(r->schema.tags, found.tags[i], r->schema.count))
      r->schema.tags[r->schema.count++] = found.tags[i];
}

static LLVMMetadataRef list_of(const repair *r, LLVMValueRef instruction) {
  return hearth_ir_attachment(instruction, r->md->chained_only ? r->md->kind_memprof : r->md->kind_mib);
}

static void visit_carried_schema(LLVMValueRef instruction, void *data) {
  repair *r = data;
  LLVMMetadataRef list = list_of(r, instruction), carried = list ? hearth_ir_operand(list, 0) : NULL;
  if (!list || (r->has_schema && carried == r->schema_node))
    return;
  r->schema_sound = false;
  add_fields(r, carried);
}

static void find_schema(repair *r) {
  LLVMMetadataRef node;
  unsigned n = 0;
  for (; (node = hearth_md_get_schema(r->md, n)); n++)
    add_fields(r, node);
  hearth_md_schema schema;
  bool valid = hearth_md_schema_is_valid(r->md, hearth_md_only_schema(r->md), &schema);
  r->schema_node = valid ? hearth_md_only_schema(r->md) : hearth_md_schema_create(r->md, &r->schema);
  r->schema_sound = n == 0 || valid;
  r->has_schema = n > 0;
  if (!r->md->chained_only)
    hearth_ir_for_each_instruction(r->md->module, visit_carried_schema, r);
  if (r->schema_sound)
    return;
  r->schema_node = hearth_md_schema_create(r->md, &r->schema);
  r->counts->schemas = n;
  r->changed = true;
}

/* Which schema a chained MIB follows: the one its list carries, or on LLVM 14 the only one that has as many fields. */
static bool schema_of_mib(const repair *r, LLVMMetadataRef carried, LLVMMetadataRef mib, hearth_md_schema *ret) {
  size_t fitting = 0, values = hearth_ir_operand_count(mib);
  if (carried)
    return read_leniently(carried, ret) && values == ret->count + 1;
  LLVMMetadataRef node;
  for (unsigned i = 0; (node = hearth_md_get_schema(r->md, i)); i++) {
    hearth_md_schema schema;
    if (read_leniently(node, &schema) && values == schema.count + 1 && fitting++ == 0)
      *ret = schema;
  }
  return fitting == 1;
}

/* -------------------------------------------------- contexts -------------------------------------------------- */

static int compare_contexts(const void *a, const void *b) {
  const hearth_md_mib *x = *(hearth_md_mib *const *)a, *y = *(hearth_md_mib *const *)b;
  size_t common = x->depth < y->depth ? x->depth : y->depth;
  for (size_t i = 0; i < common; i++)
    if (x->stack[i] != y->stack[i])
      return x->stack[i] < y->stack[i] ? -1 : 1;
  if (x->depth != y->depth)
    return x->depth < y->depth ? -1 : 1;
  if (x->hotness != y->hotness)
    return x->hotness < y->hotness ? -1 : 1;
  return (x->pool > y->pool) - (x->pool < y->pool);
}

static int compare_then_by_order(const void *a, const void *b) {
  int order = compare_contexts(a, b);
  const hearth_md_mib *x = *(hearth_md_mib *const *)a, *y = *(hearth_md_mib *const *)b;
  return order ? order : (x > y) - (x < y);
}

/* The flat MIB with the other's pairs of (full stack id, bytes) behind its own. */
static LLVMMetadataRef with_pairs_of(repair *r, LLVMMetadataRef node, LLVMMetadataRef other) {
  unsigned n = hearth_ir_operand_count(node), more = hearth_ir_operand_count(other);
  LLVMMetadataRef *operands = more > 2 ? malloc((n + more) * sizeof *operands) : NULL;
  if (!operands)
    return node;
  for (unsigned i = 0; i < n; i++)
    operands[i] = hearth_ir_operand(node, i);
  for (unsigned i = 2; i < more; i++)
    operands[n++] = hearth_ir_operand(other, i);
  LLVMMetadataRef result = hearth_md_node(r->md, operands, n);
  free(operands);
  return result;
}

/* Merge contexts of the same stack, class and pool into the first of them; the others lose their node. */
static void merge_duplicates(repair *r, hearth_md_mibs *all) {
  hearth_md_mib **order = malloc((all->count + 1) * sizeof *order);
  if (!order)
    return;
  for (size_t i = 0; i < all->count; i++)
    order[i] = &all->mibs[i];
  qsort(order, all->count, sizeof *order, compare_then_by_order);
  for (size_t i = 1, first = 0; i < all->count; i++) {
    if (compare_contexts(&order[first], &order[i]) != 0) {
      first = i;
      continue;
    }
    hearth_md_mib_merge(order[first], order[i]);
    LLVMMetadataRef *node = &all->nodes[order[first] - all->mibs + 1], *other = &all->nodes[order[i] - all->mibs + 1];
    *node = all->encoding == HEARTH_MD_CHAINED ? hearth_md_chained_mib(r->md, &r->schema, order[first])
                                               : with_pairs_of(r, *node, *other);
    *other = NULL;
  }
  free(order);
}

static void drop_without_node(hearth_md_mibs *all) {
  size_t kept = 0;
  for (size_t i = 0; i < all->count; i++)
    if (all->nodes[i + 1]) {
      all->mibs[kept++] = all->mibs[i];
      all->nodes[kept] = all->nodes[i + 1];
    }
  all->count = kept;
}

/* A context as far as it is well-formed, and its node; NULL if it is not. */
static LLVMMetadataRef salvage_mib(repair *r, LLVMMetadataRef carried, LLVMMetadataRef node, hearth_md_mib *mib,
                                   uint64_t *ids, hearth_md_encoding encoding) {
  hearth_md_schema schema;
  size_t own = encoding == HEARTH_MD_FLAT ? 1 : 0;
  size_t length = hearth_md_stack_read(hearth_ir_operand(node, 0), ids, SIZE_MAX);
  if (length == SIZE_MAX || length < own)
    return NULL;
  mib->stack = ids + own;
  mib->depth = length - own;
  if (encoding == HEARTH_MD_FLAT) {
    bool pairs = hearth_md_read_flat_values(node, mib);
    LLVMMetadataRef anew = mib->hotness == HEARTH_CLASS_UNKNOWN ? NULL : hearth_md_flat_mib(r->md, ids[0], mib);
    return anew && pairs ? with_pairs_of(r, anew, node) : anew;
  }
  if (!schema_of_mib(r, carried, node, &schema))
    return NULL;
  hearth_md_read_values(&schema, node, mib); /* those that are no numbers are not recorded */
  return hearth_md_chained_mib(r->md, &r->schema, mib);
}

/* `ids` has room for all stacks; *ret_own_id is 0 if no flat stack tells it. */
static bool salvage(repair *r, LLVMMetadataRef list, hearth_md_mibs *ret, uint64_t *ret_own_id) {
  unsigned n = hearth_ir_operand_count(list),
           first = ret->encoding == HEARTH_MD_CHAINED && !r->md->chained_only ? 1 : 0;
  size_t total = 0;
  for (unsigned i = first; i < n; i++) {
    size_t length = hearth_md_stack_read(hearth_ir_operand(hearth_ir_operand(list, i), 0), NULL, 0);
    total += length == SIZE_MAX ? 0 : length;
  }
  ret->mibs = calloc(n + 1, sizeof *ret->mibs);
  ret->nodes = calloc(n + 2, sizeof *ret->nodes);
  ret->ids =
      malloc((total + HEARTH_MD_DEPTH_MAX + 2) * sizeof *ret->ids); /* a malformed one is begun behind the last */
  if (!ret->mibs || !ret->nodes || !ret->ids)
    return false;
  uint64_t *ids = ret->ids;
  for (unsigned i = first; i < n; i++) {
    hearth_md_mib *mib = &ret->mibs[ret->count];
    ret->nodes[++ret->count] =
        salvage_mib(r, first ? hearth_ir_operand(list, 0) : NULL, hearth_ir_operand(list, i), mib, ids, ret->encoding);
    if (!ret->nodes[ret->count])
      continue;
    if (ret->encoding == HEARTH_MD_FLAT && !*ret_own_id)
      *ret_own_id = ids[0];
    ids = (uint64_t *)mib->stack + mib->depth;
  }
  return true;
}

/* -------------------------------------------------- calls -------------------------------------------------- */

/* The ids of `!callsite` if it is well-formed, else those of the debug location from `own_id` outwards: annotation may
 * have passed over inner frames. malloc'd. */
static uint64_t *callsite_of(repair *r, LLVMValueRef call, uint64_t own_id, size_t *ret_count) {
  uint64_t *ids = hearth_md_callsite_ids(r->md, call, ret_count);
  if (ids || !(ids = malloc(HEARTH_MD_DEPTH_MAX * sizeof *ids)))
    return ids;
  size_t skip = 0, n = r->locate ? r->locate(call, ids, HEARTH_MD_DEPTH_MAX, r->data) : 0;
  while (own_id && skip < n && ids[skip] != own_id)
    skip++;
  if (skip == n && own_id) { /* the location does not know it: so much is known */
    ids[skip = 0] = own_id;
    n = 1;
  }
  if (skip == n || !ids[skip])
    return free(ids), NULL;
  memmove(ids, ids + skip, (n - skip) * sizeof *ids);
  *ret_count = n - skip;
  r->counts->callsites++;
  return ids;
}

static void drop_impossible(hearth_md_mibs *all, const uint64_t *callsite, size_t n, hearth_class resolved) {
  for (size_t i = 0; i < all->count; i++) {
    const hearth_md_mib *mib = &all->mibs[i];
    if (!all->nodes[i + 1])
      continue;
    bool own_id_agrees = n == 0 || all->encoding == HEARTH_MD_CHAINED || mib->stack[-1] == callsite[0];
    if (!own_id_agrees || !hearth_md_is_possible(mib, callsite, n, resolved))
      all->nodes[i + 1] = NULL;
  }
  drop_without_node(all);
}

static void repair_clear(repair *r, LLVMValueRef call) {
  hearth_md_clear(r->md, call);
  r->counts->calls++;
}

static void attach_salvaged(repair *r, LLVMValueRef call, hearth_md_mibs *all, uint64_t own_id) {
  size_t n = 0, before = all->count;
  uint64_t *callsite = callsite_of(r, call, own_id, &n);
  hearth_class resolved = hearth_md_get_resolved_class(r->md, call);
  drop_without_node(all);
  drop_impossible(all, callsite, n, resolved);
  merge_duplicates(r, all);
  drop_without_node(all);
  r->counts->contexts += before - all->count;
  all->nodes[0] = r->schema_node;
  if (all->count && (n || resolved != HEARTH_CLASS_UNKNOWN))
    hearth_md_attach_nodes(r->md, call, callsite, n, all);
  else
    repair_clear(r, call);
  free(callsite);
}

/* Without memory the call does not change. */
static void repair_list(repair *r, LLVMValueRef call, LLVMMetadataRef list, hearth_md_encoding encoding) {
  hearth_md_mibs all = {.encoding = encoding}, flat = {.encoding = HEARTH_MD_FLAT};
  uint64_t own_id = 0;
  bool ok = salvage(r, list, &all, &own_id);
  if (ok && encoding == HEARTH_MD_CHAINED && !r->md->chained_only) /* only the flat form knows the own id */
    ok = salvage(r, hearth_ir_attachment(call, r->md->kind_memprof), &flat, &own_id);
  if (ok)
    attach_salvaged(r, call, &all, own_id);
  hearth_md_mibs_free(&flat);
  hearth_md_mibs_free(&all);
}

static void repair_callsite(repair *r, LLVMValueRef call) {
  size_t n = 0;
  uint64_t *ids = hearth_ir_attachment(call, r->md->kind_callsite) ? callsite_of(r, call, 0, &n) : NULL;
  if (ids)
    hearth_md_set_callsite(r->md, call, ids, n);
  else if (hearth_ir_attachment(call, r->md->kind_callsite))
    repair_clear(r, call);
  bool ambiguous;
  if (hearth_md_get_hint(call, &ambiguous) == HEARTH_CLASS_UNKNOWN && !ambiguous)
    hearth_md_remove_hint(call);
  hearth_md_set_pool(r->md, call, hearth_md_get_pool(call));
  free(ids);
}

static void repair_visit(LLVMValueRef instruction, void *data) {
  repair *r = data;
  LLVMMetadataRef chained = list_of(r, instruction);
  LLVMMetadataRef flat = r->md->chained_only ? NULL : hearth_ir_attachment(instruction, r->md->kind_memprof);
  bool follows = !chained || r->schema_sound;
  if (follows && hearth_md_verify_instruction(r->md, instruction, NULL, NULL) == 0)
    return;
  r->changed = true;
  if (!hearth_ir_is_call(instruction))
    repair_clear(r, instruction);
  else if (chained)
    repair_list(r, instruction, chained, HEARTH_MD_CHAINED);
  else if (flat)
    repair_list(r, instruction, flat, HEARTH_MD_FLAT);
  else
    repair_callsite(r, instruction);
}

bool hearth_md_repair(hearth_md *md, hearth_md_locate locate, void *data, hearth_md_repairs *ret) {
  repair r = {.md = md, .locate = locate, .data = data, .counts = ret};
  memset(ret, 0, sizeof *ret);
  find_schema(&r);
  hearth_ir_for_each_instruction(md->module, repair_visit, &r);
  if (!r.schema_sound)
    hearth_md_enter_only_schema(md, r.schema_node);
  return r.changed;
}
