/* The ranges and the pools of threads under the thread sanitizer: blocks handed from thread to thread, counters read
 * meanwhile, threads that end; each block's contents, pool and neighbours as they should be. The sanitizer's malloc is the
 * program's own, and does not hand its free to the adapter, so the layers below the interposed functions are called; the
 * probe for those is answered here, and nothing is written at exit.
 *   races [steps of each thread [threads]]      the long form: races 420000 8
 *
 * REQUIRES: tsan
 * RUN: %clang -std=gnu11 -g -O1 -fsanitize=thread -I%include -I%adapter/pages -I%adapter/pools -I%adapter/ranges \
 * RUN:   -I%adapter/entries -I%adapter/../guard -I%S/Inputs -I%format %s %S/Inputs/region_check.c \
 * RUN:   %S/Inputs/pools_check.c %adapter/../guard/futex_lock.c $(find %adapter/pages %adapter/pools -name "*.c") %adapter/ranges/ranges.c \
 * RUN:   %adapter/ranges/status_page.c %adapter/ranges/cold_file.c %adapter/ranges/huge_pages.c %adapter/ranges/page_out.c \
 * RUN:   %adapter/ranges/warm_tiles.c %adapter/entries/opening.c %adapter/entries/missing_sites.c %adapter/entries/hinted_calls_absent.c -o %t -pthread
 * RUN: env HEARTH_HOTCOLD=cold=madvise-cold:interval=1 TSAN_OPTIONS=halt_on_error=1 %t | FileCheck %s
 *
 * CHECK: 0 blocks, 0 bytes left
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "next.h"
#include "pools_check.h"
#include "ranges.h"
#include "statistics_file.h"
#include "thread_pools.h"

enum { SLOTS = 256, THREADS_MOST = 64, ROUNDS = 3, FILLED = 256 };
static long steps = 8000;
static _Atomic(char *) slots[SLOTS];

bool hearth_next_is_interposed(void) { return true; }
void hearth_statistics_file_open(const char *path) { assert(!*path); }

/* Cold ones, three pools of a plan, hot ones. */
static unsigned pool_of_slot(unsigned slot) {
  static const uint8_t hints[] = {0, 223, 224, 253, 255};
  return hearth_pool_for_hint(hints[slot % 5]);
}

static char *take(unsigned slot, size_t bytes) {
  bool zeroed;
  unsigned pool = pool_of_slot(slot);
  if (bytes > HEARTH_MEDIUM_BYTES)
    return hearth_region_take_large(&hearth_ranges.region[hearth_range_of_pool(pool)], pool, bytes, 1, &zeroed);
  return slot % 7 ? hearth_take(pool, bytes, NULL) : hearth_take_aligned(pool, bytes, 64);
}

static size_t usable(char *block) {
  struct hearth_region *region = &hearth_ranges.region[hearth_range_of(block)];
  uint64_t owner = hearth_owner_of(block);
  return owner ? hearth_live_quanta(owner, block) * HEARTH_QUANTUM_BYTES
               : (size_t)hearth_region_large(region, block)->pages << HEARTH_PAGE_SHIFT;
}

/* Up to its ends, behind which other blocks begin: whoever had these bytes before must be done with them. */
static void fill(unsigned slot, char *block) {
  size_t bytes = usable(block);
  memset(block, (int)slot, bytes < FILLED ? bytes : FILLED);
  block[bytes - 1] = (char)slot;
}

static void check(unsigned slot, char *block) {
  size_t bytes = usable(block);
  for (size_t i = 0; i < bytes && i < FILLED; i++)
    assert(block[i] == (char)slot);
  assert(block[bytes - 1] == (char)slot);
}

static void put(unsigned slot, char *block) {
  unsigned pool = pool_of_slot(slot);
  uint64_t owner = hearth_owner_of(block);
  struct hearth_region *region = &hearth_ranges.region[hearth_range_of_pool(pool)];
  assert(hearth_range_of(block) == hearth_range_of_pool(pool));
  assert((owner ? hearth_owner_pool(owner) : hearth_region_large(region, block)->pool) == pool);
  check(slot, block);
  if (hearth_put_fast(hearth_offset_of(block), block))
    return;
  if (owner)
    hearth_put_slowly(block);
  else
    hearth_region_put_large(region, block);
}

/* Grows and shrinks it where it is, if that can be. */
static void resize(unsigned slot, char *block, size_t bytes) {
  uint64_t owner = hearth_owner_of(block);
  if (owner && bytes <= HEARTH_MEDIUM_BYTES && hearth_resize(owner, block, bytes))
    fill(slot, block);
}

static size_t random_bytes(uint32_t state) { return 1 + (state >> 4) % ((size_t)16 << (state >> 28)); }

static void *run(void *seed) {
  uint32_t state = (uint32_t)(size_t)seed;
  for (long i = 0; i < steps; i++) {
    state = state * 1664525 + 1013904223;
    unsigned slot = state >> 8 & (SLOTS - 1);
    char *block = take(slot, random_bytes(state));
    fill(slot, block);
    if (state >> 20 & 1)
      resize(slot, block, random_bytes(state * 7));
    char *other = atomic_exchange(&slots[slot], block);
    if (other)
      put(slot, other);
  }
  return NULL;
}

static void *look_on(void *unused) {
  struct hearth_hotcold_pool_stats stats;
  for (int i = 0; i < 100; i++) {
    for (unsigned pool = 0; pool < HEARTH_POOLS; pool++)
      hearth_pool_figures(pool, &stats);
    for (unsigned range = 0; range < HEARTH_RANGES; range++)
      hearth_region_resident(&hearth_ranges.region[range]);
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[THREADS_MOST + 1];
  steps = argc > 1 ? atol(argv[1]) : steps;
  int count = argc > 2 ? atoi(argv[2]) : 4;
  assert(count >= 1 && count <= THREADS_MOST);
  hearth_pool_for_hint(0); /* opens the ranges: who only looks on does not */
  for (int round = 0; round < ROUNDS; round++) {
    for (int i = 0; i < count; i++)
      assert(!pthread_create(&threads[i], NULL, run, (void *)(size_t)(round * count + i + 1)));
    assert(!pthread_create(&threads[count], NULL, look_on, NULL));
    for (int i = 0; i <= count; i++)
      pthread_join(threads[i], NULL);
    assert(hearth_pools_are_valid());
  }
  for (unsigned slot = 0; slot < SLOTS; slot++)
    if (slots[slot])
      put(slot, slots[slot]);
  assert(hearth_pools_are_valid());
  uint64_t blocks = 0, bytes = 0;
  for (unsigned pool = 0; pool < HEARTH_POOLS; pool++) {
    struct hearth_hotcold_pool_stats stats;
    hearth_pool_figures(pool, &stats);
    blocks += stats.live_blocks;
    bytes += stats.live_bytes;
  }
  printf("%d blocks, %d bytes left\n", (int)blocks, (int)bytes);
  return 0;
}
