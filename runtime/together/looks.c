/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The addresses of the heap are cut into as many strata as pages are wanted, and one page is drawn of each: free space
 * is passed over, so that each page stands for as many as a stratum has. */
#include "looks.h"

#include "shadow.h"
#include "tracts.h"

static bool is_used(const char *page) {
  hearth_tract tract;

  return hearth_tract_peek(page, &tract);
}

void hearth_looks_choose(hearth_looks *looks, uint32_t most, hearth_sampler *random) {
  char *start;
  uint64_t total = hearth_tracts_extent(&start) / HEARTH_OS_PAGE;
  uint32_t strata = total < most ? (uint32_t)total : most;

  looks->count = 0;
  looks->pages = total;
  looks->sampled = strata;
  for (uint32_t i = 0; i < strata; ++i) {
    uint64_t first = i * total / strata, end = (i + 1) * total / strata;
    char *page = start + (first + hearth_sampler_below(random, end - first)) * HEARTH_OS_PAGE;
    if (is_used(page))
      looks->page[looks->count++] = page;
  }
}

static const uint32_t *counters_of(const char *page) { return hearth_shadow_counter((uintptr_t)page); }

/* The counters of a page lie in a page of their own, which no other page of the sample has brought to the caches. */
static const uint32_t *counters_at(const hearth_looks *looks, uint32_t i) {
  enum { AHEAD = 4 };
  if (i + AHEAD < looks->count)
    __builtin_prefetch(counters_of(looks->page[i + AHEAD]));
  return counters_of(looks->page[i]);
}

/* The lowest 16 bits of each of a line's counters: 1 change in 65536 does not show. In a coarse heap a line has one word of counters
 * more, and belongs to one block: a change of any is a change of all four granules. Both are mixed to 16 bits. */
static uint64_t read_line(const uint32_t *counters, const char *page, uint32_t line) {
  const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t word = 0;

  for (unsigned i = 0; i < 4; ++i)
    word |= (uint64_t)(__atomic_load_n(&counters[4 * line + i], __ATOMIC_RELAXED) & UINT16_MAX) << 16 * i;
  if (!hearth_shadow_is_coarse)
    return word;
  word = word * odd + __atomic_load_n(hearth_shadow_line_counter((uintptr_t)page) + line, __ATOMIC_RELAXED);
  word ^= word >> 32;
  return (word * odd >> 48) * UINT64_C(0x0001000100010001);
}

void hearth_looks_first(hearth_looks *looks) {
  for (uint32_t i = 0; i < looks->count; ++i) {
    const uint32_t *counters = counters_at(looks, i);
    for (uint32_t k = 0; k < HEARTH_LOOKS_LINES; ++k)
      looks->counters[i][k] = read_line(counters, looks->page[i], k);
  }
}

/* A bit for each of four counters. */
static uint64_t changes_of(uint64_t difference) {
  uint64_t bits = 0;

  for (unsigned i = 0; difference; difference >>= 16)
    bits |= (uint64_t)((difference & UINT16_MAX) != 0) << i++;
  return bits;
}

bool hearth_looks_second(hearth_looks *looks) {
  uint64_t any = 0;

  for (uint32_t i = 0; i < looks->count; ++i) {
    const uint32_t *counters = counters_at(looks, i);
    looks->touched[i] = (hearth_page_bits){{0}};
    for (uint32_t k = 0; k < HEARTH_LOOKS_LINES; ++k) {
      uint64_t changed = changes_of(read_line(counters, looks->page[i], k) ^ looks->counters[i][k]);
      looks->touched[i].words[k / 16] |= changed << k % 16 * 4;
      any |= changed;
    }
  }
  return any != 0;
}
