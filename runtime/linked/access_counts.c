/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions that instrumented code calls: the ABI of clang -fmemory-profile, from LLVM 14 on, and of Hearth's
 * instrumentation. The usual instrumentation adds to the counters inline and calls only __memprof_mem*, and Hearth's
 * also __hearth_*. */
#include "heap.h"
#include "hearth/rt.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"
#include "shadow.h"

#include <string.h>

#define RANGE_STEP 8 /* bytes of a range that count as one access */

static void note_instrumentation(void) {
  if (hearth_rt.accesses == HEARTH_ACCESSES_NONE)
    hearth_rt.accesses = HEARTH_ACCESSES_COUNTED;
}

static void ignore_counts(const char *reason) {
  hearth_message("%s; the profile will have no access counts", reason);
  hearth_rt.accesses = HEARTH_ACCESSES_UNSUPPORTED;
  hearth_shadow_ignore();
}

/* A file of instrumented code is there. */
static void begin(void) {
  if (!__hearth_counters) {
    /* The code that follows would add to counters at addresses that do not exist. */
    hearth_message("instrumented code cannot run without its access counters (the reason is above)");
    hearth_os_exit(1);
  }
  note_instrumentation();
}

/* Called by a constructor in each file that clang -fmemory-profile, histogram mode or an older Hearth has
 * instrumented, and that so has counters of 64 bytes: blocks that begin from now on share none. */
HEARTH_EXPORT void __memprof_init(void) {
  begin();
  hearth_shadow_is_coarse = true;
}

/* Called by a constructor in each other instrumented file. */
HEARTH_EXPORT void __hearth_exact_init(void) { begin(); }

/* Called by a constructor in each file of Hearth's instrumentation: how many bytes its counters count for. */
HEARTH_EXPORT void __hearth_granule(uint32_t bytes) {
  if ((bytes == 8) == hearth_shadow_is_histogram || hearth_rt.accesses == HEARTH_ACCESSES_UNSUPPORTED)
    return;
  ignore_counts("some of the program's files are compiled in histogram mode (-memprof-histogram) and some are not");
}

/* Called by the constructor of each file whose accesses of global variables are counted. */
HEARTH_EXPORT void __hearth_globals(const hearth_global_table *table) { hearth_static_data_add(table); }

/* Its name is the check: code compiled for another ABI does not link. */
HEARTH_EXPORT void __memprof_version_mismatch_check_v1(void) {}

static void count(uintptr_t address) {
  if (!__hearth_counters)
    return;
  note_instrumentation();
  hearth_shadow_count(address, 1);
}

HEARTH_EXPORT void __memprof_load(uintptr_t address) { count(address); }

HEARTH_EXPORT void __memprof_store(uintptr_t address) { count(address); }

HEARTH_EXPORT void __memprof_hist_load(uintptr_t address) { count(address); }

HEARTH_EXPORT void __memprof_hist_store(uintptr_t address) { count(address); }

HEARTH_EXPORT void __memprof_record_access(const volatile void *address) { count((uintptr_t)address); }

/* What code of Hearth's histogram mode cannot do inline. */
HEARTH_EXPORT void __hearth_count_atomic(uintptr_t address, uint64_t count) {
  hearth_shadow_count_atomic(address, count);
}

#define MANY 16 /* counters: for fewer, wide loads may wait for what the program has just added to one of them */

/* To each of neighbouring counters. */
static inline void count_each(uint32_t *counter, uint64_t counters, uint32_t count) {
  typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));

  for (; counters >= MANY; counters -= 4, counter += 4)
    *(four *)counter += count;
  for (; counters > 0; counters--)
    *counter++ += count;
}

/* As many steps begin in each granule, but for the first and the last. */
static void count_over_granules(uintptr_t address, uint64_t steps) {
  enum { WHOLE = HEARTH_GRANULE / RANGE_STEP };
  uint32_t *counter = hearth_shadow_counter(address);
  uint64_t first = (HEARTH_GRANULE - 1 - address % HEARTH_GRANULE) / RANGE_STEP + 1;

  first = first < steps ? first : steps;
  *counter++ += (uint32_t)first;
  steps -= first;
  count_each(counter, steps / WHOLE, WHOLE);
  if (steps % WHOLE)
    counter[steps / WHOLE] += (uint32_t)(steps % WHOLE);
}

/* Apart from its callers, which so have no registers to save in the usual case of a short range. */
__attribute__((noinline)) static void count_long_range(uintptr_t address, uint64_t steps) {
  if (!hearth_shadow_is_histogram)
    count_over_granules(address, steps);
  else
    for (; steps > 0; steps--, address += RANGE_STEP)
      hearth_shadow_count(address, 1);
}

static inline bool is_within_granule(uintptr_t address, uint64_t steps) {
  return ((address ^ (address + (steps - 1) * RANGE_STEP)) & ~(hearth_shadow_granule() - 1)) == 0;
}

/* One count for each 8 bytes from the first on, to the counter of the granule that the 8 bytes begin in. */
static inline void count_range(const volatile void *address, size_t size) {
  uint64_t steps = size / RANGE_STEP + (size % RANGE_STEP != 0);
  if (size == 0)
    return;
  if (is_within_granule((uintptr_t)address, steps))
    hearth_shadow_count((uintptr_t)address, steps);
  else
    count_long_range((uintptr_t)address, steps);
}

HEARTH_EXPORT void __memprof_record_access_range(const volatile void *address, unsigned long size) {
  if (!__hearth_counters)
    return;
  note_instrumentation();
  count_range(address, size);
}

/* Only instrumented code calls these, and its constructors say that there is some. */
HEARTH_EXPORT void *__memprof_memcpy(void *to, const void *from, size_t size) {
  if (__hearth_counters) {
    count_range(from, size);
    count_range(to, size);
  }
  return memcpy(to, from, size);
}

HEARTH_EXPORT void *__memprof_memmove(void *to, const void *from, size_t size) {
  if (__hearth_counters) {
    count_range(from, size);
    count_range(to, size);
  }
  return memmove(to, from, size);
}

HEARTH_EXPORT void *__memprof_memset(void *to, int byte, size_t size) {
  if (__hearth_counters)
    count_range(to, size);
  return memset(to, byte, size);
}
