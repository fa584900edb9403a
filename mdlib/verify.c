/* The strict verifier. LLVM's own checks the flat form only, does not ask for `!callsite` and crashes on operands that
 * are null or no nodes; here every operand is looked at before it is used, and every finding is reported, not only the
 * first. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "md_internal.h"

static const struct {
  const char *name, *rule;
} rules[] = {
#define HEARTH_MD_RULE(NAME, name, rule) {name, rule},
#include "hearth/md_rules.def"
};

const char *hearth_md_rule_name(hearth_md_rule rule) { return rules[rule].name; }
const char *hearth_md_rule_text(hearth_md_rule rule) { return rules[rule].rule; }

/* Stacks of the contexts of one call, as far as they are well-formed. */
typedef struct stack {
  uint64_t *ids;
  size_t depth;
  uint64_t hotness; /* or a number for the flat form's string */
} stack;

typedef struct verifier {
  hearth_md *md;
  hearth_md_report report;
  void *data;
  size_t findings;
  LLVMValueRef function, instruction;
  LLVMMetadataRef good_schema; /* the last one that was found right */
} verifier;

static void finding(verifier *v, hearth_md_rule rule, const char *format, ...) {
  char detail[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  v->findings++;
  if (v->report)
    v->report(&(hearth_md_finding){rule, v->function, v->instruction, detail}, v->data);
}

/* -------------------------------------------------- ids and stacks -------------------------------------------------- */

static bool is_id(LLVMValueRef value, uint64_t *ret) {
  return hearth_md_as_integer(value, ret) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 64;
}

static bool push(stack *s, size_t *capacity, uint64_t id) {
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

/* Reads a chain; false after a finding. Brent's algorithm finds cycles without memory. */
static bool read_chain(verifier *v, LLVMValueRef node, stack *s) {
  size_t capacity = 0, steps = 0, limit = 1;
  LLVMMetadataRef landmark = NULL;
  if (hearth_md_is_node(node) && hearth_md_operand_count(node) == 0)
    return true;
  while (node) {
    uint64_t id;
    unsigned n = hearth_md_operand_count(node);
    if (n < 1 || n > 2 || !is_id(hearth_md_operand(node, 0), &id)) {
      finding(v, HEARTH_MD_RULE_CHAIN, "node %zu has %u operands, or its first is no 64-bit id", s->depth, n);
      return false;
    }
    if (LLVMValueAsMetadata(node) == landmark) {
      finding(v, HEARTH_MD_RULE_CYCLE, "its nodes lead back to an earlier one after %zu", s->depth);
      return false;
    }
    if (++steps == limit) {
      landmark = LLVMValueAsMetadata(node);
      limit *= 2;
      steps = 0;
    }
    if (!push(s, &capacity, id))
      return false;
    LLVMValueRef next = n == 2 ? hearth_md_operand(node, 1) : NULL;
    if (n == 2 && !hearth_md_is_node(next)) {
      finding(v, HEARTH_MD_RULE_CHAIN, "the caller of node %zu is no node", s->depth - 1);
      return false;
    }
    node = next;
  }
  return true;
}

static bool read_flat(verifier *v, hearth_md_rule rule, LLVMValueRef node, stack *s) {
  size_t capacity = 0;
  unsigned n;
  LLVMValueRef *operands = hearth_md_operands(node, &n);
  bool ok = n > 0;
  for (unsigned i = 0; ok && i < n; i++) {
    uint64_t id;
    ok = is_id(operands[i], &id) && push(s, &capacity, id);
  }
  free(operands);
  if (!ok)
    finding(v, rule, "it is no list of 64-bit ids");
  return ok;
}

/* -------------------------------------------------- schema -------------------------------------------------- */

static bool check_schema(verifier *v, LLVMValueRef node) {
  bool seen[HEARTH_TAG_LIMIT] = {false};
  unsigned n, length;
  if (hearth_md_is_node(node) && LLVMValueAsMetadata(node) == v->good_schema)
    return true;
  size_t before = v->findings;
  LLVMValueRef *names = hearth_md_operands(node, &n);
  const char *first = n ? hearth_md_as_string(names[0], &length) : NULL;
  if (!first || length != strlen("Stack") || memcmp(first, "Stack", length) != 0)
    finding(v, HEARTH_MD_RULE_SCHEMA, "it is no node that begins with \"Stack\"");
  for (unsigned i = 1; i < n; i++) {
    const char *name = hearth_md_as_string(names[i], &length);
    const hearth_md_field *field = name ? hearth_md_field_by_name(name, length) : NULL;
    if (!field)
      finding(v, HEARTH_MD_RULE_SCHEMA, "operand %u, '%.*s', is no field", i, name ? (int)length : 0, name ? name : "");
    else if (seen[field->tag])
      finding(v, HEARTH_MD_RULE_SCHEMA, "field %s occurs twice", field->name);
    if (field)
      seen[field->tag] = true;
  }
  free(names);
  if (v->findings == before)
    v->good_schema = LLVMValueAsMetadata(node);
  return v->findings == before;
}

static void check_module_schema(verifier *v) {
  unsigned n = LLVMGetNamedMetadataNumOperands(v->md->module, HEARTH_MD_SCHEMA_NAME);
  LLVMValueRef *schemas = n ? malloc(n * sizeof(LLVMValueRef)) : NULL;
  if (!schemas)
    return;
  LLVMGetNamedMetadataOperands(v->md->module, HEARTH_MD_SCHEMA_NAME, schemas);
  for (unsigned i = 0; i < n; i++)
    check_schema(v, schemas[i]);
  if (n > 1)
    finding(v, HEARTH_MD_RULE_ONE_SCHEMA, "the module has %u schemas; hearth-unify makes them one", n);
  free(schemas);
}

/* -------------------------------------------------- contexts -------------------------------------------------- */

static void check_value(verifier *v, LLVMValueRef value, const hearth_md_field *field, stack *s) {
  uint64_t number;
  if (!value) /* not recorded */
    return;
  unsigned bits = LLVMIsAConstantInt(value) ? LLVMGetIntTypeWidth(LLVMTypeOf(value)) : 0;
  if ((bits != 8 && bits != 16 && bits != 32 && bits != 64) || bits > field->bits) {
    finding(v, HEARTH_MD_RULE_WIDTH, "the value of %s has %u bits, its field %u", field->name, bits, field->bits);
    return;
  }
  if (field->tag != HEARTH_TAG_Hotness || !hearth_md_as_integer(value, &number))
    return;
  s->hotness = number;
  if (number < HEARTH_CLASS_COLD || number > HEARTH_CLASS_HOT)
    finding(v, HEARTH_MD_RULE_HOTNESS, "it is %" PRIu64, number);
}

/* False if the stack could not be read. `tags` has `n_tags` entries, -1 where the schema could not be read. */
static bool check_chained_mib(verifier *v, LLVMValueRef mib, const unsigned *tags, int n_tags, stack *s) {
  unsigned n;
  LLVMValueRef *operands = hearth_md_operands(mib, &n);
  if (n == 0) {
    finding(v, HEARTH_MD_RULE_LIST, "a MIB is no node, or an empty one");
    return false;
  }
  if (n_tags >= 0 && n != (unsigned)n_tags + 1)
    finding(v, HEARTH_MD_RULE_ARITY, "it has %u values, its schema %d fields", n - 1, n_tags);
  for (unsigned i = 1; i < n && (int)i <= n_tags; i++) {
    const hearth_md_field *field = hearth_md_field_by_tag(tags[i - 1]);
    if (field)
      check_value(v, operands[i], field, s);
  }
  bool ok = read_chain(v, operands[0], s);
  if (operands[0] == NULL)
    finding(v, HEARTH_MD_RULE_CHAIN, "a MIB has no stack"), ok = false;
  free(operands);
  return ok;
}

static bool check_flat_mib(verifier *v, LLVMValueRef mib, stack *s) {
  unsigned n, length;
  LLVMValueRef *operands = hearth_md_operands(mib, &n);
  if (n == 0) {
    finding(v, HEARTH_MD_RULE_LIST, "a MIB is no node, or an empty one");
    return false;
  }
  const char *type = n > 1 ? hearth_md_as_string(operands[1], &length) : NULL;
  s->hotness = type ? (uint64_t)hearth_md_class_by_name(type, length) : HEARTH_CLASS_UNKNOWN;
  if (s->hotness == HEARTH_CLASS_UNKNOWN)
    finding(v, HEARTH_MD_RULE_FLAT_TYPE, "it is '%.*s'", type ? (int)length : 0, type ? type : "");
  for (unsigned i = 2; i < n; i++) {
    uint64_t number;
    if (hearth_md_operand_count(operands[i]) != 2 ||
        !hearth_md_as_integer(hearth_md_operand(operands[i], 0), &number) ||
        !hearth_md_as_integer(hearth_md_operand(operands[i], 1), &number))
      finding(v, HEARTH_MD_RULE_FLAT_EXTRA, "operand %u is no pair of integers", i);
  }
  bool ok = read_flat(v, HEARTH_MD_RULE_FLAT_STACK, operands[0], s);
  free(operands);
  return ok;
}

static int compare_stacks(const void *a, const void *b) {
  const stack *x = a, *y = b;
  for (size_t i = 0; i < x->depth && i < y->depth; i++)
    if (x->ids[i] != y->ids[i])
      return x->ids[i] < y->ids[i] ? -1 : 1;
  if (x->depth != y->depth)
    return x->depth < y->depth ? -1 : 1;
  return (x->hotness > y->hotness) - (x->hotness < y->hotness);
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
  qsort(stacks, n, sizeof *stacks, compare_stacks);
  for (size_t i = 1; i < n; i++)
    if (compare_stacks(&stacks[i - 1], &stacks[i]) == 0)
      finding(v, HEARTH_MD_RULE_DUPLICATE, "a stack of %zu ids occurs twice", stacks[i].depth);
}

/* The class that all stacks share; UNKNOWN if they differ or say nothing. */
static uint64_t common_class(const stack *stacks, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (stacks[i].hotness != stacks[0].hotness)
      return HEARTH_CLASS_UNKNOWN;
  return n ? stacks[0].hotness : HEARTH_CLASS_UNKNOWN;
}

static void check_hint(verifier *v, LLVMValueRef call, const stack *stacks, size_t n) {
  static const char *const names[] = {"ambiguous", "cold", "notcold", "hot"};
  bool ambiguous;
  hearth_class hint = hearth_md_get_hint(call, &ambiguous);
  if (!ambiguous && hint == HEARTH_CLASS_UNKNOWN) {
    if (hearth_md_has_hint(call))
      finding(v, HEARTH_MD_RULE_HINT, "its value is none of them");
    return;
  }
  uint64_t common = common_class(stacks, n);
  bool differ = n > 1 && common == HEARTH_CLASS_UNKNOWN;
  if (n && (differ ? !ambiguous : common != HEARTH_CLASS_UNKNOWN && (uint64_t)hint != common))
    finding(v, HEARTH_MD_RULE_HINT, "it says %s, the contexts %s", names[hint], names[differ ? 0 : common]);
}

static void check_list(verifier *v, LLVMValueRef call, LLVMValueRef list, bool chained, const stack *callsite) {
  unsigned n, first = chained && !v->md->chained_only ? 1 : 0;
  LLVMValueRef *operands = hearth_md_operands(list, &n);
  stack *stacks = calloc(n + 1, sizeof *stacks);
  size_t good = 0;
  int n_tags = -1;
  if (n <= first)
    finding(v, HEARTH_MD_RULE_LIST, "it lists nothing, or is no node");
  else if (chained && (!first || check_schema(v, operands[0])) &&
           (n_tags = hearth_md_read_schema(v->md, first ? operands[0] : NULL)) < 0)
    finding(v, HEARTH_MD_RULE_ONE_SCHEMA, "its schema is missing, or not the only one");
  for (unsigned i = first; stacks && i < n; i++) {
    stack *s = &stacks[good];
    if (chained ? check_chained_mib(v, operands[i], v->md->last_tags, n_tags, s) : check_flat_mib(v, operands[i], s))
      good++;
    else
      free(s->ids), *s = (stack){0};
  }
  if (stacks) {
    check_together(v, stacks, good, chained ? 0 : 1, callsite);
    check_hint(v, call, stacks, good);
    for (size_t i = 0; i < good; i++)
      free(stacks[i].ids);
  }
  free(stacks);
  free(operands);
}

/* -------------------------------------------------- module -------------------------------------------------- */

static void check_instruction(verifier *v, LLVMValueRef instruction) {
  hearth_md *md = v->md;
  LLVMValueRef memprof = LLVMGetMetadata(instruction, md->kind_memprof);
  LLVMValueRef chained = md->chained_only ? memprof : LLVMGetMetadata(instruction, md->kind_mib);
  LLVMValueRef callsite = LLVMGetMetadata(instruction, md->kind_callsite);
  stack ids = {0};
  bool is_call = LLVMIsACallInst(instruction) || LLVMIsAInvokeInst(instruction) || LLVMIsACallBrInst(instruction);
  v->instruction = instruction;
  if (!is_call) {
    if (memprof || chained || callsite)
      finding(v, HEARTH_MD_RULE_ON_CALL, "this is none");
    return;
  }
  if (callsite &&
      !(md->chained_only ? read_chain(v, callsite, &ids) : read_flat(v, HEARTH_MD_RULE_CALLSITE, callsite, &ids)))
    ids.depth = 0;
  if (memprof && !callsite)
    finding(v, HEARTH_MD_RULE_NEEDS_CALLSITE, "it has none");
  if (chained)
    check_list(v, instruction, chained, true, &ids);
  if (memprof && !md->chained_only)
    check_list(v, instruction, memprof, false, &ids);
  if (!chained && !memprof)
    check_hint(v, instruction, NULL, 0);
  free(ids.ids);
}

size_t hearth_md_verify(hearth_md *md, hearth_md_report report, void *data) {
  verifier v = {.md = md, .report = report, .data = data};
  check_module_schema(&v);
  for (LLVMValueRef f = LLVMGetFirstFunction(md->module); f; f = LLVMGetNextFunction(f)) {
    v.function = f;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        check_instruction(&v, i);
  }
  return v.findings;
}
