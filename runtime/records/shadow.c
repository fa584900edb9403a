/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One large sparse mapping holds all counters. Whole pages of counters are made 0 by giving them back. */
#include "shadow.h"

#include "os.h"

uint64_t __memprof_shadow_memory_dynamic_address;

bool hearth_shadow_is_histogram;

bool hearth_shadow_is_ignored;

bool hearth_shadow_reserve(void) {
  if (__memprof_shadow_memory_dynamic_address)
    return true;
  size_t size = (size_t)1 << (hearth_os_address_bits() - 3);
  void *space = hearth_os_map(size);
  if (!space)
    return false;
  hearth_os_mark_sparse(space, size);
  __memprof_shadow_memory_dynamic_address = (uint64_t)(uintptr_t)space;
  return true;
}

void hearth_shadow_ignore(void) { hearth_shadow_is_ignored = true; }

bool hearth_shadow_has_counters(void) { return __memprof_shadow_memory_dynamic_address && !hearth_shadow_is_ignored; }

void hearth_shadow_clear_many(hearth_counters range) {
  /* Whole pages of counters, if there are many, are dropped: nothing needs to be read or written to make them 0. */
  uintptr_t first_page = ((uintptr_t)range.begin + HEARTH_OS_PAGE - 1) & ~(HEARTH_OS_PAGE - 1);
  uintptr_t end_page = (uintptr_t)range.end & ~(HEARTH_OS_PAGE - 1);
  if (end_page < first_page + HEARTH_DISCARD_LEAST) {
    hearth_counters_clear(range.begin, range.end);
    return;
  }
  hearth_counters_clear(range.begin, (uint64_t *)first_page);
  hearth_os_discard((void *)first_page, end_page - first_page);
  hearth_counters_clear((uint64_t *)end_page, range.end);
}

hearth_byte_counters hearth_shadow_bytes(const void *memory, size_t size) {
  uintptr_t lead = (uintptr_t)memory % HEARTH_GRANULE / 8;

  if (!__memprof_shadow_memory_dynamic_address || hearth_shadow_is_ignored)
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

hearth_access_sum hearth_shadow_sum_bytes(hearth_counters range) {
  hearth_access_sum sum = {.granules = (uint64_t)(range.end - range.begin)};

  for (const uint64_t *counter = range.begin; counter < range.end; ++counter) {
    uint64_t accesses = __atomic_load_n(counter, __ATOMIC_RELAXED);
    sum.accesses += sum_bytes(accesses);
    sum.touched += accesses != 0;
  }
  return sum;
}
