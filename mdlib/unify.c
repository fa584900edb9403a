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
} unification;

static size_t place_in_union(unification *u, LLVMMetadataRef name) {
  size_t i = 1;
  while (i < u->name_count && u->names[i] != name)
    i++;
  if (i == u->name_count)
    u->names[u->name_count++] = name;
  return i;
}

static bool read_schema(unification *u, LLVMValueRef node, schema *s) {
  unsigned n;
  LLVMValueRef *operands = hearth_md_operands(node, &n);
  bool ok = n > 0;
  s->node = ok ? LLVMValueAsMetadata(node) : NULL;
  s->count = ok ? n - 1 : 0;
  s->names = malloc(n * sizeof *s->names);
  s->to_union = malloc(n * sizeof *s->to_union);
  LLVMMetadataRef *more = realloc(u->names, (u->name_count + n + 1) * sizeof *more);
  if (more)
    u->names = more;
  ok = ok && s->names && s->to_union && more;
  for (unsigned i = 0; ok && i < n; i++) {
    unsigned length;
    ok = hearth_md_as_string(operands[i], &length) != NULL;
    if (ok && i == 0 && u->name_count == 0)
      u->names[u->name_count++] = LLVMValueAsMetadata(operands[0]);
    if (!ok || i == 0)
      continue;
    s->names[i - 1] = LLVMValueAsMetadata(operands[i]);
    s->to_union[i - 1] = place_in_union(u, s->names[i - 1]);
  }
  free(operands);
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

/* All schemas of the module. False if there are fewer than two, or one is malformed. */
static bool collect(unification *u) {
  unsigned n = LLVMGetNamedMetadataNumOperands(u->md->module, HEARTH_MD_SCHEMA_NAME);
  LLVMValueRef *nodes = n > 1 ? malloc(n * sizeof(LLVMValueRef)) : NULL;
  u->schemas = nodes ? calloc(n, sizeof *u->schemas) : NULL;
  bool ok = u->schemas != NULL;
  if (ok)
    LLVMGetNamedMetadataOperands(u->md->module, HEARTH_MD_SCHEMA_NAME, nodes);
  for (; ok && u->count < n; u->count++)
    ok = hearth_md_is_node(nodes[u->count]) && read_schema(u, nodes[u->count], &u->schemas[u->count]);
  if (ok) {
    u->node = hearth_md_node(u->md, u->names, u->name_count);
    u->scratch = malloc(u->name_count * sizeof *u->scratch);
  }
  free(nodes);
  return ok && u->scratch;
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
static LLVMMetadataRef rewrite(unification *u, LLVMValueRef mib, LLVMMetadataRef carried) {
  unsigned n;
  LLVMMetadataRef result = NULL;
  LLVMValueRef *operands = hearth_md_operands(mib, &n);
  const schema *s = n ? schema_of(u, carried, n - 1) : NULL;
  if (s && s->count == n - 1) {
    memset(u->scratch, 0, u->name_count * sizeof *u->scratch);
    u->scratch[0] = hearth_md_as_metadata(u->md, operands[0]);
    for (unsigned i = 1; i < n; i++)
      u->scratch[s->to_union[i - 1]] = hearth_md_as_metadata(u->md, operands[i]);
    result = hearth_md_node(u->md, u->scratch, u->name_count);
  }
  free(operands);
  return result;
}

/* The list in the union's order; NULL if one of its MIBs cannot be rewritten. */
static LLVMMetadataRef rewrite_list(unification *u, LLVMValueRef list) {
  unsigned n, first = u->md->chained_only ? 0 : 1;
  LLVMValueRef *operands = hearth_md_operands(list, &n);
  LLVMMetadataRef carried = first && n && operands[0] ? LLVMValueAsMetadata(operands[0]) : NULL;
  LLVMMetadataRef *nodes = malloc((n + 1) * sizeof *nodes), result = NULL;
  bool clear = nodes != NULL && n > first;
  if (clear && first)
    nodes[0] = u->node;
  for (unsigned i = first; clear && i < n; i++)
    clear = (nodes[i] = rewrite(u, operands[i], carried)) != NULL;
  if (clear)
    result = hearth_md_node(u->md, nodes, n);
  free(nodes);
  free(operands);
  return result;
}

/* Returns the number of lists that cannot be rewritten; rewrites the others if `apply`. */
static size_t walk(unification *u, bool apply) {
  size_t unclear = 0;
  unsigned kind = u->md->chained_only ? u->md->kind_memprof : u->md->kind_mib;
  for (LLVMValueRef f = LLVMGetFirstFunction(u->md->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef list = LLVMGetMetadata(i, kind);
        LLVMMetadataRef unified = list ? rewrite_list(u, list) : NULL;
        unclear += list && !unified;
        if (unified && apply)
          hearth_md_set(u->md, i, kind, unified);
      }
  return unclear;
}

size_t hearth_md_unify(hearth_md *md, bool *ret_changed) {
  unification u = {.md = md};
  size_t unclear = 0;
  *ret_changed = false;
  /* All or nothing: half of the MIBs in another order would make the others unreadable. */
  if (collect(&u) && (unclear = walk(&u, false)) == 0) {
    walk(&u, true);
    hearth_ir_clear_named_metadata(md->module, HEARTH_MD_SCHEMA_NAME);
    LLVMAddNamedMetadataOperand(md->module, HEARTH_MD_SCHEMA_NAME, LLVMMetadataAsValue(md->context, u.node));
    md->schema = md->last_schema = NULL;
    *ret_changed = true;
  }
  free_unification(&u);
  return unclear;
}
