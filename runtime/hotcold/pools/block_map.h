/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where blocks lie in the ranges: two bits for each quantum, outside of the blocks.
 *
 *   quantum  16 bytes, the smallest block; named by its number from the start of both ranges
 *   start    a block begins here. Kept when the block is freed, until other blocks cover the quantum
 *   used     part of a block, or of the hole that a pool is cutting blocks from
 *   hole     neighbouring quanta that are not used
 *
 *     quanta   | block A    | free       | block B | cut next ........ |
 *     start      1  0  0  0   1  0  0  0   1  0  0   1  0  0  0  0  0
 *     used       1  1  1  1   0  0  0  0   1  1  1   1  1  1  1  1  1
 *
 * So a block ends before the next quantum that is a start or not used: one look, mostly, as both words of 64 quanta lie
 * side by side. One thread writes the bits of a parcel. Others read them meanwhile, to find the size of a live block: the
 * quantum behind it is at all times a start, or not used. It was a start when it was used first, and stays one; so
 * `used` is set after `start`, and read before. */
#ifndef HEARTH_BLOCK_MAP_H
#define HEARTH_BLOCK_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEARTH_QUANTUM_SHIFT = 4, HEARTH_QUANTUM_BYTES = 1 << HEARTH_QUANTUM_SHIFT, HEARTH_WORD_QUANTA = 64 };

struct hearth_block_words {
  _Atomic uint64_t start;
  _Atomic uint64_t used;
};

extern struct hearth_block_words *hearth_block_map; /* for each HEARTH_WORD_QUANTA quanta */

/* Does a block begin at the quantum? */
static inline bool hearth_block_begins(size_t quantum) {
  const struct hearth_block_words *words = &hearth_block_map[quantum / HEARTH_WORD_QUANTA];
  return (atomic_load_explicit(&words->used, memory_order_relaxed) &
          atomic_load_explicit(&words->start, memory_order_relaxed)) >>
             quantum % HEARTH_WORD_QUANTA &
         1;
}

/* The quanta before which blocks end, of the word and the following ones. */
static inline uint64_t hearth_block_ends(const struct hearth_block_words *words) {
  uint64_t used = atomic_load_explicit(&words->used, memory_order_acquire);
  return atomic_load_explicit(&words->start, memory_order_relaxed) | ~used;
}

size_t hearth_block_quanta_slowly(size_t quantum);

/* Quanta of the block that begins at the quantum, if there are at most HEARTH_WORD_QUANTA; 0: there are more, or no block
 * begins. Most blocks are small: of the 64 quanta behind the first, whichever words they lie in, one is looked for without
 * a branch. Each word is read once. */
static inline size_t hearth_block_quanta_near(size_t quantum) {
  const struct hearth_block_words *words = &hearth_block_map[quantum / HEARTH_WORD_QUANTA];
  unsigned bit = quantum % HEARTH_WORD_QUANTA;
  uint64_t used = atomic_load_explicit(&words->used, memory_order_acquire);
  uint64_t start = atomic_load_explicit(&words->start, memory_order_relaxed);
  if (__builtin_expect(!((used & start) >> bit & 1), 0))
    return 0;
  uint64_t ends = (start | ~used) >> bit >> 1 | hearth_block_ends(words + 1) << (HEARTH_WORD_QUANTA - 1 - bit);
  return __builtin_expect(ends != 0, 1) ? (size_t)__builtin_ctzll(ends) + 1 : 0;
}

/* The same of blocks of any size. */
static inline size_t hearth_block_quanta(size_t quantum) {
  size_t quanta = hearth_block_quanta_near(quantum);
  return quanta || !hearth_block_begins(quantum) ? quanta : hearth_block_quanta_slowly(quantum);
}

/* The rest is for the one thread that writes the bits. */

/* Make the quantum, which is used, the start of a block. */
static inline void hearth_block_map_start(size_t quantum) {
  struct hearth_block_words *words = &hearth_block_map[quantum / HEARTH_WORD_QUANTA];
  uint64_t start = atomic_load_explicit(&words->start, memory_order_relaxed);
  atomic_store_explicit(&words->start, start | UINT64_C(1) << quantum % HEARTH_WORD_QUANTA, memory_order_relaxed);
}

/* Make it the middle of one. */
static inline void hearth_block_map_continue(size_t quantum) {
  struct hearth_block_words *words = &hearth_block_map[quantum / HEARTH_WORD_QUANTA];
  uint64_t start = atomic_load_explicit(&words->start, memory_order_relaxed);
  atomic_store_explicit(&words->start, start & ~(UINT64_C(1) << quantum % HEARTH_WORD_QUANTA), memory_order_relaxed);
}

/* Use the quanta, none of which is in use, as one block; or, as its continuation, behind one. */
void hearth_block_map_use(size_t quantum, size_t quanta);
void hearth_block_map_extend(size_t quantum, size_t quanta);

/* The same, as blocks of `even` quanta; the last one may be shorter. */
void hearth_block_map_use_even(size_t quantum, size_t quanta, size_t even);

void hearth_block_map_free_slowly(size_t quantum, size_t quanta);

/* Free them: mostly, all lie in one word. */
static inline void hearth_block_map_free(size_t quantum, size_t quanta) {
  struct hearth_block_words *words = &hearth_block_map[quantum / HEARTH_WORD_QUANTA];
  unsigned bit = quantum % HEARTH_WORD_QUANTA;
  if (quanta >= HEARTH_WORD_QUANTA - bit) {
    hearth_block_map_free_slowly(quantum, quanta);
    return;
  }
  uint64_t used = atomic_load_explicit(&words->used, memory_order_relaxed);
  atomic_store_explicit(&words->used, used & ~(((UINT64_C(1) << quanta) - 1) << bit), memory_order_relaxed);
}

/* The first hole of `least` quanta and more in [from, end) that begins before `to`. If there is none, no hole that begins there has
 * more than *ret_quanta. `end` is a multiple of HEARTH_WORD_QUANTA. */
bool hearth_block_map_find(size_t from, size_t to, size_t end, size_t least, size_t *ret_quantum, size_t *ret_quanta);

/* Are all the quanta used? */
bool hearth_block_map_is_used(size_t quantum, size_t quanta);

/* Unused quanta before `quantum`, down to `from`, and from `quantum` on, up to `to` or a little further: at most to
 * the next multiple of HEARTH_WORD_QUANTA. */
size_t hearth_block_map_free_before(size_t quantum, size_t from);
size_t hearth_block_map_free_from(size_t quantum, size_t to);

/* Free quanta in [from, to) that are used but of no block, as someone stopped in the middle of these functions. */
void hearth_block_map_repair(size_t from, size_t to);

/* Used quanta in [from, to), both multiples as above. */
size_t hearth_block_map_count(size_t from, size_t to);

#endif
