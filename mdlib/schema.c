/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The schema of MIB values: which fields, in which order, with which width. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

static const hearth_md_field fields[] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) {#Name, tag, ir_bits, ir_default},
#define HEARTH_MIB_DERIVED(tag, Name, unit, numerator, denominator, ir_bits, ir_default, description)                  \
  {#Name, tag, ir_bits, ir_default},
#include "hearth/mib_fields.def"
    {"Hotness", HEARTH_TAG_Hotness, 32, true},
    {"Pool", HEARTH_TAG_Pool, 8, false},
};
#define FIELD_COUNT (sizeof fields / sizeof fields[0])

static const char first_name[] = "Stack"; /* of every schema: MIBs begin with their stack */

const hearth_md_field *hearth_md_field_by_tag(unsigned tag) {
  for (size_t i = 0; i < FIELD_COUNT; i++)
    if (fields[i].tag == tag)
      return &fields[i];
  return NULL;
}

const char *hearth_md_field_name(unsigned tag) {
  const hearth_md_field *field = hearth_md_field_by_tag(tag);
  return field ? field->name : NULL;
}

unsigned hearth_md_field_tag(const char *name, size_t length) {
  for (size_t i = 0; i < FIELD_COUNT; i++)
    if (strlen(fields[i].name) == length && memcmp(fields[i].name, name, length) == 0)
      return fields[i].tag;
  return 0;
}

/* -------------------------------------------------- values -------------------------------------------------- */

void hearth_md_schema_default(hearth_md_schema *ret) {
  ret->count = 0;
  for (size_t i = 0; i < FIELD_COUNT; i++)
    if (fields[i].in_default)
      ret->tags[ret->count++] = (unsigned char)fields[i].tag;
}

/* -------------------------------------------------- nodes -------------------------------------------------- */

LLVMMetadataRef hearth_md_schema_create(hearth_md *md, const hearth_md_schema *schema) {
  LLVMMetadataRef names[HEARTH_MD_FIELDS_MAX + 1] = {hearth_md_string(md, first_name)};
  uint64_t seen = 0;
  if (schema->count > HEARTH_MD_FIELDS_MAX)
    return NULL;
  for (size_t i = 0; i < schema->count; i++) {
    const hearth_md_field *field = hearth_md_field_by_tag(schema->tags[i]);
    if (!field || seen >> field->tag & 1)
      return NULL;
    seen |= UINT64_C(1) << field->tag;
    names[i + 1] = hearth_md_string(md, field->name);
  }
  return hearth_md_node(md, names, schema->count + 1);
}

bool hearth_md_schema_read(LLVMMetadataRef node, hearth_md_schema *ret) {
  size_t length;
  unsigned n = hearth_ir_operand_count(node);
  const char *first = hearth_ir_string(hearth_ir_operand(node, 0), &length);
  ret->count = 0;
  if (!first || length != strlen(first_name) || memcmp(first, first_name, length) != 0 || n - 1 > HEARTH_MD_FIELDS_MAX)
    return false;
  for (unsigned i = 1; i < n; i++) {
    const char *name = hearth_ir_string(hearth_ir_operand(node, i), &length);
    if (!name)
      return ret->count = 0, false;
    ret->tags[ret->count++] = (unsigned char)hearth_md_field_tag(name, length);
  }
  return true;
}

const hearth_md_schema *hearth_md_read_schema(hearth_md *md, LLVMMetadataRef node) {
  if (!node || node != md->last_node) {
    md->last_ok = hearth_md_schema_read(node, &md->last_schema);
    md->last_node = node;
  }
  return md->last_ok ? &md->last_schema : NULL;
}

/* -------------------------------------------------- module -------------------------------------------------- */

static LLVMMetadataRef entered_at(const hearth_md *md, unsigned i) {
  return hearth_ir_named_operand(md->module, HEARTH_MD_SCHEMA_NAME, i);
}

static bool is_entered_before(const hearth_md *md, unsigned i) {
  unsigned before = 0;
  while (before < i && entered_at(md, before) != entered_at(md, i))
    before++;
  return before < i;
}

/* LLVM 14's and 19's linkers enter a schema once for each module that has it. */
LLVMMetadataRef hearth_md_get_schema(hearth_md *md, unsigned index) {
  for (unsigned i = 0, n = LLVMGetNamedMetadataNumOperands(md->module, HEARTH_MD_SCHEMA_NAME); i < n; i++)
    if (!is_entered_before(md, i) && index-- == 0)
      return entered_at(md, i);
  return NULL;
}

LLVMMetadataRef hearth_md_only_schema(hearth_md *md) {
  return hearth_md_get_schema(md, 1) ? NULL : hearth_md_get_schema(md, 0);
}

bool hearth_md_use_schema(hearth_md *md, const hearth_md_schema *schema) {
  if (!hearth_md_schema_create(md, schema))
    return false;
  md->schema = *schema;
  md->schema_node = NULL;
  return true;
}

static void schema_enter(hearth_md *md, LLVMMetadataRef node) {
  LLVMAddNamedMetadataOperand(md->module, HEARTH_MD_SCHEMA_NAME, LLVMMetadataAsValue(md->context, node));
}

LLVMMetadataRef hearth_md_schema_node(hearth_md *md) {
  LLVMMetadataRef entered;
  if (md->schema_node)
    return md->schema_node;
  md->schema_node = hearth_md_schema_create(md, &md->schema);
  for (unsigned i = 0; (entered = hearth_md_get_schema(md, i)); i++)
    if (entered == md->schema_node)
      return entered;
  schema_enter(md, md->schema_node);
  return md->schema_node;
}

/* ------------------------------------------------ unify ------------------------------------------------ */

/* One schema after modules with different ones were linked. Fields are matched by name; where a schema lacked a field,
 * the MIBs that followed it get a null operand there: "not recorded" is not 0.
 *
 * LLVM 15 and newer: each list of MIBs carries its schema, so nothing is ever lost. LLVM 14: a MIB does not say which
 * schema it follows; it can be told by the number of its values alone, unless two schemas have as many. */

typedef struct unification {
  hearth_md *md;
  LLVMMetadataRef *schemas;
  unsigned count;
  LLVMMetadataRef names[HEARTH_MD_FIELDS_MAX + 1]; /* of the union, "Stack" first. Strings are unique in a context */
  size_t name_count;
  LLVMMetadataRef node; /* of the union */
  size_t unclear;       /* schemas and lists that cannot be rewritten */
  bool apply;           /* second walk */
} unification;

/* Behind all names: it is none of them. */
static size_t place_in_union(const unification *u, LLVMMetadataRef name) {
  size_t i = 0;
  while (i < u->name_count && u->names[i] != name)
    i++;
  return i;
}

static bool is_repeated(LLVMMetadataRef schema, unsigned i) {
  for (unsigned k = 0; k < i; k++)
    if (hearth_ir_operand(schema, k) == hearth_ir_operand(schema, i))
      return true;
  return false;
}

/* False: it is malformed, or the union is longer than what anybody reads. */
static bool add_to_union(unification *u, LLVMMetadataRef schema) {
  hearth_md_schema read;
  bool ok = hearth_md_schema_read(schema, &read);
  for (unsigned i = 0, n = hearth_ir_operand_count(schema); ok && i < n; i++) {
    size_t place = place_in_union(u, hearth_ir_operand(schema, i));
    ok = !is_repeated(schema, i) && place <= HEARTH_MD_FIELDS_MAX;
    if (ok && place == u->name_count)
      u->names[u->name_count++] = hearth_ir_operand(schema, i);
  }
  return ok;
}

/* All schemas of the module. False if there are fewer than two, or one is malformed, which counts as unclear. */
static bool schema_collect(unification *u) {
  unsigned n = LLVMGetNamedMetadataNumOperands(u->md->module, HEARTH_MD_SCHEMA_NAME);
  u->schemas = hearth_md_get_schema(u->md, 1) ? malloc(n * sizeof *u->schemas) : NULL;
  for (unsigned i = 0; u->schemas && i < n; i++)
    if (!is_entered_before(u->md, i)) {
      u->schemas[u->count++] = entered_at(u->md, i);
      u->unclear += !add_to_union(u, entered_at(u->md, i));
    }
  if (!u->schemas || u->unclear)
    return false;
  u->node = hearth_md_node(u->md, u->names, u->name_count);
  return true;
}

/* By the node that the list carries, or by the number of operands; NULL if that is not clear. */
static LLVMMetadataRef schema_of(const unification *u, LLVMMetadataRef carried, unsigned operands) {
  LLVMMetadataRef found = NULL;
  for (unsigned i = 0; i < u->count; i++) {
    if (carried ? u->schemas[i] != carried : hearth_ir_operand_count(u->schemas[i]) != operands)
      continue;
    if (found)
      return NULL;
    found = u->schemas[i];
  }
  return found;
}

/* The MIB in the union's order; NULL if its schema is not clear or it does not follow it. */
static LLVMMetadataRef rewrite(const unification *u, LLVMMetadataRef mib, LLVMMetadataRef carried) {
  LLVMMetadataRef operands[HEARTH_MD_FIELDS_MAX + 1] = {NULL};
  unsigned n = hearth_ir_operand_count(mib);
  LLVMMetadataRef schema = n ? schema_of(u, carried, n) : NULL;
  if (!schema || hearth_ir_operand_count(schema) != n)
    return NULL;
  for (unsigned i = 0; i < n; i++)
    operands[place_in_union(u, hearth_ir_operand(schema, i))] = hearth_ir_operand(mib, i);
  return hearth_md_node(u->md, operands, u->name_count);
}

/* The list in the union's order; NULL if one of its MIBs cannot be rewritten. */
static LLVMMetadataRef rewrite_list(unification *u, LLVMMetadataRef list) {
  unsigned n = hearth_ir_operand_count(list), first = u->md->chained_only ? 0 : 1;
  LLVMMetadataRef carried = first ? hearth_ir_operand(list, 0) : NULL, result = NULL;
  LLVMMetadataRef *nodes = malloc((n + 1) * sizeof *nodes);
  bool clear = nodes != NULL && n > first && (carried || !first);
  if (clear && first)
    nodes[0] = u->node;
  for (unsigned i = first; clear && i < n; i++)
    clear = (nodes[i] = rewrite(u, hearth_ir_operand(list, i), carried)) != NULL;
  if (clear)
    result = hearth_md_node(u->md, nodes, n);
  free(nodes);
  return result;
}

static void schema_visit(LLVMValueRef instruction, void *data) {
  unification *u = data;
  unsigned kind = u->md->chained_only ? u->md->kind_memprof : u->md->kind_mib;
  LLVMMetadataRef list = hearth_ir_attachment(instruction, kind);
  LLVMMetadataRef unified = list ? rewrite_list(u, list) : NULL;
  u->unclear += list && !unified;
  if (unified && u->apply)
    hearth_md_set(u->md, instruction, kind, unified);
}

size_t hearth_md_unify(hearth_md *md, bool *ret_changed) {
  unification u = {.md = md};
  *ret_changed = false;
  /* All or nothing: half of the MIBs in another order would make the others unreadable. */
  if (schema_collect(&u)) {
    hearth_ir_for_each_instruction(md->module, schema_visit, &u);
    u.apply = u.unclear == 0;
  }
  if (u.apply) {
    hearth_ir_for_each_instruction(md->module, schema_visit, &u);
    hearth_ir_clear_named_metadata(md->module, HEARTH_MD_SCHEMA_NAME);
    schema_enter(md, u.node);
    md->schema_node = NULL;
    *ret_changed = true;
  }
  free(u.schemas);
  return u.unclear;
}
