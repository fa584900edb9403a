/* What the files of mdlib share. */
#ifndef HEARTH_MD_INTERNAL_H
#define HEARTH_MD_INTERNAL_H

#include "hearth/ir_facts.h"
#include "hearth/md.h"

/* Longest chain, written and read: LLVM walks nested nodes recursively and would exhaust its stack. A stack is cut here at
 * the outside; a longer chain in a module is taken for a cycle or garbage. */
#define HEARTH_MD_DEPTH_MAX  4096u
#define HEARTH_MD_VALUES_MAX 128 /* value operands of one MIB that are understood */

#define HEARTH_MD_SCHEMA_NAME "memprof.schema"

typedef struct hearth_md_field {
  const char *name;
  unsigned tag;
  unsigned bits;   /* of the constant */
  bool in_default; /* part of the schema that we attach */
} hearth_md_field;

struct hearth_md {
  LLVMModuleRef module;
  LLVMContextRef context;
  unsigned kind_memprof, kind_callsite, kind_mib;
  bool chained_only;
  LLVMMetadataRef schema;      /* of what we attach; made on first use */
  LLVMMetadataRef last_schema; /* the one last read, as tags: most calls of a module share theirs */
  unsigned last_tags[HEARTH_MD_VALUES_MAX];
  int last_count;
};

/* schema.c: the table of fields, the schema node, and reading a schema. */
const hearth_md_field *hearth_md_field_by_name(const char *name, size_t length);
const hearth_md_field *hearth_md_field_by_tag(unsigned tag); /* NULL if there is none */
const hearth_md_field *hearth_md_field_at(size_t index);     /* NULL behind the last one */
LLVMMetadataRef hearth_md_schema(hearth_md *md);             /* also enters it into !memprof.schema */
/* The schema as tags, one per value operand of a MIB (0 for a name we do not know), in md->last_tags. `node` NULL: the
 * module's only one. Returns the number of values, or -1 if it is malformed, missing, ambiguous or too long. */
int hearth_md_read_schema(hearth_md *md, LLVMValueRef node);

/* build.c: attach MIBs that exist as nodes: nodes[0] is their schema, nodes[i + 1] is mibs[i]. n_callsite may be 0 if
 * all have one class. */
void hearth_md_attach_nodes(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite,
                            const hearth_md_mib *mibs, LLVMMetadataRef *nodes, size_t count);

/* The class of a flat MIB's string or of the attribute; UNKNOWN for others. */
hearth_class hearth_md_class_by_name(const char *name, size_t length);
bool hearth_md_has_hint(LLVMValueRef call); /* the attribute "memprof", whatever it says */

/* node.c: typed access to nodes that may hold anything. */
bool hearth_md_is_node(LLVMValueRef value);
unsigned hearth_md_operand_count(LLVMValueRef node);
LLVMValueRef hearth_md_operand(LLVMValueRef node, unsigned index); /* NULL if absent or null */
/* All of them, malloc'd; elements may be NULL. NULL and 0 if there are none, it is no node, or memory is out. */
LLVMValueRef *hearth_md_operands(LLVMValueRef node, unsigned *ret_count);
/* The metadata of an operand, NULL for NULL. Not LLVMValueAsMetadata: as a value, LLVM shows a node of one constant as
 * that constant, so a stack of one id would come back as a number. */
LLVMMetadataRef hearth_md_as_metadata(hearth_md *md, LLVMValueRef operand);
bool hearth_md_as_integer(LLVMValueRef value, uint64_t *ret);
const char *hearth_md_as_string(LLVMValueRef value, unsigned *ret_length); /* NULL if it is no string */
LLVMMetadataRef hearth_md_integer(hearth_md *md, unsigned bits, uint64_t value);
LLVMMetadataRef hearth_md_string(hearth_md *md, const char *text);
LLVMMetadataRef hearth_md_node(hearth_md *md, LLVMMetadataRef *operands, size_t count);
void hearth_md_set(hearth_md *md, LLVMValueRef call, unsigned kind, LLVMMetadataRef node); /* NULL removes */

#endif
