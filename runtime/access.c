/* What instrumented code calls: the ABI of clang -fmemory-profile, from LLVM 14 on, and of Hearth's instrumentation.
 * The usual instrumentation adds to the counters inline and calls only __memprof_mem*, and Hearth's also __hearth_*. */
#include "hearth/rt.h"
#include "message.h"
#include "os.h"
#include "runtime.h"
#include "shadow.h"

#include <string.h>

/* Emitted by clang; 1 in programs compiled with -memprof-histogram. */
extern const char __memprof_histogram __attribute__((weak));

HEARTH_EXPORT void __memprof_init(void);
HEARTH_EXPORT void __memprof_version_mismatch_check_v1(void);
HEARTH_EXPORT void __memprof_load(uintptr_t address);
HEARTH_EXPORT void __memprof_store(uintptr_t address);
HEARTH_EXPORT void __memprof_hist_load(uintptr_t address);
HEARTH_EXPORT void __memprof_hist_store(uintptr_t address);
HEARTH_EXPORT void __hearth_count_strided(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight);
HEARTH_EXPORT void __hearth_count_strided_atomic(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight);
HEARTH_EXPORT void *__memprof_memcpy(void *to, const void *from, size_t size);
HEARTH_EXPORT void *__memprof_memmove(void *to, const void *from, size_t size);
HEARTH_EXPORT void *__memprof_memset(void *to, int byte, size_t size);

static void note_instrumentation(void) {
  if (hearth_rt.accesses == HEARTH_ACCESSES_NONE)
    hearth_rt.accesses = HEARTH_ACCESSES_COUNTED;
}

/* Called by a constructor in each instrumented file. */
void __memprof_init(void) {
  if (&__memprof_histogram && __memprof_histogram && hearth_rt.accesses != HEARTH_ACCESSES_UNSUPPORTED) {
    hearth_message("the program was compiled in histogram mode, which this runtime does not support; the profile will "
                   "have no access counts");
    hearth_rt.accesses = HEARTH_ACCESSES_UNSUPPORTED;
    hearth_shadow_ignore();
  }
  if (!__memprof_shadow_memory_dynamic_address) {
    /* The code that follows would add to counters at addresses that do not exist. */
    hearth_message("instrumented code cannot run without its access counters (the reason is above)");
    hearth_os_exit(1);
  }
  note_instrumentation();
}

/* Its name is the check: code compiled for another ABI does not link. */
void __memprof_version_mismatch_check_v1(void) {}

static void count(uintptr_t address) {
  if (!__memprof_shadow_memory_dynamic_address)
    return;
  note_instrumentation();
  hearth_shadow_count(address, 1);
}

void __memprof_load(uintptr_t address) { count(address); }

void __memprof_store(uintptr_t address) { count(address); }

void __memprof_hist_load(uintptr_t address) { (void)address; }

void __memprof_hist_store(uintptr_t address) { (void)address; }

HEARTH_EXPORT void __memprof_record_access(const volatile void *address) { count((uintptr_t)address); }

/* One count for each 8 bytes from the first on, to the granule that the 8 bytes begin in. */
HEARTH_EXPORT void __memprof_record_access_range(const volatile void *address, unsigned long size) {
  uintptr_t at = (uintptr_t)address, end = at + size;

  if (!__memprof_shadow_memory_dynamic_address || size == 0)
    return;
  note_instrumentation();
  while (at < end) {
    uintptr_t granule_end = (at & ~(HEARTH_GRANULE - 1)) + HEARTH_GRANULE;
    uintptr_t stop = granule_end < end ? granule_end : end;
    uint64_t steps = (stop - at + 7) / 8;
    hearth_shadow_count(at, steps);
    at += steps * 8;
  }
}

typedef void count_function(uintptr_t address, uint64_t count);

/* Loops' accesses, `count` of them from `address` on, `stride` bytes apart; not 0. Inline, for each count_function. */
static inline __attribute__((always_inline)) void count_strided(uintptr_t address, intptr_t stride, uint64_t count,
                                                                uint64_t weight, count_function *add) {
  const uintptr_t last = HEARTH_GRANULE - 1; /* byte of a granule */
  uintptr_t step = stride > 0 ? (uintptr_t)stride : 0 - (uintptr_t)stride;

  while (count > 0) {
    uint32_t in = (uint32_t)(address & last), room = stride > 0 ? (uint32_t)last - in : in;
    uint64_t here = step > last ? 1 : room / (uint32_t)step + 1;
    here = here < count ? here : count;
    add(address, here * weight);
    address += here * (uintptr_t)stride;
    count -= here;
  }
}

/* The same where the stride divides a granule, as it mostly does: all granules but the first and the last have equally
 * many, so that nothing is divided. */
static inline __attribute__((always_inline)) void count_dividing(uintptr_t address, intptr_t stride, uint64_t count,
                                                                 uint64_t weight, count_function *add) {
  const uintptr_t last = HEARTH_GRANULE - 1;
  unsigned shift = (unsigned)__builtin_ctzll((uintptr_t)stride);
  uint64_t each = HEARTH_GRANULE >> shift;
  uint64_t here = ((stride > 0 ? last - (address & last) : address & last) >> shift) + 1;

  for (; here < count; here = each) {
    add(address, here * weight);
    address += stride > 0 ? HEARTH_GRANULE : 0 - HEARTH_GRANULE;
    count -= here;
  }
  add(address, count * weight);
}

static bool divides_granule(intptr_t stride) {
  uintptr_t step = stride > 0 ? (uintptr_t)stride : 0 - (uintptr_t)stride;

  return step <= HEARTH_GRANULE && (step & (step - 1)) == 0;
}

/* Called by code of Hearth's instrumentation, before loops. */
void __hearth_count_strided(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight) {
  if (count > 0 && divides_granule(stride))
    count_dividing(address, stride, count, weight, hearth_shadow_count);
  else
    count_strided(address, stride, count, weight, hearth_shadow_count);
}

void __hearth_count_strided_atomic(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight) {
  if (count > 0 && divides_granule(stride))
    count_dividing(address, stride, count, weight, hearth_shadow_count_atomic);
  else
    count_strided(address, stride, count, weight, hearth_shadow_count_atomic);
}

void *__memprof_memcpy(void *to, const void *from, size_t size) {
  __memprof_record_access_range(from, size);
  __memprof_record_access_range(to, size);
  return memcpy(to, from, size);
}

void *__memprof_memmove(void *to, const void *from, size_t size) {
  __memprof_record_access_range(from, size);
  __memprof_record_access_range(to, size);
  return memmove(to, from, size);
}

void *__memprof_memset(void *to, int byte, size_t size) {
  __memprof_record_access_range(to, size);
  return memset(to, byte, size);
}
