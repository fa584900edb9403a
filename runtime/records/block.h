/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks that are recorded: which ones, in a sample (below), and the header of each: 64 bits before the user's bytes,
 * with the facts that its record needs at its end.
 *
 *   | time | processor | context | slack, 7 bits | state, 3 bits |
 *
 * Context and processor have as many bits as this run needs, and the time has the rest: a number of steps of 4 ns, 6
 * bits for how far it is shifted, and the bit of births that the clock has drawn (clock.h). So it is exact to a part
 * of the time since the start, which hearth_header_begin settles. The slack is what the chunk has beyond the user's
 * bytes; if it has more than fits, the word before the header is the size. */
#ifndef HEARTH_RUNTIME_BLOCK_H
#define HEARTH_RUNTIME_BLOCK_H

#include "clock.h"
#include "size_classes.h"
#include "thread_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number of 64 bits for each granule of memory, 0 unless it was set: for what few granules have. Memory is taken
 * by need. Any code may call these, also in signal handlers; nothing waits. */

#define HEARTH_REGION_BITS 30 /* memory whose numbers are one mapping */
#define HEARTH_REGIONS     ((size_t)1 << 18)

typedef struct hearth_granule_words {
  uint64_t *regions[HEARTH_REGIONS]; /* NULL: all are 0; atomic */
  bool any;                          /* one is not */
} hearth_granule_words;

/* The number of the granule that `address` lies in; NULL: it is 0. */
static inline uint64_t *hearth_granule_word(const hearth_granule_words *of, uintptr_t address) {
  size_t region = address >> HEARTH_REGION_BITS;
  uint64_t *words = region < HEARTH_REGIONS ? __atomic_load_n(&of->regions[region], __ATOMIC_ACQUIRE) : NULL;

  return words ? &words[(address & ((UINT64_C(1) << HEARTH_REGION_BITS) - 1)) / HEARTH_GRANULE] : NULL;
}

/* The same; NULL: there is no memory for it. */
uint64_t *hearth_granule_word_make(hearth_granule_words *of, uintptr_t address);

/* Make the numbers of that many granules 0, the first of which `address` lies in. */
void hearth_granule_words_clear(const hearth_granule_words *of, uintptr_t address, size_t granules);

#define HEARTH_LINE ((size_t)64) /* bytes of a block, from its start, that profiles tell apart */

typedef uint64_t hearth_header;

typedef enum hearth_block_state {
  HEARTH_BLOCK_RAW, /* memory never handed out, or not a header */
  HEARTH_BLOCK_LIVE,
  HEARTH_BLOCK_ENDING, /* claimed, but not recorded yet */
  HEARTH_BLOCK_FREE,
  HEARTH_BLOCK_REDIRECT /* all bits above: distance in bytes to the block's header */
} hearth_block_state;

#define HEARTH_STATE_BITS      3
#define HEARTH_STATE_MASK      UINT64_C(7)
#define HEARTH_SLACK_FAR       UINT64_C(127) /* the size is the word before the header */
#define HEARTH_LIFE_SHIFT      10            /* of context, processor and time together */
#define HEARTH_TIME_SHIFT_BITS 6

/* The context of a block without record: allocated before the start, or by the runtime's callees. Its header has 1
 * in all bits of its life, whatever their layout. */
#define HEARTH_NO_CONTEXT UINT32_MAX

/* A block, as its header tells, or the register of an allocator of the program's own. */
typedef struct hearth_block {
  hearth_header *header; /* NULL: it has none */
  uint64_t size;         /* requested bytes */
  uint64_t alloc_ns;     /* since the start of the run */
  uint64_t data_type_id;
  uint32_t context; /* id in the depot, or HEARTH_NO_CONTEXT */
  uint32_t cpu;
} hearth_block;

typedef struct hearth_header_layout {
  uint32_t context_mask, cpu_mask;
  uint8_t cpu_shift, time_shift;
  uint8_t time_bits; /* of the number that is shifted */
} hearth_header_layout;

extern hearth_header_layout hearth_headers __attribute__((visibility("hidden")));

/* Settle the layout for contexts below `contexts` and processors below `cpus`, before any block has a context. */
void hearth_header_begin(uint32_t contexts, uint32_t cpus);

static inline void *hearth_header_memory(hearth_header *header) { return header + 1; }

static inline uint64_t hearth_header_load(const hearth_header *header) {
  return __atomic_load_n(header, __ATOMIC_ACQUIRE);
}

static inline hearth_block_state hearth_header_state(const hearth_header *header) {
  return (hearth_block_state)(hearth_header_load(header) & HEARTH_STATE_MASK);
}

static inline void hearth_header_set_state(hearth_header *header, hearth_block_state state) {
  __atomic_store_n(header, (*header & ~HEARTH_STATE_MASK) | state, __ATOMIC_RELEASE);
}

/* How far a number of steps is shifted. */
static inline unsigned hearth_header_time_shift(uint64_t steps) {
  return 63u - (unsigned)__builtin_clzll(steps >> hearth_headers.time_bits | 1);
}

/* The bits of a birth's time (clock.h), and the time of such bits: the greatest that is not after it. */
static inline uint64_t hearth_header_pack_time(uint64_t ns) {
  uint64_t steps = ns / HEARTH_CLOCK_STEP;
  unsigned shift = hearth_header_time_shift(steps);

  return (((uint64_t)shift << hearth_headers.time_bits) + (steps >> shift)) << 1 | (ns & HEARTH_CLOCK_KNOWN);
}

static inline uint64_t hearth_header_unpack_time(uint64_t bits) {
  uint64_t number = bits >> 1, shift = number >> hearth_headers.time_bits;

  shift -= shift > 0;
  return ((number - (shift << hearth_headers.time_bits)) << shift) * HEARTH_CLOCK_STEP | (bits & HEARTH_CLOCK_KNOWN);
}

/* An event's time, as exact as those in headers are: a birth's comes back from its bits so. */
static inline uint64_t hearth_header_round_time(uint64_t ns) {
  uint64_t steps = ns / HEARTH_CLOCK_STEP;
  unsigned shift = hearth_header_time_shift(steps);

  return (steps >> shift << shift) * HEARTH_CLOCK_STEP | (ns & (HEARTH_CLOCK_STEP - 1));
}

/* Context, processor and time in their places. */
static inline uint64_t hearth_header_life(uint32_t context, uint32_t cpu, uint64_t ns) {
  const hearth_header_layout *to = &hearth_headers;

  if (context == HEARTH_NO_CONTEXT)
    return UINT64_MAX << HEARTH_LIFE_SHIFT;
  return hearth_header_pack_time(ns) << to->time_shift | (uint64_t)(cpu & to->cpu_mask) << to->cpu_shift |
         (uint64_t)context << HEARTH_LIFE_SHIFT;
}

static inline uint32_t hearth_header_context(uint64_t word) {
  uint32_t context = (uint32_t)(word >> HEARTH_LIFE_SHIFT) & hearth_headers.context_mask;

  return context == hearth_headers.context_mask ? HEARTH_NO_CONTEXT : context;
}

static inline uint64_t hearth_header_time(uint64_t word) {
  return hearth_header_unpack_time(word >> hearth_headers.time_shift);
}

/* Types that the program has set, of blocks that are live. */
extern hearth_granule_words hearth_block_types __attribute__((visibility("hidden")));

static inline uint64_t hearth_header_type(const hearth_header *header) {
  if (__builtin_expect(!hearth_block_types.any, true))
    return 0;
  const uint64_t *type = hearth_granule_word(&hearth_block_types, (uintptr_t)(header + 1));
  return type ? *type : 0;
}

/* What a header says of its block, in a chunk with room for `capacity` bytes of the user's. Always inline: a caller
 * that copies what a function has just returned in memory, by loads wider than the stores, waits for the stores. */
static inline __attribute__((always_inline)) hearth_block hearth_header_read(hearth_header *header, size_t capacity) {
  uint64_t word = hearth_header_load(header), slack = word >> HEARTH_STATE_BITS & HEARTH_SLACK_FAR;

  return (hearth_block){.header = header,
                        .size = slack == HEARTH_SLACK_FAR ? header[-1] : capacity - slack,
                        .data_type_id = hearth_header_type(header),
                        .context = hearth_header_context(word),
                        .cpu = (uint32_t)(word >> hearth_headers.cpu_shift) & hearth_headers.cpu_mask,
                        .alloc_ns = hearth_header_time(word)};
}

/* A live block is to end without record. */
static inline void hearth_header_forget_context(hearth_header *header) {
  __atomic_store_n(header, *header | UINT64_MAX << HEARTH_LIFE_SHIFT, __ATOMIC_RELEASE);
}

/* Begin a life: from now on the block is enumerated and can be claimed. */
static inline void hearth_header_publish(hearth_header *header, uint64_t life) {
  uint64_t slack = *header & HEARTH_SLACK_FAR << HEARTH_STATE_BITS;

  __atomic_store_n(header, life | slack | HEARTH_BLOCK_LIVE, __ATOMIC_RELEASE);
}

/* Sampling: every byte that is allocated has the same chance to be drawn, 1 in `mean_bytes`, independently of all
 * others; a block of which a byte is drawn is recorded, others are not. A recorded block stands for `weight` blocks
 * of its kind, so that sums keep their expectation (docs/options.md, "Sampling"). */

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
