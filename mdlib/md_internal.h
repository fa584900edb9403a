/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the files of mdlib share. */
#ifndef HEARTH_MD_INTERNAL_H
#define HEARTH_MD_INTERNAL_H

#include "hearth/ir_facts.h"
#include "hearth/md.h"

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
  hearth_md_schema schema;     /* of the contexts that we attach */
  LLVMMetadataRef schema_node; /* NULL until first used */
  LLVMMetadataRef last_node;   /* the one last read: most calls of a module share theirs */
  hearth_md_schema last_schema;
  bool last_ok;
  /* The stack made last, from the root: contexts come sorted, and the next one shares most of its callers. */
  struct {
    uint64_t ids[HEARTH_MD_DEPTH_MAX];
    LLVMMetadataRef chains[HEARTH_MD_DEPTH_MAX];
    size_t depth;
  } last_stack;
};

/* schema.c */
const hearth_md_field *hearth_md_field_by_tag(unsigned tag); /* NULL if there is none */
/* The node of the schema that we attach, entered into `!memprof.schema`. */
LLVMMetadataRef hearth_md_schema_node(hearth_md *md);
/* The module's schema if it has exactly one, else NULL. */
LLVMMetadataRef hearth_md_only_schema(hearth_md *md);
/* Read through the handle's cache; NULL if it is malformed. Lives until the next call. */
const hearth_md_schema *hearth_md_read_schema(hearth_md *md, LLVMMetadataRef node);

/* attach.c: write MIBs that exist as nodes, in the encoding they were read from; on LLVM 15 and newer chained ones get
 * the flat form beside them where classes differ. n_callsite may be 0 if all have one class. */
void hearth_md_attach_nodes(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite,
                            const hearth_md_mibs *mibs);
/* Remove everything but a class that LLVM had resolved, and its pool. */
void hearth_md_clear(hearth_md *md, LLVMValueRef call);

/* attach.c: attributes */
bool hearth_md_has_hint(LLVMValueRef call); /* whatever it says */
/* The class of a flat MIB's string or of the attribute; UNKNOWN for others. */
hearth_class hearth_md_class_by_name(const char *name, size_t length);
const char *hearth_md_class_name(hearth_class hotness); /* of UNKNOWN: "ambiguous" */
/* The flat form has no name for UNKNOWN: LLVM takes a class that is neither cold nor hot for notcold. */
hearth_class hearth_md_flat_class(hearth_class hotness);
/* The pool that contexts have in common, those that are not cold, with one more of them. */
enum { HEARTH_MD_NO_CONTEXT = UINT8_MAX };
static inline hearth_placement hearth_md_join_pool(hearth_placement common, hearth_class hotness,
                                                   hearth_placement pool) {
  if (hotness < HEARTH_CLASS_NOTCOLD)
    return common;
  return common == HEARTH_MD_NO_CONTEXT || common == pool ? pool : (hearth_placement)HEARTH_MD_POOL_AMBIGUOUS;
}
/* As hearth_md_get_pool; false if the attribute says something else, *ret is 0 then. */
bool hearth_md_read_pool(LLVMValueRef call, hearth_placement *ret);

/* mib.c: one MIB, as node. */
LLVMMetadataRef hearth_md_chained_mib(hearth_md *md, const hearth_md_schema *schema, const hearth_md_mib *mib);
LLVMMetadataRef hearth_md_flat_mib(hearth_md *md, uint64_t own_id, const hearth_md_mib *mib); /* NULL: no memory */
/* Values and class of a chained MIB, not the stack; false if it does not have the schema's arity. Values that are no
 * integers are not recorded, and make it return false too. */
bool hearth_md_read_values(const hearth_md_schema *schema, LLVMMetadataRef node, hearth_md_mib *ret);
/* Class and total size of a flat one. */
bool hearth_md_read_flat_values(LLVMMetadataRef node, hearth_md_mib *ret);

/* read.c: does the call follow the RFC's own convention (LLVM 14)? There an allocation call has no id of its own: its
 * `!callsite`, which it gets by being inlined, begins with the caller, as its contexts do. */
bool hearth_md_lacks_own_id(hearth_md *md, LLVMValueRef call);

/* mib.c */
LLVMMetadataRef hearth_md_string(hearth_md *md, const char *text);
LLVMMetadataRef hearth_md_node(hearth_md *md, LLVMMetadataRef *operands, size_t count);
void hearth_md_set(hearth_md *md, LLVMValueRef call, unsigned kind, LLVMMetadataRef node); /* NULL removes */

#endif
