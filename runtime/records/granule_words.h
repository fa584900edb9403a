/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A number of 64 bits for each granule of memory, 0 unless it was set: for what few granules have. Memory is taken by need. Any
 * code may call these, also in signal handlers; nothing waits. */
#ifndef HEARTH_RUNTIME_GRANULE_WORDS_H
#define HEARTH_RUNTIME_GRANULE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_GRANULE ((size_t)16) /* bytes that one access counter stands for */

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

#endif
