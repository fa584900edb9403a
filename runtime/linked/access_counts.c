/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions that instrumented code calls: the ABI of clang -fmemory-profile, from LLVM 14 on, and of Hearth's
 * instrumentation. The usual instrumentation adds to the counters inline and calls only __memprof_mem*, and Hearth's
 * also __hearth_*. */
#include "heap.h"
#include "hearth/rt.h"
#include "message.h"
#include "os.h"
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

/* Called by a constructor in each file that clang -fmemory-profile, histogram mode or an older Hearth has instrumented, and that
 * so has counters of 64 bytes: blocks that begin from now on share none. */
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

/* What an addition inline leaves out, of a number that may be large. */
__attribute__((visibility("hidden"), used)) void hearth_granule_exceeded(uintptr_t granule, uint64_t rest) {
  hearth_shadow_count_beside(granule * HEARTH_GRANULE, rest / HEARTH_COUNT_AT_ONCE);
}

/* The same, as code calls it that keeps its values in registers across the call (LLVM's preserve_most). */
__asm__(".pushsection .text\n"
        ".globl __hearth_granule_exceeded\n"
        ".type __hearth_granule_exceeded,%function\n"
        "__hearth_granule_exceeded:\n"
        ".cfi_startproc\n" HEARTH_CALL_KEEPING_MOST(
            "hearth_granule_exceeded") ".cfi_endproc\n"
                                       ".size __hearth_granule_exceeded, .-__hearth_granule_exceeded\n"
                                       ".popsection");

/* Just above 2^16 / n, for n below 64: multiplying by it divides smaller numbers than that exactly, and most
 * steps, powers of 2, need no division at all. 0 for larger n: no two accesses share a granule then. */
static uint32_t reciprocal(uintptr_t n) {
  if (n >= 64)
    return 0;
  return (n & (n - 1) ? 0x10000 / (uint32_t)n : 0x10000U >> __builtin_ctzll(n)) + 1;
}

static inline void count_by(uintptr_t address, uint64_t count, bool atomic) {
  if (atomic)
    hearth_shadow_count_atomic(address, count);
  else
    hearth_shadow_count(address, count);
}

/* For as many accesses at once as begin in one granule. */
static inline void count_over_granules(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight,
                                       bool atomic) {
  uint32_t inverse = reciprocal(stride > 0 ? (uintptr_t)stride : 0 - (uintptr_t)stride);
  uint32_t last = (uint32_t)hearth_shadow_granule() - 1;
  while (count > 0) {
    uint32_t in = address & last, room = stride > 0 ? last - in : in;
    uint64_t here = (room * inverse >> 16) + 1;
    here = here < count ? here : count;
    count_by(address, here * weight, atomic);
    address += here * (uintptr_t)stride;
    count -= here;
  }
}

#define MOST_WEIGHT 4096 /* of a dense walk: its counters take that without a look at what they do not take */
#define MANY        16 /* counters: for fewer, wide loads may wait for what the program has just added to one of them */

/* To each of neighbouring counters. */
static inline void count_each(uint32_t *counter, uint64_t counters, uint32_t count) {
  typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));

  for (; counters >= MANY; counters -= 4, counter += 4)
    *(four *)counter += count;
  for (; counters > 0; counters--)
    *counter++ += count;
}

/* Accesses at each multiple of a power of 2 of at most a granule: as many begin in each granule, but for the first and the last. */
static inline void count_dense(uintptr_t address, unsigned shift, uint64_t count, uint32_t weight) {
  uint32_t *counter = hearth_shadow_counter(address), whole = HEARTH_GRANULE >> shift;
  uint64_t first = ((HEARTH_GRANULE - 1 - address % HEARTH_GRANULE) >> shift) + 1;

  first = first < count ? first : count;
  *counter++ += (uint32_t)first * weight;
  count -= first;
  count_each(counter, count / whole, whole * weight);
  if (count % whole)
    counter[count / whole] += (uint32_t)(count % whole) * weight;
}

/* Apart from their callers, which so have no registers to save in the usual case of a short loop. */
__attribute__((noinline)) static void count_long(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight) {
  uintptr_t step = stride > 0 ? (uintptr_t)stride : 0 - (uintptr_t)stride;

  if (hearth_shadow_is_histogram || step > HEARTH_GRANULE || (step & (step - 1)) != 0 || weight > MOST_WEIGHT)
    count_over_granules(address, stride, count, weight, false);
  else /* from the lowest one up */
    count_dense(stride > 0 ? address : address - (count - 1) * step, (unsigned)__builtin_ctzll(step), count,
                (uint32_t)weight);
}

__attribute__((noinline)) static void count_long_atomic(uintptr_t address, intptr_t stride, uint64_t count,
                                                        uint64_t weight) {
  count_over_granules(address, stride, count, weight, true);
}

static inline bool is_within_granule(uintptr_t address, intptr_t stride, uint64_t count) {
  return ((address ^ (address + (count - 1) * (uintptr_t)stride)) & ~(hearth_shadow_granule() - 1)) == 0;
}

/* A loop's accesses, counted before it by code of Hearth's instrumentation; stride is not 0. */
HEARTH_EXPORT void __hearth_count_strided(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight) {
  if (is_within_granule(address, stride, count))
    count_by(address, count * weight, false);
  else
    count_long(address, stride, count, weight);
}

HEARTH_EXPORT void __hearth_count_strided_atomic(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight) {
  if (is_within_granule(address, stride, count))
    count_by(address, count * weight, true);
  else
    count_long_atomic(address, stride, count, weight);
}

__attribute__((noinline)) static void count_long_range(uintptr_t address, uint64_t steps) {
  if (hearth_shadow_is_histogram)
    count_over_granules(address, RANGE_STEP, steps, 1, false);
  else
    count_dense(address, 3, steps, 1);
}

/* One count for each 8 bytes from the first on, to the counter of the granule that the 8 bytes begin in. */
static inline void count_range(const volatile void *address, size_t size) {
  uint64_t steps = size / RANGE_STEP + (size % RANGE_STEP != 0);
  if (size == 0)
    return;
  if (is_within_granule((uintptr_t)address, RANGE_STEP, steps))
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
