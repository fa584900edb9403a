/* Which contexts of the profile a call can have. */
#ifndef HEARTH_MATCH_H
#define HEARTH_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "hearth/classify.h"
#include "location.h"

/* A context of an allocation call. */
typedef struct hearth_context {
  uint64_t *stack; /* stack ids, the leaf's caller first; borrowed from the list */
  size_t depth;
  hearth_class hotness;
  hearth_mib mib;
} hearth_context;

typedef struct hearth_contexts {
  hearth_context *items;
  size_t count;
  uint64_t **stacks; /* what the items borrow */
  size_t stack_count;
} hearth_contexts;

typedef struct hearth_matcher {
  hearth_profile *profile;
  hearth_classifier classifier;
} hearth_matcher;

void hearth_contexts_free(hearth_contexts *contexts);

/* The contexts whose leaf is the innermost frame of `chain` that the profile knows as one that allocates, and which
 * agree with the frames outside of it. Frames inside of it that the profile lacks (tail calls, code without debug
 * information) are passed over. *ret_leaf: position of the leaf in the chain. Both outputs are set on success only;
 * E_NOT_FOUND when there is no such context. */
hearth_status hearth_match_allocation(const hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                      hearth_contexts *ret, size_t *ret_leaf, hearth_error *err);

/* OK if all frames of `chain` are places in the profile: then the call may be a caller in contexts. */
hearth_status hearth_match_callsite(const hearth_matcher *matcher, const hearth_location *chain, size_t n,
                                    hearth_error *err);

/* Ids of the frames above the leaf node of a stack, the leaf's caller first. *ret is malloc'd. */
hearth_status hearth_match_stack_ids(hearth_profile *profile, uint32_t leaf, uint64_t **ret, size_t *ret_depth,
                                     hearth_error *err);

/* Trim in place: a stack is kept up to the caller from which on all contexts share one class; contexts that are folded
 * into one are merged by the rules of mib_fields.def, so sums are kept. Order afterwards: by stack, each once. */
void hearth_contexts_trim(hearth_contexts *contexts, const hearth_classifier *classifier);

#endif
