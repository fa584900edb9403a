/* The ranges and the caches of threads under the thread sanitizer: blocks handed from thread to thread, counters read
 * meanwhile, threads that end. The sanitizer's malloc is the program's own, and does not hand its free to the adapter, so
 * the layers below the interposed functions are called; the probe for those is answered here, and
 * nothing is written at exit.
 *   races [steps of each thread [threads]]      the long form: races 420000 8
 *
 * REQUIRES: tsan
 * RUN: %clang -std=gnu11 -g -O1 -fsanitize=thread -I%include -I%adapter/spans -I%adapter/ranges -I%adapter/entries \
 * RUN:   -I%adapter/../guard -I%S/Inputs -I%format %s %S/Inputs/region_check.c $(find %adapter/spans -name "*.c") \
 * RUN:   %adapter/ranges/ranges.c %adapter/ranges/block_cache.c %adapter/ranges/status_page.c %adapter/ranges/cold_file.c \
 * RUN:   %adapter/ranges/hot_pages.c %adapter/ranges/page_out.c \
 * RUN:   %adapter/entries/opening.c %adapter/entries/missing_sites.c %adapter/entries/hinted_calls_absent.c -o %t -pthread
 * RUN: env HEARTH_HOTCOLD=cold=madvise-cold:interval=1 TSAN_OPTIONS=halt_on_error=1 %t | FileCheck %s
 *
 * CHECK: 0 blocks left
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block_cache.h"
#include "next.h"
#include "region_check.h"
#include "statistics_file.h"

enum { SLOTS = 64, THREADS_MOST = 64, ROUNDS = 3 };
static long steps = 8000;
static _Atomic(char *) slots[SLOTS];

bool hearth_next_is_interposed(void) { return true; }
void hearth_statistics_file_open(const char *path) { assert(!*path); }

static enum hearth_range range_of_slot(unsigned slot) { return hearth_range_for_hint(slot % 2 ? 0 : 255); }

static char *take(unsigned slot, size_t bytes) {
  bool zeroed;
  enum hearth_range range = range_of_slot(slot);
  return bytes <= HEARTH_SMALL_MAX_BYTES ? hearth_block_cache_take(range, hearth_size_class_of(bytes))
                                         : hearth_region_take_large(&hearth_ranges.region[range], bytes, 1, &zeroed);
}

static void put(unsigned slot, char *block) {
  enum hearth_range range = range_of_slot(slot);
  assert(hearth_range_of(block) == range);
  unsigned size_class = hearth_region_class(&hearth_ranges.region[range], block);
  if (size_class < HEARTH_SIZE_CLASSES)
    hearth_block_cache_put(range, size_class, block);
  else
    hearth_region_put_large(&hearth_ranges.region[range], block);
}

static void *run(void *seed) {
  uint32_t state = (uint32_t)(size_t)seed;
  for (long i = 0; i < steps; i++) {
    state = state * 1664525 + 1013904223;
    unsigned slot = state >> 8 & (SLOTS - 1);
    char *block = take(slot, 1 + (state >> 4) % ((size_t)16 << (state >> 28)));
    memset(block, (int)slot, 16); /* whoever had these bytes before must be done with them */
    char *other = atomic_exchange(&slots[slot], block);
    if (other) {
      assert(other[0] == (char)slot);
      put(slot, other);
    }
  }
  return NULL;
}

static void *look_on(void *unused) {
  struct hearth_block_cache_stats cached;
  struct hearth_region_stats blocks;
  for (int i = 0; i < 100; i++)
    for (unsigned range = 0; range < HEARTH_RANGES; range++) {
      hearth_block_cache_stats((enum hearth_range)range, &cached);
      hearth_region_stats(&hearth_ranges.region[range], &blocks);
      hearth_region_resident(&hearth_ranges.region[range]);
    }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS_MOST + 1];
  steps = argc > 1 ? atol(argv[1]) : steps;
  int count = argc > 2 ? atoi(argv[2]) : 4;
  assert(count >= 1 && count <= THREADS_MOST);
  hearth_range_for_hint(0); /* opens the ranges: who only looks on does not */
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < count; i++)
      assert(!pthread_create(&threads[i], NULL, run, (void *)(size_t)(round * count + i + 1)));
    assert(!pthread_create(&threads[count], NULL, look_on, NULL));
    for (int i = 0; i <= count; i++)
      pthread_join(threads[i], NULL);
  }
  for (unsigned slot = 0; slot < SLOTS; slot++)
    if (slots[slot])
      put(slot, slots[slot]);
  uint64_t left = 0;
  for (unsigned range = 0; range < HEARTH_RANGES; range++) {
    struct hearth_block_cache_stats cached;
    struct hearth_region_stats blocks;
    hearth_block_cache_stats((enum hearth_range)range, &cached);
    hearth_region_stats(&hearth_ranges.region[range], &blocks);
    assert(hearth_region_is_valid(&hearth_ranges.region[range]));
    left += blocks.blocks - cached.blocks;
  }
  printf("%d blocks left\n", (int)left);
  return 0;
}
