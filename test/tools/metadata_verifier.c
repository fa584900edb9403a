/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The strict verifier. LLVM's own checks the flat form only, does not ask for `!callsite` and crashes on operands that
 * are null or no nodes; here every operand is looked at before it is used, and every finding is reported, not only the
 * first. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"
#include "metadata_verifier.h"

static const struct {
  const char *name, *rule;
} rules[] = {
#define HEARTH_MD_RULE(NAME, name, rule) {name, rule},
#include "md_rules.def"
};

const char *hearth_md_rule_name(hearth_md_rule rule) { return rules[rule].name; }
const char *hearth_md_rule_text(hearth_md_rule rule) { return rules[rule].rule; }

/* Stacks of the contexts of one call, as far as they are well-formed. */
typedef struct stack {
  uint64_t *ids;
  size_t depth;
  hearth_class hotness;
  hearth_placement pool;
} stack;

typedef struct verifier {
  hearth_md *md;
  hearth_md_on_finding on_finding;
  void *data;
  size_t findings;
  LLVMValueRef instruction;    /* NULL: the module */
  LLVMMetadataRef good_schema; /* the last one that was found right */
} verifier;

static void finding(verifier *v, hearth_md_rule rule, const char *format, ...) {
  char detail[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  v->findings++;
  if (v->on_finding)
    v->on_finding(&(hearth_md_finding){rule, v->instruction ? hearth_ir_function_of(v->instruction) : NULL,
                                       v->instruction, detail},
                  v->data);
}

/* -------------------------------------------------- ids and stacks -------------------------------------------------- */

static bool is_id(LLVMMetadataRef metadata, uint64_t *ret) { return hearth_ir_integer(metadata, ret) == 64; }

static bool verify_push(stack *s, size_t *capacity, uint64_t id) {
  if (s->depth == *capacity) {
    size_t more = *capacity ? *capacity * 2 : 16;
    uint64_t *ids = realloc(s->ids, more * sizeof *ids);
    if (!ids)
      return false;
    s->ids = ids;
    *capacity = more;
  }
  s->ids[s->depth++] = id;
  return true;
}

static void put_unknown_first(stack *s) {
  size_t capacity = s->depth;
  if (!verify_push(s, &capacity, 0))
    return;
  memmove(s->ids + 1, s->ids, (s->depth - 1) * sizeof *s->ids);
  s->ids[0] = 0;
}

/* Reads a chain; false after a finding. Brent's algorithm finds cycles without memory. */
static bool read_chain(verifier *v, LLVMMetadataRef node, stack *s) {
  size_t capacity = 0, steps = 0, limit = 1;
  LLVMMetadataRef landmark = NULL;
  if (hearth_ir_is_node(node) && hearth_ir_operand_count(node) == 0)
    return true;
  while (node) {
    uint64_t id;
    unsigned n = hearth_ir_operand_count(node);
    if (n < 1 || n > 2 || !is_id(hearth_ir_operand(node, 0), &id)) {
      finding(v, HEARTH_MD_RULE_CHAIN, "node %zu has %u operands, or its first is no 64-bit id", s->depth, n);
      return false;
    }
    if (node == landmark) {
      finding(v, HEARTH_MD_RULE_CYCLE, "its nodes lead back to an earlier one after %zu", s->depth);
      return false;
    }
    if (++steps == limit) {
      landmark = node;
      limit *= 2;
      steps = 0;
    }
    if (!verify_push(s, &capacity, id))
      return false;
    LLVMMetadataRef next = n == 2 ? hearth_ir_operand(node, 1) : NULL;
    if (n == 2 && !hearth_ir_is_node(next)) {
      finding(v, HEARTH_MD_RULE_CHAIN, "the caller of node %zu is no node", s->depth - 1);
      return false;
    }
    node = next;
  }
  if (s->depth <= HEARTH_MD_DEPTH_MAX)
    return true;
  finding(v, HEARTH_MD_RULE_CHAIN, "it has %zu nodes, more than %u", s->depth, HEARTH_MD_DEPTH_MAX);
  return false;
}

static bool read_flat(verifier *v, hearth_md_rule rule, LLVMMetadataRef node, stack *s) {
  size_t capacity = 0;
  unsigned n = hearth_ir_operand_count(node);
  bool ok = n > 0;
  for (unsigned i = 0; ok && i < n; i++) {
    uint64_t id;
    ok = is_id(hearth_ir_operand(node, i), &id) && verify_push(s, &capacity, id);
  }
  if (!ok)
    finding(v, rule, "it is no list of 64-bit ids");
  else if (n > HEARTH_MD_DEPTH_MAX + 1)
    finding(v, rule, "it has %u ids, more than %u", n, HEARTH_MD_DEPTH_MAX + 1);
  return ok && n <= HEARTH_MD_DEPTH_MAX + 1;
}

/* -------------------------------------------------- schema -------------------------------------------------- */

static bool check_schema(verifier *v, LLVMMetadataRef node) {
  bool seen[HEARTH_TAG_LIMIT] = {false};
  hearth_md_schema schema;
  if (node && node == v->good_schema)
    return true;
  size_t before = v->findings, length;
  if (!hearth_md_schema_read(node, &schema))
    finding(v, HEARTH_MD_RULE_SCHEMA, "it is no list of strings that begins with \"Stack\", or has more than %d fields",
            HEARTH_MD_FIELDS_MAX);
  for (unsigned i = 0; i < schema.count; i++) {
    unsigned tag = schema.tags[i];
    const char *name = hearth_ir_string(hearth_ir_operand(node, i + 1), &length);
    if (!tag)
      finding(v, HEARTH_MD_RULE_SCHEMA, "operand %u, '%.*s', is no field", i + 1, (int)length, name);
    else if (seen[tag])
      finding(v, HEARTH_MD_RULE_SCHEMA, "field %s occurs twice", hearth_md_field_name(tag));
    seen[tag] = true;
  }
  if (v->findings == before)
    v->good_schema = node;
  return v->findings == before;
}

static void check_module_schema(verifier *v) {
  LLVMMetadataRef schema;
  unsigned n = 0;
  for (; (schema = hearth_md_get_schema(v->md, n)); n++)
    check_schema(v, schema);
  if (n > 1)
    finding(v, HEARTH_MD_RULE_ONE_SCHEMA, "the module has %u schemas; hearth-unify makes them one", n);
}

/* Of a list of chained MIBs; NULL if it cannot be read, which has been reported. Reported too, but read: a schema that the
 * list carries and the module does not know. */
static const hearth_md_schema *schema_of_list(verifier *v, LLVMMetadataRef list) {
  LLVMMetadataRef entered, node = v->md->chained_only ? hearth_md_only_schema(v->md) : hearth_ir_operand(list, 0);
  if (!node) {
    finding(v, HEARTH_MD_RULE_ONE_SCHEMA, "its schema is missing, or not the only one");
    return NULL;
  }
  if (!check_schema(v, node))
    return NULL;
  for (unsigned i = 0; (entered = hearth_md_get_schema(v->md, i)); i++)
    if (entered == node)
      return hearth_md_read_schema(v->md, node);
  finding(v, HEARTH_MD_RULE_ONE_SCHEMA, "its schema is not in memprof.schema");
  return hearth_md_read_schema(v->md, node);
}

/* -------------------------------------------------- contexts -------------------------------------------------- */

static void check_value(verifier *v, LLVMMetadataRef value, const hearth_md_field *field, stack *s) {
  uint64_t number;
  if (!value) /* not recorded */
    return;
  unsigned bits = hearth_ir_integer(value, &number);
  if (bits == 0) {
    finding(v, HEARTH_MD_RULE_WIDTH, "the value of %s is no integer of up to 64 bits", field->name);
    return;
  }
  if ((bits != 8 && bits != 16 && bits != 32 && bits != 64) || bits > field->bits) {
    finding(v, HEARTH_MD_RULE_WIDTH, "the value of %s has %u bits, its field %u", field->name, bits, field->bits);
    return;
  }
  if (field->tag == HEARTH_TAG_Hotness && (number < HEARTH_CLASS_COLD || number > HEARTH_CLASS_HOT))
    finding(v, HEARTH_MD_RULE_HOTNESS, "it is %" PRIu64, number);
  else if (field->tag == HEARTH_TAG_Hotness)
    s->hotness = (hearth_class)number;
  else if (field->tag == HEARTH_TAG_Pool && number >= HEARTH_POOLS_MAX)
    finding(v, HEARTH_MD_RULE_POOL, "it is %" PRIu64, number);
  else if (field->tag == HEARTH_TAG_Pool)
    s->pool = (hearth_placement)(HEARTH_PLACEMENT_POOL + number);
}

/* False if the stack could not be read. `schema` is NULL if that could not be. */
static bool check_chained_mib(verifier *v, LLVMMetadataRef mib, const hearth_md_schema *schema, stack *s) {
  unsigned n = hearth_ir_operand_count(mib);
  if (n == 0) {
    finding(v, HEARTH_MD_RULE_LIST, "a MIB is no node, or an empty one");
    return false;
  }
  if (schema && n != schema->count + 1)
    finding(v, HEARTH_MD_RULE_ARITY, "it has %u values, its schema %zu fields", n - 1, schema->count);
  for (unsigned i = 1; schema && i < n && i <= schema->count; i++) {
    const hearth_md_field *field = hearth_md_field_by_tag(schema->tags[i - 1]);
    if (field)
      check_value(v, hearth_ir_operand(mib, i), field, s);
  }
  if (s->pool && s->hotness < HEARTH_CLASS_NOTCOLD)
    finding(v, HEARTH_MD_RULE_POOL, "its context is %s", s->hotness == HEARTH_CLASS_COLD ? "cold" : "of no class");
  LLVMMetadataRef chain = hearth_ir_operand(mib, 0);
  if (!chain)
    finding(v, HEARTH_MD_RULE_CHAIN, "a MIB has no stack");
  return chain && read_chain(v, chain, s);
}

static bool check_flat_mib(verifier *v, LLVMMetadataRef mib, stack *s) {
  size_t length;
  unsigned n = hearth_ir_operand_count(mib);
  if (n == 0) {
    finding(v, HEARTH_MD_RULE_LIST, "a MIB is no node, or an empty one");
    return false;
  }
  const char *type = hearth_ir_string(hearth_ir_operand(mib, 1), &length);
  s->hotness = type ? hearth_md_class_by_name(type, length) : HEARTH_CLASS_UNKNOWN;
  if (s->hotness == HEARTH_CLASS_UNKNOWN)
    finding(v, HEARTH_MD_RULE_FLAT_TYPE, "it is '%.*s'", type ? (int)length : 0, type ? type : "");
  for (unsigned i = 2; i < n; i++) {
    uint64_t number;
    LLVMMetadataRef pair = hearth_ir_operand(mib, i);
    if (!hearth_ir_flat_mibs_have_pairs() || hearth_ir_operand_count(pair) != 2 ||
        !hearth_ir_integer(hearth_ir_operand(pair, 0), &number) ||
        !hearth_ir_integer(hearth_ir_operand(pair, 1), &number))
      finding(v, HEARTH_MD_RULE_FLAT_EXTRA, "operand %u is none", i);
  }
  return read_flat(v, HEARTH_MD_RULE_FLAT_STACK, hearth_ir_operand(mib, 0), s);
}

static int verify_compare_stacks(const void *a, const void *b) {
  const stack *x = a, *y = b;
  for (size_t i = 0; i < x->depth && i < y->depth; i++)
    if (x->ids[i] != y->ids[i])
      return x->ids[i] < y->ids[i] ? -1 : 1;
  if (x->depth != y->depth)
    return x->depth < y->depth ? -1 : 1;
  if (x->hotness != y->hotness)
    return x->hotness < y->hotness ? -1 : 1;
  return (x->pool > y->pool) - (x->pool < y->pool);
}

/* `own` ids of each stack are the call's own: 1 in the flat form, 0 in the chained one. */
static void check_together(verifier *v, stack *stacks, size_t n, size_t own, const stack *callsite) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = own, c = 1; k < stacks[i].depth && c < callsite->depth; k++, c++)
      if (callsite->ids[c] && stacks[i].ids[k] && stacks[i].ids[k] != callsite->ids[c]) {
        finding(v, HEARTH_MD_RULE_PREFIX, "context %zu has %" PRIu64 " where the callsite has %" PRIu64, i,
                stacks[i].ids[k], callsite->ids[c]);
        break;
      }
  for (size_t i = 0; own && callsite->depth && i < n; i++)
    if (stacks[i].depth && stacks[i].ids[0] != callsite->ids[0])
      finding(v, HEARTH_MD_RULE_PREFIX, "context %zu begins with another id than the callsite", i);
  qsort(stacks, n, sizeof *stacks, verify_compare_stacks);
  for (size_t i = 1; i < n; i++)
    if (verify_compare_stacks(&stacks[i - 1], &stacks[i]) == 0)
      finding(v, HEARTH_MD_RULE_DUPLICATE, "a stack of %zu ids occurs twice", stacks[i].depth);
}

/* May the attribute say `hint` (UNKNOWN: ambiguous)? Contexts without class contradict nothing. */
static bool is_fitting_hint(hearth_class hint, const stack *stacks, size_t n) {
  bool any_unknown = n == 0, known_differ = false;
  hearth_class known = HEARTH_CLASS_UNKNOWN;
  for (size_t i = 0; i < n; i++) {
    hearth_class class = stacks[i].hotness;
    any_unknown |= class == HEARTH_CLASS_UNKNOWN;
    known_differ |= class != HEARTH_CLASS_UNKNOWN && known != HEARTH_CLASS_UNKNOWN && class != known;
    known = class != HEARTH_CLASS_UNKNOWN ? class : known;
  }
  if (hint == HEARTH_CLASS_UNKNOWN)
    return any_unknown || known_differ;
  return known == HEARTH_CLASS_UNKNOWN || (!known_differ && hint == known);
}

static void check_hint(verifier *v, LLVMValueRef call, const stack *stacks, size_t n) {
  bool ambiguous;
  hearth_class hint = hearth_md_get_hint(call, &ambiguous);
  if (!ambiguous && hint == HEARTH_CLASS_UNKNOWN) {
    if (hearth_md_has_hint(call))
      finding(v, HEARTH_MD_RULE_HINT, "its value is none of them");
    return;
  }
  bool may_be_ambiguous = is_fitting_hint(HEARTH_CLASS_UNKNOWN, stacks, n);
  if (!is_fitting_hint(hint, stacks, n))
    finding(v, HEARTH_MD_RULE_HINT, "it says %s, the contexts %s", hearth_md_class_name(hint),
            hearth_md_class_name(may_be_ambiguous ? HEARTH_CLASS_UNKNOWN : stacks[0].hotness));
}

/* Contexts without any pool say nothing: the flat form has none. */
static void check_pool(verifier *v, LLVMValueRef call, const stack *stacks, size_t n) {
  hearth_placement pool, common = HEARTH_MD_NO_CONTEXT;
  for (size_t i = 0; i < n; i++)
    common = hearth_md_join_pool(common, stacks[i].hotness, stacks[i].pool);
  if (!hearth_md_read_pool(call, &pool))
    finding(v, HEARTH_MD_RULE_POOL, "the attribute's value is none");
  else if (common != 0 && common != HEARTH_MD_NO_CONTEXT && pool != common)
    finding(v, HEARTH_MD_RULE_POOL, "the attribute says another one than the contexts");
}

static void check_list(verifier *v, LLVMValueRef call, LLVMMetadataRef list, bool chained, const stack *callsite) {
  unsigned n = hearth_ir_operand_count(list), first = chained && !v->md->chained_only ? 1 : 0;
  stack *stacks = calloc(n + 1, sizeof *stacks);
  size_t good = 0;
  if (n <= first)
    finding(v, HEARTH_MD_RULE_LIST, "it lists nothing, or is no node");
  const hearth_md_schema *schema = chained && n > first ? schema_of_list(v, list) : NULL;
  for (unsigned i = first; stacks && i < n; i++) {
    stack *s = &stacks[good];
    LLVMMetadataRef mib = hearth_ir_operand(list, i);
    if (chained ? check_chained_mib(v, mib, schema, s) : check_flat_mib(v, mib, s))
      good++;
    else
      free(s->ids), *s = (stack){0};
  }
  if (stacks) {
    check_together(v, stacks, good, chained ? 0 : 1, callsite);
    check_hint(v, call, stacks, good);
    check_pool(v, call, stacks, good);
    for (size_t i = 0; i < good; i++)
      free(stacks[i].ids);
  }
  free(stacks);
}

/* -------------------------------------------------- module -------------------------------------------------- */

static void check_instruction(LLVMValueRef instruction, void *data) {
  verifier *v = data;
  hearth_md *md = v->md;
  LLVMMetadataRef memprof = hearth_ir_attachment(instruction, md->kind_memprof);
  LLVMMetadataRef chained = md->chained_only ? memprof : hearth_ir_attachment(instruction, md->kind_mib);
  LLVMMetadataRef callsite = hearth_ir_attachment(instruction, md->kind_callsite);
  stack ids = {0};
  v->instruction = instruction;
  if (!hearth_ir_is_call(instruction)) {
    if (memprof || chained || callsite)
      finding(v, HEARTH_MD_RULE_ON_CALL, "this is none");
    return;
  }
  if (callsite &&
      !(md->chained_only ? read_chain(v, callsite, &ids) : read_flat(v, HEARTH_MD_RULE_CALLSITE, callsite, &ids)))
    ids.depth = 0;
  bool lacks_own_id = hearth_md_lacks_own_id(md, instruction);
  if (lacks_own_id && ids.depth)
    put_unknown_first(&ids);
  if (callsite && md->chained_only && hearth_ir_operand_count(callsite) == 0)
    finding(v, HEARTH_MD_RULE_CALLSITE, "it has no id");
  if (memprof && !callsite && !lacks_own_id)
    finding(v, HEARTH_MD_RULE_NEEDS_CALLSITE, "it has none");
  if (chained)
    check_list(v, instruction, chained, true, &ids);
  if (memprof && !md->chained_only)
    check_list(v, instruction, memprof, false, &ids);
  if (!chained && !memprof) {
    check_hint(v, instruction, NULL, 0);
    check_pool(v, instruction, NULL, 0);
  }
  free(ids.ids);
}

size_t hearth_md_verify(hearth_md *md, hearth_md_on_finding on_finding, void *data) {
  verifier v = {.md = md, .on_finding = on_finding, .data = data};
  check_module_schema(&v);
  hearth_ir_for_each_instruction(md->module, check_instruction, &v);
  return v.findings;
}

void hearth_md_describe_finding(const hearth_md_finding *finding, char *buffer, size_t size) {
  char *instruction = finding->instruction ? LLVMPrintValueToString(finding->instruction) : NULL;
  size_t length = 0;
  const char *function = finding->function ? LLVMGetValueName2(finding->function, &length) : "";
  snprintf(buffer, size, "%.*s%s%s (%s)%s%.160s [%s]", (int)length, function, length ? ": " : "",
           hearth_md_rule_text(finding->rule), finding->detail, instruction ? " in:" : "",
           instruction ? instruction : "", hearth_md_rule_name(finding->rule));
  LLVMDisposeMessage(instruction);
}
