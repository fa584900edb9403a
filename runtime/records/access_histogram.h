/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Histogram mode: how often each 8 bytes of the blocks of a context were accessed, summed by their place in the block. The
 * counters are those of shadow.h. Memory is taken as contexts need it. */
#ifndef HEARTH_RUNTIME_ACCESS_HISTOGRAM_H
#define HEARTH_RUNTIME_ACCESS_HISTOGRAM_H

#include "block.h"
#include "thread_state.h"

/* Sums are made in the array that does not count, which then becomes the one that counts: a signal handler finds either
 * all of a block or nothing. */
typedef struct hearth_histogram_sums {
  uint64_t *sums[2]; /* by place: of the bytes [8 * i, 8 * i + 8) of each block */
  uint64_t current;  /* index of the array that counts */
  uint32_t room;     /* of both; all behind is 0 */
} hearth_histogram_sums;

typedef struct hearth_histogram_chunk hearth_histogram_chunk;

typedef struct hearth_histograms {
  hearth_histogram_sums *by_context; /* NULL: not in histogram mode */
  uint32_t contexts;
  uint32_t most;                          /* places of a block that are kept, from its start */
  hearth_lock lock;                       /* of the following; taken within a context's lock */
  hearth_histogram_chunk *chunks, *spare; /* in use, and empty again */
} hearth_histograms;

/* All empty. False: no address space. */
bool hearth_histograms_create(hearth_histograms *histograms, uint32_t contexts, uint32_t most);
void hearth_histograms_destroy(hearth_histograms *histograms);

/* Sum the array that counts and the counters of a block, each `weight` times, in the array that does not count. The
 * block counts when `current` of its context's histogram becomes *ret_next. The caller has the context's lock. False:
 * not possible in this signal handler; nothing happened. Counters without memory for their sums are left out. */
bool hearth_histograms_prepare(hearth_histograms *histograms, const hearth_block *block, uint64_t weight,
                               uint64_t *ret_next);

/* The same, counting at once. */
void hearth_histograms_add(hearth_histograms *histograms, const hearth_block *block, uint64_t weight);

/* Copy a context's histogram to `to`, where it is empty, with signals blocked and the context's lock. False: no memory. */
bool hearth_histograms_copy(hearth_histograms *to, const hearth_histograms *from, uint32_t context);

/* Empty all, giving the memory back. */
void hearth_histograms_forget(hearth_histograms *histograms);

/* Sums of a context by place, up to the last that is not 0. They live until something is added. */
const uint64_t *hearth_histograms_get(const hearth_histograms *histograms, uint32_t context, uint32_t *ret_size);

#endif
