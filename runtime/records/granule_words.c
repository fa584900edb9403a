/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One sparse mapping for each GiB of memory that has such a number. Of two threads that make one at once, one gives its own
 * back. */
#include "granule_words.h"

#include "os.h"

uint64_t *hearth_granule_word_make(hearth_granule_words *of, uintptr_t address) {
  size_t region = address >> HEARTH_REGION_BITS, size = (size_t)8 << HEARTH_REGION_BITS >> 4;
  uint64_t *none = NULL;

  if (region >= HEARTH_REGIONS)
    return NULL;
  if (!__atomic_load_n(&of->regions[region], __ATOMIC_ACQUIRE)) {
    uint64_t *words = hearth_os_map(size);
    if (!words)
      return NULL;
    hearth_os_mark_sparse(words, size);
    if (!__atomic_compare_exchange_n(&of->regions[region], &none, words, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      hearth_os_unmap(words, size);
  }
  __atomic_store_n(&of->any, true, __ATOMIC_RELAXED);
  return hearth_granule_word(of, address);
}
