/* Attach metadata to calls. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

#define ATTRIBUTE "memprof"

static const char *const hint_names[] = {"ambiguous", "cold", "notcold", "hot"}; /* by hearth_class */

hearth_md *hearth_md_create(LLVMModuleRef module) {
  hearth_md *md = calloc(1, sizeof *md);
  if (!md)
    return NULL;
  md->module = module;
  md->context = LLVMGetModuleContext(module);
  md->kind_memprof = LLVMGetMDKindIDInContext(md->context, "memprof", strlen("memprof"));
  md->kind_callsite = LLVMGetMDKindIDInContext(md->context, "callsite", strlen("callsite"));
  md->kind_mib = LLVMGetMDKindIDInContext(md->context, "memprof.mib", strlen("memprof.mib"));
  md->chained_only = hearth_ir_llvm_major() < 15;
  return md;
}

void hearth_md_destroy(hearth_md *md) { free(md); }

bool hearth_md_is_chained_only(const hearth_md *md) { return md->chained_only; }

/* Built from the root, so that LLVM's uniquing makes equal tails one node. No ids: the empty node. */
static LLVMMetadataRef chained_stack(hearth_md *md, const uint64_t *ids, size_t n) {
  LLVMMetadataRef node = n ? NULL : hearth_md_node(md, NULL, 0);
  while (n-- > 0) {
    LLVMMetadataRef operands[2] = {hearth_md_integer(md, 64, ids[n]), node};
    node = hearth_md_node(md, operands, node ? 2 : 1);
  }
  return node;
}

/* `!{i64 first, i64 rest...}`; NULL when out of memory. */
static LLVMMetadataRef flat_stack(hearth_md *md, uint64_t first, const uint64_t *rest, size_t n) {
  LLVMMetadataRef *operands = malloc((n + 1) * sizeof *operands);
  if (!operands)
    return NULL;
  operands[0] = hearth_md_integer(md, 64, first);
  for (size_t i = 0; i < n; i++)
    operands[i + 1] = hearth_md_integer(md, 64, rest[i]);
  LLVMMetadataRef node = hearth_md_node(md, operands, n + 1);
  free(operands);
  return node;
}

static size_t attached_depth(const hearth_md_mib *mib) {
  return mib->depth < HEARTH_MD_DEPTH_MAX ? mib->depth : HEARTH_MD_DEPTH_MAX;
}

static LLVMMetadataRef chained_mib(hearth_md *md, const hearth_md_mib *mib) {
  LLVMMetadataRef operands[HEARTH_TAG_LIMIT];
  size_t n = 0;
  operands[n++] = chained_stack(md, mib->stack, attached_depth(mib));
  const hearth_md_field *field;
  for (size_t i = 0; (field = hearth_md_field_at(i)); i++) {
    if (!field->in_default)
      continue;
    uint64_t value = field->tag == HEARTH_TAG_Hotness ? (uint64_t)mib->hotness : mib->values[field->tag];
    if (field->bits < 64 && value >> field->bits)
      value = (UINT64_C(1) << field->bits) - 1;
    operands[n++] = hearth_md_integer(md, field->bits, value);
  }
  return hearth_md_node(md, operands, n);
}

static LLVMMetadataRef flat_mib(hearth_md *md, uint64_t own_id, const hearth_md_mib *mib) {
  LLVMMetadataRef stack = flat_stack(md, own_id, mib->stack, attached_depth(mib));
  if (!stack)
    return NULL;
  LLVMMetadataRef operands[2] = {stack, hearth_md_string(md, hint_names[mib->hotness])};
  return hearth_md_node(md, operands, 2);
}

/* The class that all contexts share, else HEARTH_CLASS_UNKNOWN. */
static hearth_class common_class(const hearth_md_mib *mibs, size_t count) {
  for (size_t i = 1; i < count; i++)
    if (mibs[i].hotness != mibs[0].hotness)
      return HEARTH_CLASS_UNKNOWN;
  return mibs[0].hotness;
}

static void set_hint(hearth_md *md, LLVMValueRef call, hearth_class hint) {
  const char *name = hint_names[hint];
  LLVMRemoveCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, ATTRIBUTE, strlen(ATTRIBUTE));
  LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                           LLVMCreateStringAttribute(md->context, ATTRIBUTE, strlen(ATTRIBUTE), name, strlen(name)));
}

void hearth_md_set_callsite(hearth_md *md, LLVMValueRef call, const uint64_t *ids, size_t n) {
  LLVMMetadataRef node = md->chained_only ? chained_stack(md, ids, n) : flat_stack(md, ids[0], ids + 1, n - 1);
  if (node)
    hearth_md_set(md, call, md->kind_callsite, node);
}

bool hearth_md_remove(hearth_md *md, LLVMValueRef call) {
  bool any = false;
  unsigned kinds[] = {md->kind_memprof, md->kind_callsite, md->kind_mib};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    any |= LLVMGetMetadata(call, kinds[i]) != NULL;
    hearth_md_set(md, call, kinds[i], NULL);
  }
  if (LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, ATTRIBUTE, strlen(ATTRIBUTE))) {
    LLVMRemoveCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, ATTRIBUTE, strlen(ATTRIBUTE));
    any = true;
  }
  return any;
}

/* The flat list, which lasts no longer than the contexts differ. */
static void attach_flat(hearth_md *md, LLVMValueRef call, uint64_t own_id, const hearth_md_mib *mibs, size_t count) {
  LLVMMetadataRef *nodes = malloc(count * sizeof *nodes);
  bool complete = nodes != NULL;
  for (size_t i = 0; complete && i < count; i++)
    complete = (nodes[i] = flat_mib(md, own_id, &mibs[i])) != NULL;
  if (complete)
    hearth_md_set(md, call, md->kind_memprof, hearth_md_node(md, nodes, count));
  free(nodes);
}

void hearth_md_attach_nodes(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite,
                            const hearth_md_mib *mibs, LLVMMetadataRef *nodes, size_t count) {
  hearth_class common = common_class(mibs, count);
  hearth_md_remove(md, call);
  if (md->chained_only)
    hearth_md_set(md, call, md->kind_memprof, hearth_md_node(md, nodes + 1, count));
  else
    hearth_md_set(md, call, md->kind_mib, hearth_md_node(md, nodes, count + 1));
  if (!md->chained_only && common == HEARTH_CLASS_UNKNOWN)
    attach_flat(md, call, callsite[0], mibs, count);
  /* LLVM's inliner crashes on `!memprof` without `!callsite`; and the ids are what later pruning starts from. */
  if (n_callsite)
    hearth_md_set_callsite(md, call, callsite, n_callsite);
  set_hint(md, call, common);
}

void hearth_md_attach(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite,
                      const hearth_md_mib *mibs, size_t count) {
  LLVMMetadataRef *nodes = malloc((count + 1) * sizeof *nodes);
  if (!nodes)
    return;
  nodes[0] = hearth_md_schema(md);
  for (size_t i = 0; i < count; i++)
    nodes[i + 1] = chained_mib(md, &mibs[i]);
  hearth_md_attach_nodes(md, call, callsite, n_callsite, mibs, nodes, count);
  free(nodes);
}

hearth_class hearth_md_class_by_name(const char *name, size_t length) {
  for (int c = HEARTH_CLASS_COLD; c <= HEARTH_CLASS_HOT; c++)
    if (strlen(hint_names[c]) == length && memcmp(hint_names[c], name, length) == 0)
      return (hearth_class)c;
  return HEARTH_CLASS_UNKNOWN;
}

static LLVMAttributeRef hint_of(LLVMValueRef call) {
  return LLVMGetCallSiteStringAttribute(call, LLVMAttributeFunctionIndex, ATTRIBUTE, strlen(ATTRIBUTE));
}

bool hearth_md_has_hint(LLVMValueRef call) { return hint_of(call) != NULL; }

hearth_class hearth_md_get_hint(LLVMValueRef call, bool *ret_ambiguous) {
  unsigned length = 0;
  LLVMAttributeRef attribute = hint_of(call);
  const char *value = attribute ? LLVMGetStringAttributeValue(attribute, &length) : "";
  const char *ambiguous = hint_names[HEARTH_CLASS_UNKNOWN];
  if (ret_ambiguous)
    *ret_ambiguous = length == strlen(ambiguous) && memcmp(value, ambiguous, length) == 0;
  return hearth_md_class_by_name(value, length);
}
