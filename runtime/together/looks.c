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

static const uint64_t *counters_of(const char *page) { return hearth_counters_of(page, HEARTH_OS_PAGE).begin; }

/* The counters of a page lie in a page of their own, which no other page of the sample has brought to the caches. */
static const uint64_t *counters_at(const hearth_looks *looks, uint32_t i) {
  enum { AHEAD = 4 };
  if (i + AHEAD < looks->count)
    __builtin_prefetch(counters_of(looks->page[i + AHEAD]));
  return counters_of(looks->page[i]);
}

void hearth_looks_first(hearth_looks *looks) {
  for (uint32_t i = 0; i < looks->count; ++i) {
    const uint64_t *counters = counters_at(looks, i);
    for (uint32_t k = 0; k < HEARTH_LOOKS_COUNTERS; ++k)
      looks->counters[i][k] = __atomic_load_n(&counters[k], __ATOMIC_RELAXED);
  }
}

bool hearth_looks_second(hearth_looks *looks) {
  uint64_t any = 0;

  for (uint32_t i = 0; i < looks->count; ++i) {
    const uint64_t *counters = counters_at(looks, i);
    uint64_t touched = 0;
    for (uint32_t k = 0; k < HEARTH_LOOKS_COUNTERS; ++k)
      touched |= (uint64_t)(__atomic_load_n(&counters[k], __ATOMIC_RELAXED) != looks->counters[i][k]) << k;
    looks->touched[i] = touched;
    any |= touched;
  }
  return any != 0;
}
