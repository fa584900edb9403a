#include "shadow.h"

#include "heap.h"
#include "os.h"

#define ADDRESS_BITS  47 /* of user space; larger addresses are given only to programs that ask for them */
#define SHADOW_SIZE   ((size_t)1 << (ADDRESS_BITS - 3))
#define DISCARD_LEAST (16 * HEARTH_OS_PAGE) /* below this, writing zeros is cheaper than page faults later */

uint64_t __memprof_shadow_memory_dynamic_address;

bool hearth_shadow_is_histogram;

static bool ignored;

bool hearth_shadow_reserve(void) {
  if (__memprof_shadow_memory_dynamic_address)
    return true;
  void *space = hearth_os_map(SHADOW_SIZE);
  if (!space)
    return false;
  hearth_os_mark_sparse(space, SHADOW_SIZE);
  __memprof_shadow_memory_dynamic_address = (uint64_t)(uintptr_t)space;
  return true;
}

void hearth_shadow_ignore(void) { ignored = true; }

bool hearth_shadow_has_counters(void) { return __memprof_shadow_memory_dynamic_address && !ignored; }

typedef struct counters {
  uint64_t *begin, *end;
} counters;

static inline counters counters_of(const void *memory, size_t size) {
  uintptr_t first = (uintptr_t)memory / HEARTH_GRANULE;
  uintptr_t last = ((uintptr_t)memory + (size ? size - 1 : 0)) / HEARTH_GRANULE;
  uint64_t *base = (uint64_t *)__memprof_shadow_memory_dynamic_address;

  return (counters){base + first, base + last + 1};
}

/* Blocks mostly have few counters: then one at a time is fastest. Reading and writing them atomically, as other threads
 * may be counting, keeps compilers from making it anything else. */
static inline void write_zeros(uint64_t *begin, uint64_t *end) {
  for (; begin < end; ++begin)
    __atomic_store_n(begin, 0, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void clear_many(counters range) {
  /* Whole pages of counters, if there are many, are dropped: nothing needs to be read or written to make them 0. */
  uintptr_t first_page = ((uintptr_t)range.begin + HEARTH_OS_PAGE - 1) & ~(HEARTH_OS_PAGE - 1);
  uintptr_t end_page = (uintptr_t)range.end & ~(HEARTH_OS_PAGE - 1);
  if (end_page < first_page + DISCARD_LEAST) {
    write_zeros(range.begin, range.end);
    return;
  }
  write_zeros(range.begin, (uint64_t *)first_page);
  hearth_os_discard((void *)first_page, end_page - first_page);
  write_zeros((uint64_t *)end_page, range.end);
}

inline void hearth_shadow_clear(const void *memory, size_t size) {
  if (!__memprof_shadow_memory_dynamic_address)
    return;
  counters range = counters_of(memory, size);
  if (__builtin_expect((uintptr_t)range.end - (uintptr_t)range.begin >= DISCARD_LEAST, false))
    clear_many(range);
  else
    write_zeros(range.begin, range.end);
}

hearth_byte_counters hearth_shadow_bytes(const void *memory, size_t size) {
  uintptr_t lead = (uintptr_t)memory % HEARTH_GRANULE / 8;

  if (!__memprof_shadow_memory_dynamic_address || ignored)
    return (hearth_byte_counters){NULL, NULL, 0};
  const uint8_t *first = hearth_shadow_byte((uintptr_t)memory);
  return (hearth_byte_counters){first - lead, first, size ? (size + 7) / 8 : 1};
}

static uint64_t sum_bytes(uint64_t counters) {
  uint64_t sum = 0;

  for (; counters; counters >>= 8)
    sum += counters & UINT8_MAX;
  return sum;
}

static __attribute__((noinline)) hearth_access_sum sum_histogram(counters range) {
  hearth_access_sum sum = {.granules = (uint64_t)(range.end - range.begin)};

  for (const uint64_t *counter = range.begin; counter < range.end; ++counter) {
    uint64_t accesses = __atomic_load_n(counter, __ATOMIC_RELAXED);
    sum.accesses += sum_bytes(accesses);
    sum.touched += accesses != 0;
  }
  return sum;
}

inline hearth_access_sum hearth_shadow_sum(const void *memory, size_t size) {
  counters range = counters_of(memory, size);
  hearth_access_sum sum = {.granules = (uint64_t)(range.end - range.begin)};

  if (!__memprof_shadow_memory_dynamic_address || ignored)
    return sum;
  if (__builtin_expect(hearth_shadow_is_histogram, false))
    return sum_histogram(range);
  for (const uint64_t *counter = range.begin; counter < range.end; ++counter) {
    uint64_t accesses = __atomic_load_n(counter, __ATOMIC_RELAXED);
    sum.accesses += accesses;
    sum.touched += accesses != 0;
  }
  return sum;
}
