/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The depot keeps each distinct call stack once and numbers it: its number is the context id. Stacks are only ever
 * added. Lock-free: any thread may insert and look up at any time. */
#ifndef HEARTH_RUNTIME_DEPOT_H
#define HEARTH_RUNTIME_DEPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_DEPOT_LEVELS 2

typedef struct hearth_depot_entry {
  uint32_t hash;
  uint32_t listed;   /* see hearth_depot_list */
  uint64_t first_pc; /* index in pcs */
  uint32_t depth;
  uint32_t next; /* context in the same bucket; 0 ends the chain */
} hearth_depot_entry;

typedef struct hearth_depot {
  hearth_depot_entry *entries; /* by context id; 0 is the empty stack */
  uint64_t *pcs;
  uint64_t *levels[HEARTH_DEPOT_LEVELS]; /* contexts, each with its entry's hash in the upper half; 0: free */
  uint32_t *buckets;                     /* of the contexts that found no place there */
  uint32_t bucket_count;                 /* a power of two */
  uint64_t entry_most;                   /* entries and pcs there is room for */
  uint64_t pc_most;
  uint64_t entry_count; /* ids given out, and 0 */
  uint64_t pc_count;
  uint64_t dropped; /* insertions that found no room */
} hearth_depot;

/* Room for `most_contexts` stacks, besides the empty one, of `average_depth` addresses. False: no address space. Memory
 * is taken as it is used, and never given back. */
bool hearth_depot_create(hearth_depot *depot, uint32_t most_contexts, uint32_t average_depth);

/* The id of the stack pcs[0..depth), leaf first; copied. 0 for depth 0, and if there is no room, which is counted.
 * *ret_new: whether the id was given out just now. */
uint32_t hearth_depot_insert(hearth_depot *depot, const uint64_t *pcs, uint32_t depth, bool *ret_new);

/* Ids ever given out are below this; not each of them has a stack. */
uint32_t hearth_depot_limit(const hearth_depot *depot);

/* The stack of an id below hearth_depot_limit; lives as long as the depot. *ret_depth is 0 if it has none. */
const uint64_t *hearth_depot_stack(const hearth_depot *depot, uint32_t context, uint32_t *ret_depth);

/* The place number `i`, below hearth_depot_limit, of a list of contexts. It lies between the stacks, so that it takes no
 * memory when it is needed; for one at a time. */
static inline uint32_t *hearth_depot_list(hearth_depot *depot, uint32_t i) { return &depot->entries[i].listed; }

/* Memory that stacks have in use, in bytes. */
uint64_t hearth_depot_memory(const hearth_depot *depot);

uint64_t hearth_depot_dropped(const hearth_depot *depot);

/* Call stacks in an order in which stacks with common callers follow each other. */

/* Sort the first `count` contexts of the depot's list by their stacks, outermost address first. Takes no memory, and little
 * stack. One call at a time. */
void hearth_stack_order(hearth_depot *depot, uint32_t count);

#endif
