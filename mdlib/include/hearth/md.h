/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Heap-profile metadata in LLVM IR: attach it, read it back, narrow it. Format:
 * docs/ir-metadata.md; source: RFC "IR metadata format for MemProf" (2021-10-27, with its clarification of 2021-11-01).
 * Words:
 *
 *   stack id   identifies one frame (function, line offset, column), 64 bits; 0 is an unknown place and equals any
 *   MIB        one context of an allocation call: a stack and the values of the schema's fields
 *   stack      the MIB's callers, the leaf's caller first; the allocation's own id is not in it
 *   callsite   the ids of a call's own frame and of the frames it was inlined through, innermost first
 *   schema     which values a MIB has, in which order
 *   pool       part of the heap that the profile's plan has for some contexts that are not cold: a number below
 *              HEARTH_POOLS_MAX, here as HEARTH_PLACEMENT_POOL + number. It is the pool id of docs/pools.md less 1, which
 *              the program's layout makes a pool of the allocator
 *
 * Two encodings of the same thing. Chained, the RFC's: one id per node, shared between contexts, all values. On LLVM 14
 * it stands under `!memprof`; LLVM 15 and newer reject it there, so it stands under `!memprof.mib`, its first operand
 * being the schema it follows. Flat, LLVM's: `!{!{i64 own, i64 caller, ...}, !"cold"}` under `!memprof`, only on LLVM
 * 15 and newer and only where more than one kind of context remains. LLVM's inliner and context disambiguation read it.
 *
 * A handle belongs to one module and one thread. Nothing here prints, exits or asserts on the module's content;
 * metadata without the expected shape is treated as absent. Nodes belong to the module's context, as everywhere in
 * llvm-c.
 */
#ifndef HEARTH_MD_H
#define HEARTH_MD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "hearth/mib.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct hearth_md hearth_md;

/* NULL when out of memory. Destroy accepts NULL. The module must outlive the handle. */
hearth_md *hearth_md_create(LLVMModuleRef module);
void hearth_md_destroy(hearth_md *md);

/* True if the chained encoding stands under `!memprof` itself, and there is no flat one (LLVM 14). */
bool hearth_md_is_chained_only(const hearth_md *md);

/* --- schemas --- */

#define HEARTH_MD_FIELDS_MAX 128 /* of a schema that is understood */

/* Fields in the order of the values: HEARTH_TAG_*. 0 stands for a name that mib_fields.def lacks: its values are passed
 * over when read, and cannot be written. */
typedef struct hearth_md_schema {
  size_t count;
  unsigned char tags[HEARTH_MD_FIELDS_MAX];
} hearth_md_schema;

/* "AllocCount" for HEARTH_TAG_AllocCount, NULL if there is none; and back, 0 if there is none. */
const char *hearth_md_field_name(unsigned tag);
unsigned hearth_md_field_tag(const char *name, size_t length);

/* The fields that are attached by default: those that mib_fields.def marks, and Hotness. */
void hearth_md_schema_default(hearth_md_schema *ret);
/* The schema as a node, `!{!"Stack", !"AllocCount", ...}`; equal schemas are one node. NULL if it is not valid: a tag
 * that has no name, or one that occurs twice. */
LLVMMetadataRef hearth_md_schema_create(hearth_md *md, const hearth_md_schema *schema);
/* False, with *ret empty, if the node is no list of strings that begins with "Stack", or is too long. */
bool hearth_md_schema_read(LLVMMetadataRef node, hearth_md_schema *ret);
/* The module's schemas: distinct operands of `!memprof.schema`, in order; NULL behind the last. More than one only
 * where modules were linked. */
LLVMMetadataRef hearth_md_get_schema(hearth_md *md, unsigned index);
/* Contexts that are attached from now on follow this schema. Its first use enters it into `!memprof.schema`. False if
 * it is not valid. */
bool hearth_md_use_schema(hearth_md *md, const hearth_md_schema *schema);

/* --- call stacks --- */

/* A chain of nodes `!{i64 id, !caller}`; equal tails are one node. n == 0 gives `!{}`. Ids behind the first
 * HEARTH_MD_DEPTH_MAX are left out: LLVM walks nested nodes recursively and would exhaust its stack. */
#define HEARTH_MD_DEPTH_MAX 4096u
LLVMMetadataRef hearth_md_stack_create(hearth_md *md, const uint64_t *ids, size_t n);
/* `!{i64 id, ...}`; n >= 1. NULL when out of memory. */
LLVMMetadataRef hearth_md_stack_create_flat(hearth_md *md, const uint64_t *ids, size_t n);

/* Walks a stack of either encoding:
 *   for (hearth_md_cursor c = hearth_md_stack_begin(node); hearth_md_stack_next(&c, &id);) ... */
typedef struct hearth_md_cursor {
  LLVMMetadataRef node; /* NULL at the end */
  unsigned index;       /* in a flat stack */
  size_t depth;         /* ids seen */
  bool flat, malformed;
} hearth_md_cursor;
hearth_md_cursor hearth_md_stack_begin(LLVMMetadataRef stack);
bool hearth_md_stack_next(hearth_md_cursor *cursor, uint64_t *ret_id);
/* Number of ids; the first `capacity` are written (`ids` may be NULL if that is 0). SIZE_MAX if the stack is malformed:
 * no node, an operand of another kind, a cycle, or more than HEARTH_MD_DEPTH_MAX ids. */
size_t hearth_md_stack_read(LLVMMetadataRef stack, uint64_t *ids, size_t capacity);

/* --- contexts --- */

/* One context. `values` is indexed by HEARTH_TAG_*; bit TAG of `recorded` says whether there is a value, the others are
 * 0. */
typedef struct hearth_md_mib {
  const uint64_t *stack;
  size_t depth; /* >= 0 */
  hearth_class hotness;
  hearth_placement pool; /* 0: none; a cold context has none */
  uint64_t values[HEARTH_TAG_LIMIT];
  uint64_t recorded;
} hearth_md_mib;

HEARTH_CHECK_LAYOUT(HEARTH_TAG_LIMIT <= 64);

/* Typed access to the values. Get: false if the value is not recorded. */
bool hearth_md_mib_get(const hearth_md_mib *mib, unsigned tag, uint64_t *ret);
void hearth_md_mib_set(hearth_md_mib *mib, unsigned tag, uint64_t value);
/* All stored and derived fields of a profile's record. */
void hearth_md_mib_set_all(hearth_md_mib *mib, const hearth_mib *record);

typedef enum hearth_md_encoding { HEARTH_MD_CHAINED, HEARTH_MD_FLAT } hearth_md_encoding;

/* Contexts as read: own them with hearth_md_mibs_free. */
typedef struct hearth_md_mibs {
  hearth_md_mib *mibs;
  size_t count;
  hearth_md_encoding encoding; /* they were read from */
  uint64_t *ids;               /* storage of the stacks */
  LLVMMetadataRef *nodes; /* nodes[0] the schema (NULL if flat), nodes[i + 1] the node that mibs[i] was read from */
} hearth_md_mibs;

/* --- attachments --- */

/* Attach contexts (count >= 1) to an allocation call, chained, and from LLVM 19 on, where classes differ, flat, with
 * the attribute "memprof" that says their common class: cold, notcold, hot, or ambiguous; and if some have pools,
 * "hearth-pool", see below. `callsite` (n_callsite >= 1) are the call's own id and those it was inlined through. The
 * call replaces all that was attached before. */
void hearth_md_attach(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite,
                      const hearth_md_mib *mibs, size_t count);
/* Attach only `!callsite` (n >= 1; the outermost beyond HEARTH_MD_DEPTH_MAX are left out). */
void hearth_md_set_callsite(hearth_md *md, LLVMValueRef call, const uint64_t *ids, size_t n);
/* Does the call carry any of the three kinds? Cheap. */
bool hearth_md_has_any(const hearth_md *md, LLVMValueRef call);
/* Remove all kinds and the attributes. True if there was something. */
bool hearth_md_remove(hearth_md *md, LLVMValueRef call);

/* Ids of `!callsite`; returns their number, at most `capacity` are written. 0: none, or malformed. On LLVM 14 an
 * allocation call that follows the RFC's own convention has no id of its own, which is then 0: a place that is not
 * known. */
size_t hearth_md_get_callsite(hearth_md *md, LLVMValueRef call, uint64_t *ids, size_t capacity);
/* Contexts of the chained encoding, else (from clang's own MemProf) of the flat one. False if there are none, or they
 * are malformed: then *ret is empty. */
bool hearth_md_get_mibs(hearth_md *md, LLVMValueRef call, hearth_md_mibs *ret);
void hearth_md_mibs_free(hearth_md_mibs *mibs);
/* The class that the attribute "memprof" of a call says, or HEARTH_CLASS_UNKNOWN if it is absent or "ambiguous". */
hearth_class hearth_md_get_hint(LLVMValueRef call, bool *ret_ambiguous);
/* The pool of a call's contexts that are not cold, as the attribute "hearth-pool" says it: 0 if there is none,
 * HEARTH_MD_POOL_AMBIGUOUS if they lie in several, or some in none. LLVM does not know the attribute: it stays when
 * LLVM resolves a call to a class. */
enum { HEARTH_MD_POOL_AMBIGUOUS = HEARTH_PLACEMENTS };
hearth_placement hearth_md_get_pool(LLVMValueRef call);
/* The class that LLVM resolved for the call, else UNKNOWN: once its inliner or its context disambiguation know the
 * class, they drop `!callsite` and `!memprof` and leave it as attribute. Pruning keeps it. */
hearth_class hearth_md_get_resolved_class(hearth_md *md, LLVMValueRef call);
/* Resolve a call to one class, or undo LLVM's resolution (UNKNOWN): then pruning decides again. On LLVM 14, where
 * `!memprof` are the contexts, they are gone. The attribute of the pool stays. */
void hearth_md_resolve(hearth_md *md, LLVMValueRef call, hearth_class hotness);
/* Make a call fit the summary that LLVM writes of a module for a thin link. The summary lists calls with
 * `!callsite`, and the back end goes through this list again, but passes over calls whose class the attribute tells:
 * those with the attribute and without `!memprof`, before LLVM 22 all with the attribute. One call more or less, and
 * the calls behind it go to others' clones. So a call of one class is resolved, and before LLVM 22 one of several
 * loses the attribute, which pruning restores. True if the call changed. LLVM 14, which has no such lists, needs
 * nothing. */
bool hearth_md_fit_summary(hearth_md *md, LLVMValueRef call);

/* --- after inlining --- */

/* Keep the contexts that agree with the callsite on their common prefix: stack[i] == callsite[i + 1] wherever both
 * have an id. Their nodes do not change. n_callsite 0: the call's place is unknown; only the attribute says anything.
 * If none is left, everything is removed. Uses the chained encoding if there is one, and renews the flat one and the
 * attribute. Idempotent. True if the call had contexts. */
bool hearth_md_prune(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite);

/* For a pass that inlined the callee of `outer` and finds `call` among the copies: appends the ids of `outer`, which
 * may already be gone from its block but not deleted, to those of `call`, and prunes. False, and nothing changed, if
 * one of them has no `!callsite`. */
bool hearth_md_concatenate_callsites(hearth_md *md, LLVMValueRef call, LLVMValueRef outer);

/* --- modules that were linked from others --- */

/* Make the schemas in `!memprof.schema` one: the union of their fields, matched by name, in the order of their first
 * occurrence. MIBs are rewritten; a field that a MIB's schema lacked becomes a null operand, "not recorded". All or
 * nothing: returns the number of malformed schemas or, without any, of lists of MIBs that are malformed or whose schema
 * cannot be told (on LLVM 14, where a MIB does not carry its schema and two schemas have as many fields), and changes
 * nothing unless that is 0. */
size_t hearth_md_unify(hearth_md *md, bool *ret_changed);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
