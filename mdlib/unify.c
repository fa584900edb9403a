/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One schema after modules with different ones were linked. Fields are matched by name; where a schema lacked a field,
 * the MIBs that followed it get a null operand there: "not recorded" is not 0.
 *
 * LLVM 15 and newer: each list of MIBs carries its schema, so nothing is ever lost. LLVM 14: a MIB does not say which
 * schema it follows; it can be told by the number of its values alone, unless two schemas have as many. */
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

/* A schema, with the place of each of its fields in the union. Strings are unique in a context: pointers compare. */
typedef struct schema {
  LLVMMetadataRef node;
  LLVMMetadataRef *names; /* without "Stack" */
  size_t *to_union;
  unsigned count;
} schema;

typedef struct unification {
  hearth_md *md;
  schema *schemas;
  unsigned count;
  LLVMMetadataRef *names; /* of the union, "Stack" first */
  size_t name_count;
  LLVMMetadataRef node; /* of the union */
  LLVMMetadataRef *scratch;
  size_t unclear; /* schemas and lists that cannot be rewritten */
  bool apply;     /* second walk */
} unification;

static size_t place_in_union(unification *u, LLVMMetadataRef name) {
  size_t i = 1;
  while (i < u->name_count && u->names[i] != name)
    i++;
  if (i == u->name_count)
    u->names[u->name_count++] = name;
  return i;
}

static bool is_repeated(const schema *s, unsigned i) {
  for (unsigned k = 0; k < i; k++)
    if (s->names[k] == s->names[i])
      return true;
  return false;
}

static bool read_schema(unification *u, LLVMMetadataRef node, schema *s) {
  unsigned n = hearth_ir_operand_count(node);
  hearth_md_schema read;
  s->node = node;
  s->count = n ? n - 1 : 0;
  s->names = malloc((n + 1) * sizeof *s->names);
  s->to_union = malloc((n + 1) * sizeof *s->to_union);
  LLVMMetadataRef *more = realloc(u->names, (u->name_count + n + 1) * sizeof *more);
  if (more)
    u->names = more;
  bool ok = s->names && s->to_union && more && hearth_md_schema_read(node, &read);
  if (ok && u->name_count == 0)
    u->names[u->name_count++] = hearth_ir_operand(node, 0);
  for (unsigned i = 1; ok && i < n; i++) {
    s->names[i - 1] = hearth_ir_operand(node, i);
    ok = !is_repeated(s, i - 1);
    if (ok)
      s->to_union[i - 1] = place_in_union(u, s->names[i - 1]);
  }
  return ok;
}

static void free_unification(unification *u) {
  for (unsigned i = 0; u->schemas && i < u->count; i++) {
    free(u->schemas[i].names);
    free(u->schemas[i].to_union);
  }
  free(u->schemas);
  free(u->names);
  free(u->scratch);
}

/* All schemas of the module. False if there are fewer than two, or one is malformed, which counts as unclear. */
static bool collect(unification *u) {
  while (hearth_md_get_schema(u->md, u->count))
    u->count++;
  u->schemas = u->count > 1 ? calloc(u->count, sizeof *u->schemas) : NULL;
  for (unsigned i = 0; u->schemas && i < u->count; i++)
    u->unclear += !read_schema(u, hearth_md_get_schema(u->md, i), &u->schemas[i]);
  u->unclear += u->name_count > HEARTH_MD_FIELDS_MAX + 1; /* nobody would read it */
  if (!u->schemas || u->unclear)
    return false;
  u->node = hearth_md_node(u->md, u->names, u->name_count);
  u->scratch = malloc(u->name_count * sizeof *u->scratch);
  return u->scratch != NULL;
}

/* By the node that the list carries, or by the number of values; NULL if that is not clear. */
static const schema *schema_of(const unification *u, LLVMMetadataRef carried, unsigned values) {
  const schema *found = NULL;
  for (unsigned i = 0; i < u->count; i++) {
    if (carried ? u->schemas[i].node != carried : u->schemas[i].count != values)
      continue;
    if (found)
      return NULL;
    found = &u->schemas[i];
  }
  return found;
}

/* The MIB in the union's order; NULL if its schema is not clear or it does not follow it. */
static LLVMMetadataRef rewrite(unification *u, LLVMMetadataRef mib, LLVMMetadataRef carried) {
  unsigned n = hearth_ir_operand_count(mib);
  const schema *s = n ? schema_of(u, carried, n - 1) : NULL;
  if (!s || s->count != n - 1)
    return NULL;
  memset(u->scratch, 0, u->name_count * sizeof *u->scratch);
  u->scratch[0] = hearth_ir_operand(mib, 0);
  for (unsigned i = 1; i < n; i++)
    u->scratch[s->to_union[i - 1]] = hearth_ir_operand(mib, i);
  return hearth_md_node(u->md, u->scratch, u->name_count);
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

static void visit(LLVMValueRef instruction, void *data) {
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
  if (collect(&u)) {
    hearth_ir_for_each_instruction(md->module, visit, &u);
    u.apply = u.unclear == 0;
  }
  if (u.apply) {
    hearth_ir_for_each_instruction(md->module, visit, &u);
    hearth_md_enter_only_schema(md, u.node);
    *ret_changed = true;
  }
  free_unification(&u);
  return u.unclear;
}
