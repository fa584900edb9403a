/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The stacks of a trace, by the keys that they have in profiles (hearth_stack_key in ids.h). */
#ifndef HEARTH_TRACE_STACK_KEYS_H
#define HEARTH_TRACE_STACK_KEYS_H

#include "hearth/indexer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keys by the trace's nodes, malloc'd; 0 of nodes that no allocation has, or no function is known of. Recursion is folded, and
 * names come from symbol tables too, unless the options say otherwise: they must be those with which the profile was
 * made. `options`: may be NULL. Errors: E_IO, E_FORMAT (no trace), those of reading one, E_FULL, E_NOMEM. */
hearth_status hearth_trace_stack_keys(const char *path, const hearth_indexer_options *options, uint64_t **ret,
                                      size_t *ret_count, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
