/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The handle, and what is attached to calls: metadata, and attributes for the class and pool of their contexts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

/* ------------------------------------------------ attributes ------------------------------------------------ */

/* Classes and pools: their names, those that a list of contexts has in common, and the string attributes "memprof" and
 * "hearth-pool" by which a call says them. */

#define ATTRIBUTE "memprof"
#define POOL      "hearth-pool"

static const char *const hint_names[] = {"ambiguous", "cold", "notcold", "hot"}; /* by hearth_class */

const char *hearth_md_class_name(hearth_class hotness) { return hint_names[hotness]; }

hearth_class hearth_md_class_by_name(const char *name, size_t length) {
  for (int c = HEARTH_CLASS_COLD; c <= HEARTH_CLASS_HOT; c++)
    if (strlen(hint_names[c]) == length && memcmp(hint_names[c], name, length) == 0)
      return (hearth_class)c;
  return HEARTH_CLASS_UNKNOWN;
}

/* The class that all contexts share, else UNKNOWN. */
static hearth_class common_class(const hearth_md_mib *mibs, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (mibs[i].hotness != mibs[0].hotness)
      return HEARTH_CLASS_UNKNOWN;
  return mibs[0].hotness;
}

hearth_class hearth_md_flat_class(hearth_class hotness) {
  return hotness == HEARTH_CLASS_UNKNOWN ? HEARTH_CLASS_NOTCOLD : hotness;
}

/* The same, of what they are in the flat form. */
static hearth_class common_flat_class(const hearth_md_mib *mibs, size_t count) {
  hearth_class first = hearth_md_flat_class(mibs[0].hotness);
  for (size_t i = 1; i < count; i++)
    if (hearth_md_flat_class(mibs[i].hotness) != first)
      return HEARTH_CLASS_UNKNOWN;
  return first;
}

/* The value of a call's attribute; NULL if it has none. */
static const char *attribute_of(LLVMValueRef call, const char *name, unsigned *ret_length) {
  LLVMAttributeRef attribute =
      hearth_ir_is_call(call)
          ? LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name))
          : NULL;
  *ret_length = 0;
  return attribute ? LLVMGetStringAttributeValue(attribute, ret_length) : NULL;
}

static void remove_attribute(LLVMValueRef call, const char *name) {
  if (hearth_ir_is_call(call))
    LLVMRemoveCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name));
}

static void set_attribute(hearth_md *md, LLVMValueRef call, const char *name, const char *value) {
  remove_attribute(call, name);
  if (hearth_ir_is_call(call))
    LLVMAddCallSiteAttribute(
        call, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(md->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

static bool is_ambiguous(const char *value, size_t length) {
  const char *ambiguous = hint_names[HEARTH_CLASS_UNKNOWN];
  return value && length == strlen(ambiguous) && memcmp(value, ambiguous, length) == 0;
}

bool hearth_md_has_hint(LLVMValueRef call) {
  unsigned length;
  return attribute_of(call, ATTRIBUTE, &length) != NULL;
}

hearth_class hearth_md_get_hint(LLVMValueRef call, bool *ret_ambiguous) {
  unsigned length;
  const char *value = attribute_of(call, ATTRIBUTE, &length);
  if (ret_ambiguous)
    *ret_ambiguous = is_ambiguous(value, length);
  return value ? hearth_md_class_by_name(value, length) : HEARTH_CLASS_UNKNOWN;
}

/* UNKNOWN: ambiguous. */
static void set_hint(hearth_md *md, LLVMValueRef call, hearth_class hint) {
  set_attribute(md, call, ATTRIBUTE, hint_names[hint]);
}

static hearth_placement common_pool(const hearth_md_mib *mibs, size_t count) {
  hearth_placement common = HEARTH_MD_NO_CONTEXT;
  for (size_t i = 0; i < count; i++)
    common = hearth_md_join_pool(common, mibs[i].hotness, mibs[i].pool);
  return common == HEARTH_MD_NO_CONTEXT ? 0 : common;
}

bool hearth_md_read_pool(LLVMValueRef call, hearth_placement *ret) {
  unsigned length, number = 0;
  const char *value = attribute_of(call, POOL, &length);
  *ret = 0;
  if (is_ambiguous(value, length))
    *ret = HEARTH_MD_POOL_AMBIGUOUS;
  if (!value || *ret)
    return true;
  for (unsigned i = 0; i < length; i++) {
    if (value[i] < '0' || value[i] > '9' || number >= HEARTH_POOLS_MAX)
      return false;
    number = number * 10 + (unsigned)(value[i] - '0');
  }
  if (length == 0 || number >= HEARTH_POOLS_MAX)
    return false;
  *ret = (hearth_placement)(HEARTH_PLACEMENT_POOL + number);
  return true;
}

hearth_placement hearth_md_get_pool(LLVMValueRef call) {
  hearth_placement pool;
  hearth_md_read_pool(call, &pool);
  return pool;
}

/* 0 removes the attribute. */
static void set_pool(hearth_md *md, LLVMValueRef call, hearth_placement pool) {
  char number[8];
  snprintf(number, sizeof number, "%d", pool - HEARTH_PLACEMENT_POOL);
  if (pool)
    set_attribute(md, call, POOL, pool == HEARTH_MD_POOL_AMBIGUOUS ? hint_names[HEARTH_CLASS_UNKNOWN] : number);
  else
    remove_attribute(call, POOL);
}

/* ------------------------------------------------ metadata ------------------------------------------------ */

hearth_md *hearth_md_create(LLVMModuleRef module) {
  hearth_md *md = calloc(1, sizeof *md);
  if (!md)
    return NULL;
  md->module = module;
  md->context = LLVMGetModuleContext(module);
  /* Callsite first, as any call with contexts has one: LLVM 14 numbers and prints kinds in the order in which a context
   * first meets them, and so does reading that text again. */
  md->kind_callsite = LLVMGetMDKindIDInContext(md->context, "callsite", strlen("callsite"));
  md->kind_memprof = LLVMGetMDKindIDInContext(md->context, "memprof", strlen("memprof"));
  md->kind_mib = LLVMGetMDKindIDInContext(md->context, "memprof.mib", strlen("memprof.mib"));
  md->chained_only = hearth_ir_llvm_major() < 15;
  hearth_md_schema_default(&md->schema);
  return md;
}

void hearth_md_destroy(hearth_md *md) { free(md); }

bool hearth_md_is_chained_only(const hearth_md *md) { return md->chained_only; }

void hearth_md_resolve(hearth_md *md, LLVMValueRef call, hearth_class hotness) {
  hearth_md_set(md, call, md->kind_memprof, NULL);
  hearth_md_set(md, call, md->kind_callsite, NULL);
  set_hint(md, call, hotness);
}

void hearth_md_set_callsite(hearth_md *md, LLVMValueRef call, const uint64_t *ids, size_t n) {
  n = n < HEARTH_MD_DEPTH_MAX ? n : HEARTH_MD_DEPTH_MAX;
  LLVMMetadataRef node =
      md->chained_only ? hearth_md_stack_create(md, ids, n) : hearth_md_stack_create_flat(md, ids, n);
  if (node)
    hearth_md_set(md, call, md->kind_callsite, node);
}

bool hearth_md_has_any(const hearth_md *md, LLVMValueRef call) {
  return LLVMHasMetadata(call) &&
         (hearth_ir_attachment(call, md->kind_memprof) || hearth_ir_attachment(call, md->kind_mib) ||
          hearth_ir_attachment(call, md->kind_callsite));
}

bool hearth_md_remove(hearth_md *md, LLVMValueRef call) {
  bool any = hearth_md_has_hint(call) || hearth_md_get_pool(call);
  unsigned kinds[] = {md->kind_memprof, md->kind_callsite, md->kind_mib};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    any |= hearth_ir_attachment(call, kinds[i]) != NULL;
    hearth_md_set(md, call, kinds[i], NULL);
  }
  remove_attribute(call, ATTRIBUTE);
  set_pool(md, call, 0);
  return any;
}

void hearth_md_clear(hearth_md *md, LLVMValueRef call) {
  hearth_class resolved = hearth_ir_is_call(call) ? hearth_md_get_resolved_class(md, call) : HEARTH_CLASS_UNKNOWN;
  hearth_placement pool = hearth_md_get_pool(call);
  hearth_md_remove(md, call);
  if (resolved == HEARTH_CLASS_UNKNOWN)
    return;
  set_hint(md, call, resolved);
  set_pool(md, call, pool);
}

static int compare_nodes(const void *a, const void *b) {
  const LLVMMetadataRef *x = *(LLVMMetadataRef *const *)a, *y = *(LLVMMetadataRef *const *)b;
  return *x != *y ? (*x > *y) - (*x < *y) : (x > y) - (x < y);
}

/* Of equal nodes the first is kept; the order stays. Equal ones are one node, as LLVM makes them unique. Returns how
 * many are left. */
static size_t drop_repeated(LLVMMetadataRef *nodes, size_t n) {
  LLVMMetadataRef **order = malloc(n * sizeof *order), last = NULL;
  if (!order)
    return 0;
  for (size_t i = 0; i < n; i++)
    order[i] = &nodes[i];
  qsort(order, n, sizeof *order, compare_nodes);
  for (size_t i = 0; i < n; i++) {
    bool repeated = *order[i] == last;
    last = *order[i];
    if (repeated)
      *order[i] = NULL;
  }
  free(order);
  size_t kept = 0;
  for (size_t i = 0; i < n; i++)
    if (nodes[i])
      nodes[kept++] = nodes[i];
  return kept;
}

/* Whatever the classes; nothing is changed when out of memory. The flat form calls contexts without class notcold and
 * knows no pools: contexts that differ in these alone are one. */
static void attach_flat(hearth_md *md, LLVMValueRef call, uint64_t own_id, const hearth_md_mib *mibs, size_t count) {
  LLVMMetadataRef *nodes = malloc(count * sizeof *nodes);
  bool complete = nodes != NULL;
  for (size_t i = 0; complete && i < count; i++)
    complete = (nodes[i] = hearth_md_flat_mib(md, own_id, &mibs[i])) != NULL;
  size_t kept = complete ? drop_repeated(nodes, count) : 0;
  if (kept)
    hearth_md_set(md, call, md->kind_memprof, hearth_md_node(md, nodes, kept));
  free(nodes);
}

/* The value of the attribute: the class that all contexts share. Else it stays unless a context contradicts it. One
 * without class does not; and without a flat list, LLVM takes the attribute for the call's class. */
static hearth_class fitting_hint(const hearth_md *md, LLVMValueRef call, const hearth_md_mibs *all) {
  hearth_class common = common_class(all->mibs, all->count), hint = hearth_md_get_hint(call, NULL);
  bool alone = !hearth_ir_attachment(call, md->kind_memprof);
  if (common != HEARTH_CLASS_UNKNOWN)
    return common;
  for (size_t i = 0; i < all->count; i++)
    if (all->mibs[i].hotness != HEARTH_CLASS_UNKNOWN && (!alone || all->mibs[i].hotness != hint))
      return HEARTH_CLASS_UNKNOWN;
  return hint;
}

void hearth_md_attach_nodes(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite,
                            const hearth_md_mibs *all) {
  hearth_class hint = fitting_hint(md, call, all);
  bool from_chained = all->encoding == HEARTH_MD_CHAINED;
  /* The flat form does not know pools: what the call said of more contexts holds for these. */
  hearth_placement pool = from_chained ? common_pool(all->mibs, all->count) : hearth_md_get_pool(call);
  /* The flat list lasts only as long as its classes differ. One that stands alone is all that is known. */
  bool flat = !md->chained_only && (hearth_ir_flat_mibs_know_hot() || !from_chained) && n_callsite &&
              hint == HEARTH_CLASS_UNKNOWN && common_flat_class(all->mibs, all->count) == HEARTH_CLASS_UNKNOWN;
  hearth_md_remove(md, call);
  if (md->chained_only)
    hearth_md_set(md, call, md->kind_memprof, hearth_md_node(md, all->nodes + 1, all->count));
  else if (from_chained)
    hearth_md_set(md, call, md->kind_mib, hearth_md_node(md, all->nodes, all->count + 1));
  if (flat && from_chained)
    attach_flat(md, call, callsite[0], all->mibs, all->count);
  else if (flat)
    hearth_md_set(md, call, md->kind_memprof, hearth_md_node(md, all->nodes + 1, all->count));
  /* LLVM's inliner crashes on `!memprof` without `!callsite`; and later pruning starts from the ids. */
  if (n_callsite)
    hearth_md_set_callsite(md, call, callsite, n_callsite);
  set_hint(md, call, hint);
  set_pool(md, call, pool);
}

void hearth_md_attach(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite,
                      const hearth_md_mib *mibs, size_t count) {
  LLVMMetadataRef *nodes = hearth_ir_is_call(call) ? malloc((count + 1) * sizeof *nodes) : NULL;
  if (!nodes)
    return;
  nodes[0] = hearth_md_schema_node(md);
  for (size_t i = 0; i < count; i++)
    nodes[i + 1] = hearth_md_chained_mib(md, &md->schema, &mibs[i]);
  hearth_md_attach_nodes(md, call, callsite, n_callsite,
                         &(hearth_md_mibs){(hearth_md_mib *)mibs, count, HEARTH_MD_CHAINED, NULL, nodes});
  free(nodes);
}

bool hearth_md_fit_summary(hearth_md *md, LLVMValueRef call) {
  if (md->chained_only || !hearth_md_has_hint(call))
    return false;
  bool differ = hearth_ir_attachment(call, md->kind_memprof) != NULL;
  if (!differ && hearth_ir_attachment(call, md->kind_callsite)) {
    hearth_md_resolve(md, call, hearth_md_get_hint(call, NULL));
    return true;
  }
  if (!differ || hearth_ir_llvm_major() >= 22)
    return false;
  remove_attribute(call, ATTRIBUTE);
  return true;
}
