/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The depot keeps call stacks as one forest of calls, so that stacks with common callers share them. Each distinct
 * stack has a number, its context id. Calls and stacks are only ever added. Lock-free: any thread may insert and
 * look up at any time. */
#ifndef HEARTH_RUNTIME_DEPOT_H
#define HEARTH_RUNTIME_DEPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_DEPOT_LEVELS 2

/* A code address and its caller. All stacks that begin alike, at the outermost call, share it. */
typedef struct hearth_depot_call {
  uint64_t pc;
  uint32_t caller;  /* a lower call; 0: it is a stack's outermost one */
  uint32_t context; /* whose stack begins here; 0: none */
  uint32_t next;    /* call in the same bucket; 0 ends the chain */
  uint32_t number;  /* in the file that is being written, from 1 on; 0: none */
} hearth_depot_call;

typedef struct hearth_depot_entry {
  uint32_t leaf;   /* call */
  uint32_t listed; /* see hearth_depot_list */
} hearth_depot_entry;

typedef struct hearth_depot {
  hearth_depot_entry *entries;           /* by context id; 0 is the empty stack */
  hearth_depot_call *calls;              /* 0 is none */
  uint64_t *levels[HEARTH_DEPOT_LEVELS]; /* calls, each with its stack's hash in the upper half; 0: free */
  uint32_t *buckets;                     /* of the calls that found no place there */
  uint32_t bucket_count;                 /* a power of two */
  uint32_t entry_most, call_most;        /* there is room for */
  uint32_t entry_count, call_count;      /* given out, and 0 */
  uint64_t dropped;                      /* insertions that found no room */
} hearth_depot;

/* Room for `most_contexts` stacks, besides the empty one, of `own_calls` calls that they do not share. False: no
 * address space. Memory is taken as it is used, and never given back. */
bool hearth_depot_create(hearth_depot *depot, uint32_t most_contexts, uint32_t own_calls);

/* The id of the stack pcs[0..depth), leaf first; copied. 0 for depth 0, and if there is no room, which is counted.
 * *ret_new: whether the id was given out just now. */
uint32_t hearth_depot_insert(hearth_depot *depot, const uint64_t *pcs, uint32_t depth, bool *ret_new);

/* Ids ever given out are below this; not each of them has a stack of its own. */
uint32_t hearth_depot_limit(const hearth_depot *depot);

/* Write the stack of an id below hearth_depot_limit, leaf first. Returns its depth. */
uint32_t hearth_depot_copy(const hearth_depot *depot, uint32_t context, uint64_t *ret_pcs);

/* The place number `i`, below hearth_depot_limit, of a list of contexts. It lies in the entries of contexts, so that
 * it takes no memory when it is needed; for one at a time. */
static inline uint32_t *hearth_depot_list(hearth_depot *depot, uint32_t i) { return &depot->entries[i].listed; }

/* Number the calls of the list's first `count` stacks, so that callers have lower numbers. The others have none.
 * Returns how many there are. */
uint32_t hearth_depot_number_calls(hearth_depot *depot, uint32_t count);

/* Memory that stacks have in use, in bytes. */
uint64_t hearth_depot_memory(const hearth_depot *depot);

uint64_t hearth_depot_dropped(const hearth_depot *depot);

#endif
