/* Heap-profile metadata in LLVM IR: attach it, read it back, prune it. Format: docs/ir-metadata.md; source: RFC "IR
 * metadata format for MemProf" (2021-10-27, with its clarification of 2021-11-01). Words:
 *
 *   stack id   identifies one frame (function, line offset, column), 64 bits
 *   MIB        one context of an allocation call: a stack and the values of the schema's fields
 *   stack      the MIB's callers, the leaf's caller first; the allocation's own id is not in it
 *   callsite   the ids of a call's own frame and of the frames it was inlined through, innermost first
 *
 * Two encodings of the same thing. Chained, the RFC's: one id per node, shared between contexts, all values. On LLVM 14
 * it stands under `!memprof`; LLVM 15 and newer reject it there, so it stands under `!memprof.mib`, its first operand
 * being the schema it follows. Flat, LLVM's: `!{!{i64 own, i64 caller, ...}, !"cold"}` under `!memprof`, only on LLVM
 * 15 and newer and only where more than one kind of context remains; what its inliner and its context disambiguation
 * read.
 *
 * A handle belongs to one module and one thread. Nothing here prints, exits or asserts on the module's content. */
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

typedef struct hearth_md hearth_md;

/* One context. `values` is indexed by HEARTH_TAG_*; bit TAG of `recorded` says whether a MIB that was read has a value
 * there: values that its schema does not name, or that are null, are 0. */
typedef struct hearth_md_mib {
  const uint64_t *stack;
  size_t depth; /* >= 0 */
  hearth_class hotness;
  uint64_t values[HEARTH_TAG_LIMIT];
  uint64_t recorded;
} hearth_md_mib;

HEARTH_CHECK_LAYOUT(HEARTH_TAG_LIMIT <= 64);

/* Contexts as read: own them with hearth_md_mibs_free. */
typedef struct hearth_md_mibs {
  hearth_md_mib *mibs;
  size_t count;
  uint64_t *ids;          /* storage of the stacks */
  LLVMMetadataRef *nodes; /* nodes[0] the schema, nodes[i + 1] the node that mibs[i] was read from */
} hearth_md_mibs;

/* NULL when out of memory. Destroy accepts NULL. The module must outlive the handle. */
hearth_md *hearth_md_create(LLVMModuleRef module);
void hearth_md_destroy(hearth_md *md);

/* True if the chained encoding stands under `!memprof` itself (LLVM 14). */
bool hearth_md_is_chained_only(const hearth_md *md);

/* Attach contexts (count >= 1) to an allocation call, in the encodings of this LLVM, with the attribute "memprof" that
 * says what they have in common: cold, notcold, hot, or ambiguous. `callsite` (n_callsite >= 1) are the call's own id
 * and those it was inlined through. Replaces what was attached before. */
void hearth_md_attach(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite,
                      const hearth_md_mib *mibs, size_t count);
/* Attach only `!callsite` (n >= 1). */
void hearth_md_set_callsite(hearth_md *md, LLVMValueRef call, const uint64_t *ids, size_t n);
/* Remove all kinds and the attribute. True if there was something. */
bool hearth_md_remove(hearth_md *md, LLVMValueRef call);

/* Ids of `!callsite`, flat or chained; returns their number, at most `capacity` are written. 0: none, or malformed. */
size_t hearth_md_get_callsite(hearth_md *md, LLVMValueRef call, uint64_t *ids, size_t capacity);
/* Contexts of the chained encoding. False if there are none, or they are malformed: then *ret is empty. */
bool hearth_md_get_mibs(hearth_md *md, LLVMValueRef call, hearth_md_mibs *ret);
void hearth_md_mibs_free(hearth_md_mibs *mibs);
/* What the attribute "memprof" of a call says: a class, or HEARTH_CLASS_UNKNOWN if it is absent or "ambiguous". */
hearth_class hearth_md_get_hint(LLVMValueRef call, bool *ret_ambiguous);

/* Keep the contexts that agree with the callsite on their common prefix: stack[i] == callsite[i + 1] wherever both
 * have an id (0 is unknown and agrees with any). Their nodes stay as they are. n_callsite 0: nothing is known of where
 * the call is, but what the attribute says. If none is left, everything is removed. Uses the chained encoding, renews
 * the flat one and the attribute. Idempotent. True if the call had contexts. */
bool hearth_md_prune(hearth_md *md, LLVMValueRef call, const uint64_t *callsite, size_t n_callsite);

/* --- modules that were linked from others --- */

/* Make the schemas in `!memprof.schema` one: the union of their fields, matched by name, in the order of their first
 * occurrence. MIBs are rewritten; a field that a MIB's schema lacked becomes a null operand, "not recorded". All or
 * nothing: returns the number of lists of MIBs whose schema cannot be told (on LLVM 14, where a MIB does not carry its
 * schema and two schemas have as many fields; or malformed ones), and changes nothing unless that is 0. */
size_t hearth_md_unify(hearth_md *md, bool *ret_changed);

/* --- checking --- */

typedef enum hearth_md_rule {
#define HEARTH_MD_RULE(NAME, name, rule) HEARTH_MD_RULE_##NAME,
#include "hearth/md_rules.def"
  HEARTH_MD_RULES
} hearth_md_rule;

const char *hearth_md_rule_name(hearth_md_rule rule); /* "needs-callsite" */
const char *hearth_md_rule_text(hearth_md_rule rule); /* what it demands */

typedef struct hearth_md_finding {
  hearth_md_rule rule;
  LLVMValueRef function;    /* NULL for what concerns the module */
  LLVMValueRef instruction; /* NULL likewise */
  const char *detail;       /* one line; lives until the report returns */
} hearth_md_finding;

typedef void (*hearth_md_report)(const hearth_md_finding *finding, void *data);

/* Check all heap-profile metadata of the module against md_rules.def. Reports every finding (report may be NULL) and
 * returns their number. Changes nothing; takes any module that LLVM can load. */
size_t hearth_md_verify(hearth_md *md, hearth_md_report report, void *data);

#ifdef __cplusplus
}
#endif
#endif
