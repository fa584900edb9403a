/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Words of 64 bits at a time; a hole's length is known from where the next used quantum is. */
#include "block_map.h"

enum { WORD = HEARTH_WORD_QUANTA };

struct hearth_block_words *hearth_block_map;

static uint64_t used_word(size_t word) {
  return atomic_load_explicit(&hearth_block_map[word].used, memory_order_relaxed);
}

/* The bits of a word that lie in [from, to). */
static uint64_t mask_of(size_t word, size_t from, size_t to) {
  uint64_t mask = ~UINT64_C(0);
  if (from > word * WORD)
    mask &= ~UINT64_C(0) << (from - word * WORD);
  if (to < (word + 1) * WORD)
    mask &= ~(~UINT64_C(0) << (to - word * WORD));
  return mask;
}

size_t hearth_block_quanta_slowly(size_t quantum) {
  for (size_t word = quantum / WORD + 1;; word++) {
    uint64_t ends = hearth_block_ends(&hearth_block_map[word]);
    if (ends)
      return word * WORD + (size_t)__builtin_ctzll(ends) - quantum;
  }
}

static void use(size_t quantum, size_t quanta, size_t start) {
  size_t end = quantum + quanta;
  for (size_t word = quantum / WORD; word * WORD < end; word++) {
    struct hearth_block_words *words = &hearth_block_map[word];
    uint64_t mask = mask_of(word, quantum, end);
    uint64_t starts = atomic_load_explicit(&words->start, memory_order_relaxed) & ~mask;
    if (start / WORD == word)
      starts |= UINT64_C(1) << start % WORD;
    atomic_store_explicit(&words->start, starts, memory_order_relaxed);
    atomic_store_explicit(&words->used, used_word(word) | mask, memory_order_release);
  }
}

void hearth_block_map_use(size_t quantum, size_t quanta) { use(quantum, quanta, quantum); }

void hearth_block_map_extend(size_t quantum, size_t quanta) { use(quantum, quanta, SIZE_MAX); }

void hearth_block_map_use_even(size_t quantum, size_t quanta, size_t even) {
  hearth_block_map_use(quantum, quanta);
  for (size_t at = quantum; at < quantum + quanta; at += even)
    hearth_block_map_start(at);
}

void hearth_block_map_free_slowly(size_t quantum, size_t quanta) {
  size_t end = quantum + quanta;
  for (size_t word = quantum / WORD; word * WORD < end; word++)
    atomic_store_explicit(&hearth_block_map[word].used, used_word(word) & ~mask_of(word, quantum, end),
                          memory_order_relaxed);
}

/* The first quantum in [from, to) whose used bit, changed by `flip`, is 1; or `to`. If that is no multiple of WORD, the rest of its
 * word is looked at, too. */
static size_t next_bit(size_t from, size_t to, uint64_t flip) {
  size_t word = from / WORD;
  uint64_t bits = (used_word(word) ^ flip) & ~UINT64_C(0) << from % WORD;
  while (!bits) {
    if (++word * WORD >= to)
      return to;
    bits = used_word(word) ^ flip;
  }
  return word * WORD + (size_t)__builtin_ctzll(bits);
}

/* The first of `least` bits side by side that are 1, fewer than WORD. If there are not so many, *longest is at least as many as there
 * are. A bit that is left begins `known` of them: twice as many each time, by looking that far ahead. */
static bool find_run(uint64_t bits, size_t least, size_t *ret_bit, size_t *longest) {
  size_t known = 1;
  while (bits && known < least) {
    size_t more = known * 2 <= least ? known : least - known;
    bits &= bits >> more;
    known += more;
  }
  if (bits)
    *ret_bit = (size_t)__builtin_ctzll(bits);
  else if (*longest < known - 1)
    *longest = known - 1;
  return bits;
}

/* Each word is looked at once, however many holes it has: what is free from `start` on may go on in its first bits, another hole
 * may lie within it, and its last bits may begin one. */
bool hearth_block_map_find(size_t from, size_t to, size_t end, size_t least, size_t *ret_quantum, size_t *ret_quanta) {
  size_t start = from - from % WORD, longest = least < WORD ? 0 : WORD - 1, bit;
  uint64_t passed = ~(~UINT64_C(0) << from % WORD);
  for (size_t word = from / WORD; start < to; word++, passed = 0) {
    uint64_t used = word * WORD < end ? used_word(word) | passed : ~UINT64_C(0);
    if (!used)
      continue;
    if (!~used && start == word * WORD) {
      start += WORD;
      continue;
    }
    size_t quanta = word * WORD + (size_t)__builtin_ctzll(used) - start;
    bool goes_on = quanta >= least;
    if (goes_on || (least < WORD && find_run(~used, least, &bit, &longest))) {
      size_t hole = goes_on ? start : word * WORD + bit;
      *ret_quantum = hole;
      *ret_quanta = hole < to ? next_bit(hole, end, 0) - hole : least - 1;
      return hole < to;
    }
    longest = quanta > longest ? quanta : longest;
    start = (word + 1) * WORD - (size_t)__builtin_clzll(used);
  }
  *ret_quanta = longest;
  return false;
}

size_t hearth_block_map_free_before(size_t quantum, size_t from) {
  for (size_t end = quantum; end > from;) {
    size_t word = (end - 1) / WORD;
    uint64_t used = used_word(word) & mask_of(word, from, end);
    if (used)
      return quantum - (word * WORD + 64 - (size_t)__builtin_clzll(used));
    end = word * WORD;
  }
  return quantum - from;
}

size_t hearth_block_map_free_from(size_t quantum, size_t to) {
  return quantum < to ? next_bit(quantum, to, 0) - quantum : 0;
}

bool hearth_block_map_is_used(size_t quantum, size_t quanta) {
  size_t end = quantum + quanta;
  for (size_t word = quantum / WORD; word * WORD < end; word++)
    if (~used_word(word) & mask_of(word, quantum, end))
      return false;
  return true;
}

/* From a used quantum, to where a block or hole begins. */
static size_t quanta_to_end(size_t quantum) {
  size_t next = quantum + 1;
  while (!(hearth_block_ends(&hearth_block_map[next / WORD]) >> next % WORD & 1))
    next++;
  return next - quantum;
}

void hearth_block_map_repair(size_t from, size_t to) {
  while ((from = next_bit(from, to, 0)) < to) {
    if (!hearth_block_begins(from))
      hearth_block_map_free(from, quanta_to_end(from));
    from = next_bit(from, to, ~UINT64_C(0));
  }
}

size_t hearth_block_map_count(size_t from, size_t to) {
  size_t count = 0;
  for (size_t word = from / WORD; word < to / WORD; word++)
    count += (size_t)__builtin_popcountll(used_word(word));
  return count;
}
