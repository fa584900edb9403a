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

/* Sampling. Distances and weights are computed by series, as there is no libm. */

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): neighbouring numbers become unrelated ones. */
static uint64_t sample_mix(uint64_t number) {
  number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
  return number ^ number >> 31;
}

static uint32_t random_bits(hearth_sampler *sampler) {
  sampler->random += UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(sample_mix(sampler->random) >> 32);
}

void hearth_sampler_begin(hearth_sampler *sampler, uint64_t mean_bytes, uint64_t seed) {
  sampler->random = sample_mix(seed) | 1;
  sampler->bytes_left = hearth_sampler_draw(sampler, mean_bytes);
}

uint64_t hearth_sampler_below(hearth_sampler *sampler, uint64_t limit) { return random_bits(sampler) * limit >> 32; }

/* Von Neumann's method (1951), which needs no logarithm: of uniform numbers u1, u2 ..., the descending run that
 * begins with u1 = x has odd length with probability exp(-x). Then x is the fraction; else 1 is added and all begins
 * anew. */
uint64_t hearth_sampler_draw(hearth_sampler *sampler, uint64_t mean_bytes) {
  for (uint64_t whole = 0;; ++whole) {
    uint32_t first = random_bits(sampler), last = first;
    bool odd = true;
    for (uint32_t next; (next = random_bits(sampler)) <= last; last = next)
      odd = !odd;
    if (odd)
      return whole * mean_bytes + (first * mean_bytes >> 32) + 1;
  }
}

/* 1 - exp(-x), without loss for small x: its series at x / 2^n, then n times f(2x) = f(x) (2 - f(x)). */
static double chance(double x) {
  int doublings = 0;

  if (x > 64)
    return 1;
  for (; x > 1.0 / 1024; x /= 2)
    ++doublings;
  double f = x * (1 - x / 2 * (1 - x / 3));
  while (doublings-- > 0)
    f *= 2 - f;
  return f;
}

uint64_t hearth_sample_weight(uint64_t mean_bytes, uint64_t size, uint64_t lot) {
  double exact = 1 / chance((double)(size ? size : 1) / (double)mean_bytes);
  uint64_t whole = (uint64_t)exact;
  double rest = exact - (double)whole;

  return whole + ((double)(sample_mix(lot) >> 11) * 0x1p-53 < rest);
}
