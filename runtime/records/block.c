/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The layout of headers. Before it is settled, all blocks are without context, which looks alike in all layouts. */
#include "block.h"

#include "os.h"

hearth_granule_words hearth_block_types;

static unsigned bits_for(uint32_t values) {
  unsigned bits = 1;

  while (bits < 32 && values > UINT32_C(1) << bits)
    ++bits;
  return bits;
}

#define LAYOUT(CONTEXT_BITS, CPU_BITS)                                                                                 \
  {                                                                                                                    \
      .context_mask = (uint32_t)((UINT64_C(1) << (CONTEXT_BITS)) - 1),                                                 \
      .cpu_mask = (uint32_t)((UINT64_C(1) << (CPU_BITS)) - 1),                                                         \
      .cpu_shift = (uint8_t)(HEARTH_LIFE_SHIFT + (CONTEXT_BITS)),                                                      \
      .time_shift = (uint8_t)(HEARTH_LIFE_SHIFT + (CONTEXT_BITS) + (CPU_BITS)),                                        \
      .time_bits = (uint8_t)(63 - HEARTH_TIME_SHIFT_BITS - HEARTH_LIFE_SHIFT - (CONTEXT_BITS) - (CPU_BITS)),           \
  }

hearth_header_layout hearth_headers = LAYOUT(20, 1);

void hearth_header_begin(uint32_t contexts, uint32_t cpus) {
  unsigned context_bits = bits_for(contexts + 1), cpu_bits = bits_for(cpus); /* one more, for blocks without context */

  hearth_headers = (hearth_header_layout)LAYOUT(context_bits, cpu_bits);
}

/* One sparse mapping for each GiB of memory that has such a number. Of two threads that make one at once, one gives
 * its own back. */

#define DISCARD_LEAST (16 * HEARTH_PAGE_BYTES) /* below this, looking at each is cheaper */

uint64_t *hearth_granule_word_make(hearth_granule_words *of, uintptr_t address) {
  size_t region = address >> HEARTH_REGION_BITS, size = (size_t)8 << HEARTH_REGION_BITS >> 4;
  uint64_t *none = NULL;

  if (region >= HEARTH_REGIONS)
    return NULL;
  if (!__atomic_load_n(&of->regions[region], __ATOMIC_ACQUIRE)) {
    uint64_t *words = hearth_system_map_sparse(size);
    if (!words)
      return NULL;
    if (!__atomic_compare_exchange_n(&of->regions[region], &none, words, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      hearth_system_unmap(words, size);
  }
  __atomic_store_n(&of->any, true, __ATOMIC_RELAXED);
  return hearth_granule_word(of, address);
}

static void clear_each(uint64_t *begin, const uint64_t *end) {
  for (; begin < end; ++begin)
    if (*begin) /* a page that is only read takes no memory */
      *begin = 0;
}

static void granule_clear(uint64_t *begin, uint64_t *end) {
  char *first_page, *end_page;

  if (!hearth_pages_within(begin, end, DISCARD_LEAST, &first_page, &end_page)) {
    clear_each(begin, end);
    return;
  }
  clear_each(begin, (uint64_t *)first_page);
  hearth_system_discard(first_page, (size_t)(end_page - first_page));
  clear_each((uint64_t *)end_page, end);
}

void hearth_granule_words_clear(const hearth_granule_words *of, uintptr_t address, size_t granules) {
  uintptr_t region_size = (uintptr_t)1 << HEARTH_REGION_BITS;

  while (granules > 0) {
    size_t left = (region_size - address % region_size + HEARTH_GRANULE - 1) / HEARTH_GRANULE;
    size_t here = granules < left ? granules : left;
    uint64_t *words = hearth_granule_word(of, address);
    if (words)
      granule_clear(words, words + here);
    address += here * HEARTH_GRANULE;
    granules -= here;
  }
}
