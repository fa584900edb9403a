/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sampling: every byte that is allocated has the same chance to be drawn, 1 in `mean_bytes`, independently of all
 * others; a block of which a byte is drawn is recorded, others are not. A recorded block stands for `weight` blocks
 * of its kind, so that sums keep their expectation (docs/options.md, "Sampling"). */
#ifndef HEARTH_RUNTIME_SAMPLE_H
#define HEARTH_RUNTIME_SAMPLE_H

#include "thread_state.h"

/* `seed` is any number; different ones give independent samples. */
void hearth_sampler_begin(hearth_sampler *sampler, uint64_t mean_bytes, uint64_t seed);

/* The distance to the next byte that is drawn, exponentially distributed; at least 1. */
uint64_t hearth_sampler_draw(hearth_sampler *sampler, uint64_t mean_bytes);

/* Any number below `limit`, which is less than 2^32. */
uint64_t hearth_sampler_below(hearth_sampler *sampler, uint64_t limit);

/* Would a block of `size` bytes, 0 counting as 1, be left out? Then *ret_left is the value for bytes_left after it.
 * Never true for a sampler that has not begun. */
static inline bool hearth_sampler_leaves(const hearth_sampler *sampler, uint64_t size, uint64_t *ret_left) {
  uint64_t bytes = size + (size == 0);
  uint64_t left = __atomic_load_n(&sampler->bytes_left, __ATOMIC_RELAXED); /* once: a signal handler may draw */

  *ret_left = left - bytes;
  return bytes < left;
}

/* Is a block of `size` bytes in the sample? */
static inline bool hearth_sampler_take(hearth_sampler *sampler, uint64_t mean_bytes, uint64_t size) {
  uint64_t left;
  bool leaves = __builtin_expect(hearth_sampler_leaves(sampler, size, &left), true);

  sampler->bytes_left = leaves ? left : hearth_sampler_draw(sampler, mean_bytes);
  return !leaves;
}

/* How many blocks one of `size` bytes in the sample stands for: 1 / (1 - exp(-size / mean_bytes)), rounded up or
 * down by `lot`, any number, so that the mean over lots is exact. At least 1. */
uint64_t hearth_sample_weight(uint64_t mean_bytes, uint64_t size, uint64_t lot);

#endif
