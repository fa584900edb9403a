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
};
#define FIELD_COUNT (sizeof fields / sizeof fields[0])

const hearth_md_field *hearth_md_field_at(size_t index) { return index < FIELD_COUNT ? &fields[index] : NULL; }

const hearth_md_field *hearth_md_field_by_tag(unsigned tag) {
  for (size_t i = 0; i < FIELD_COUNT; i++)
    if (fields[i].tag == tag)
      return &fields[i];
  return NULL;
}

const hearth_md_field *hearth_md_field_by_name(const char *name, size_t length) {
  for (size_t i = 0; i < FIELD_COUNT; i++)
    if (strlen(fields[i].name) == length && memcmp(fields[i].name, name, length) == 0)
      return &fields[i];
  return NULL;
}

static bool schema_is_entered(hearth_md *md, LLVMValueRef node) {
  unsigned n = LLVMGetNamedMetadataNumOperands(md->module, HEARTH_MD_SCHEMA_NAME);
  LLVMValueRef operands[16];
  if (n > sizeof operands / sizeof operands[0])
    return false;
  LLVMGetNamedMetadataOperands(md->module, HEARTH_MD_SCHEMA_NAME, operands);
  for (unsigned i = 0; i < n; i++)
    if (operands[i] && LLVMValueAsMetadata(operands[i]) == LLVMValueAsMetadata(node))
      return true;
  return false;
}

LLVMMetadataRef hearth_md_schema(hearth_md *md) {
  if (md->schema)
    return md->schema;
  LLVMMetadataRef names[FIELD_COUNT + 1];
  size_t n = 0;
  names[n++] = hearth_md_string(md, "Stack");
  for (size_t i = 0; i < FIELD_COUNT; i++)
    if (fields[i].in_default)
      names[n++] = hearth_md_string(md, fields[i].name);
  md->schema = hearth_md_node(md, names, n);
  LLVMValueRef value = LLVMMetadataAsValue(md->context, md->schema);
  if (!schema_is_entered(md, value))
    LLVMAddNamedMetadataOperand(md->module, HEARTH_MD_SCHEMA_NAME, value);
  return md->schema;
}

static int read_names(LLVMValueRef *names, unsigned n, unsigned *tags) {
  unsigned length;
  const char *first = n ? hearth_md_as_string(names[0], &length) : NULL;
  if (!first || length != strlen("Stack") || memcmp(first, "Stack", length) != 0 || n - 1 > HEARTH_MD_VALUES_MAX)
    return -1;
  for (unsigned i = 1; i < n; i++) {
    const char *name = hearth_md_as_string(names[i], &length);
    if (!name)
      return -1;
    const hearth_md_field *field = hearth_md_field_by_name(name, length);
    tags[i - 1] = field ? field->tag : 0;
  }
  return (int)n - 1;
}

int hearth_md_read_schema(hearth_md *md, LLVMValueRef node) {
  if (!node && LLVMGetNamedMetadataNumOperands(md->module, HEARTH_MD_SCHEMA_NAME) == 1)
    LLVMGetNamedMetadataOperands(md->module, HEARTH_MD_SCHEMA_NAME, &node);
  if (!hearth_md_is_node(node))
    return -1;
  if (LLVMValueAsMetadata(node) != md->last_schema) {
    unsigned n;
    LLVMValueRef *names = hearth_md_operands(node, &n);
    md->last_count = read_names(names, n, md->last_tags);
    md->last_schema = LLVMValueAsMetadata(node);
    free(names);
  }
  return md->last_count;
}
