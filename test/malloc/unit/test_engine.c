/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The engine by its internal functions, in heaps beside the one of the test's own malloc: size classes, order, lists, sweeps,
 * alignment, cold pools, large blocks. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine_check.h"
#include "heap_memory.h"

#ifndef MADV_DONTNEED_LOCKED /* Linux 5.18; missing from older headers */
#define MADV_DONTNEED_LOCKED 24
#endif

static uint64_t random_state = 1;
static size_t random_below(size_t bound) {
  random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (size_t)(random_state >> 33) % bound;
}

/* As malloc and free do, but of a given pool. */
static char *take(hearth_pool *pool, size_t bytes) {
  size_t class = hearth_class_of(bytes);
  void *block = hearth_pool_pop(pool, class, hearth_class_granules(class));
  return block ? block : hearth_pool_alloc_slowly(pool, class);
}
/* By the thread of this pool, whose block it need not be. */
static void put(hearth_pool *pool, void *block) { hearth_pool_free_slowly(&pool->heap->main, block); }

static hearth_pool *new_pool(void) { return &hearth_heap_create()->main; }
static hearth_pool *new_cold_pool(void) {
  hearth_pool *pool = hearth_heap_pool(hearth_heap_create(), 3);
  pool->is_cold = true;
  pool->is_listed = false;
  return pool;
}

static bool has_bytes(const char *block, int byte, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    if (block[i] != (char)byte)
      return false;
  return true;
}

static bool dies(void (*function)(void *), void *argument) {
  pid_t child = fork();
  if (!child) {
    close(STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    function(argument);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void classes_hold_each_size(void **unused) {
  (void)unused;
  size_t before = 1;
  for (size_t bytes = 0; bytes <= HEARTH_MEDIUM_BYTES; bytes++) {
    size_t class = hearth_class_of(bytes), usable = hearth_class_granules(class) * HEARTH_GRANULE;
    assert_true(class >= before && class <= before + 1 && class < HEARTH_CLASSES);
    assert_true(usable >= bytes);
    assert_true(!bytes || usable - bytes < HEARTH_GRANULE || (usable - bytes) * 8 <= bytes);
    assert_int_equal(hearth_class_of(usable), class);
    before = class;
  }
  assert_int_equal(before, HEARTH_CLASSES - 1);
  for (size_t class = 2; class < HEARTH_CLASSES; class++)
    assert_true(hearth_class_range(class) >= hearth_class_range(class - 1) &&
                hearth_class_range(class) < HEARTH_RANGES);
}

static void blocks_lie_in_the_order_of_requests(void **unused) {
  (void)unused;
  static const size_t sizes[] = {24, 1, 100, 16, 0, 1000, 48, 1024, 17, 700, 5000, 3000, 20000, 131072};
  hearth_pool *pool = new_pool();
  char *next[HEARTH_RANGES] = {0};
  for (int round = 0; round < 300; round++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      size_t class = hearth_class_of(sizes[i]);
      unsigned range = hearth_class_range(class);
      char *block = take(pool, sizes[i]);
      if (block != next[range] && sizes[i] <= HEARTH_SMALL_BYTES) /* in a further slot; medium ones fill rests, too */
        assert_int_equal((uintptr_t)block % HEARTH_SLOT_BYTES, (uintptr_t)block / HEARTH_SLOT_BYTES % 8 * 64);
      assert_int_equal(hearth_block_class(block, hearth_kind_of(block)), class);
      next[range] = block + hearth_class_granules(class) * HEARTH_GRANULE;
    }
  assert_true(hearth_pool_is_valid(pool));
}

static void the_last_freed_is_the_first_used(void **unused) {
  (void)unused;
  hearth_pool *pool = new_pool();
  static const size_t sizes[] = {16, 80, 1024, 1100, 9000};
  char *block[5][10];
  for (int i = 0; i < 10; i++)
    for (int size = 0; size < 5; size++)
      block[size][i] = take(pool, sizes[size]);
  for (int i = 0; i < 10; i++)
    for (int size = 0; size < 5; size++)
      put(pool, block[size][i]);
  for (int i = 10; i-- > 0;)
    for (int size = 0; size < 5; size++)
      assert_ptr_equal(take(pool, sizes[size]), block[size][i]);
  assert_true(hearth_pool_is_valid(pool));
}

/* Live blocks of a random workload, each filled with a byte of its own. */
enum { LIVE = 4000 };
typedef struct live_block {
  char *start;
  size_t bytes;
  char fill;
} live_block;

static size_t random_size(unsigned phase) {
  switch (random_below(phase % 2 ? 20 : 3)) {
  case 0:
    return random_below(65);
  case 1:
    return random_below(300);
  case 2:
    return random_below(1025);
  case 3:
    return random_below(HEARTH_MEDIUM_BYTES + 1);
  default:
    return random_below(9000);
  }
}

static void replace(hearth_pool *pool, hearth_pool *other, live_block *live, size_t bytes) {
  if (live->start) {
    assert_true(has_bytes(live->start, live->fill, live->bytes));
    put(random_below(2) ? pool : other, live->start);
  }
  *live = (live_block){0};
  if (bytes != SIZE_MAX) {
    *live = (live_block){take(pool, bytes), bytes, (char)random_below(256)};
    assert_int_equal((uintptr_t)live->start % HEARTH_GRANULE, 0);
    memset(live->start, live->fill, bytes);
  }
}

/* Half of the blocks are freed by the thread of the other pool. */
static void stays_valid(hearth_pool *pool, hearth_pool *other) {
  static live_block live[LIVE];
  memset(live, 0, sizeof live);
  for (unsigned phase = 0; phase < 24; phase++) {
    for (size_t i = 0; i < LIVE * 4; i++)
      replace(pool, other, &live[random_below(LIVE)], random_below(phase % 3 + 2) ? random_size(phase) : SIZE_MAX);
    assert_true(hearth_heap_is_valid(pool->heap));
    if (phase % 8 == 7) { /* most are freed, in the order of the table */
      for (size_t i = 0; i < LIVE - 100; i++)
        replace(pool, other, &live[i], SIZE_MAX);
      assert_true(hearth_heap_is_valid(pool->heap));
    }
    if (phase % 5 == 4) {
      hearth_pool_collect(pool);
      assert_true(hearth_heap_is_valid(pool->heap));
    }
  }
  for (size_t i = 0; i < LIVE; i++)
    replace(pool, other, &live[i], SIZE_MAX);
  hearth_pool_collect(pool);
  hearth_pool_sums sums;
  assert_true(hearth_pool_sum(pool, &sums));
  assert_int_equal(sums.live, 0);
  assert_int_equal(pool->segments, 0);
}

static void any_workload_leaves_a_valid_heap(void **unused) {
  (void)unused;
  hearth_pool *pool = new_pool();
  stays_valid(pool, pool);
}
static void any_workload_of_two_threads_leaves_a_valid_heap(void **unused) {
  (void)unused;
  stays_valid(new_pool(), new_pool());
}
static void any_workload_leaves_a_valid_cold_heap(void **unused) {
  (void)unused;
  stays_valid(new_cold_pool(), new_pool());
}

static void any_workload_leaves_a_valid_secure_heap(void **unused) {
  (void)unused;
  hearth_is_secure = true;
  stays_valid(new_pool(), new_pool());
}

static void sweeps_make_holes_and_keep_contents(void **unused) {
  (void)unused;
  enum { BLOCKS = 20000, BYTES = 48 };
  hearth_pool *pool = new_pool();
  static char *block[BLOCKS];
  for (int i = 0; i < BLOCKS; i++)
    memset((block[i] = take(pool, BYTES)), i, BYTES);
  for (int i = 0; i < BLOCKS; i++)
    if (i % 10) /* nine neighbours of ten */
      put(pool, block[i]);
  hearth_pool_collect(pool);
  assert_true(hearth_pool_is_valid(pool));
  for (int i = 0; i < BLOCKS; i += 10)
    assert_true(has_bytes(block[i], i, BYTES));
  assert_true(pool->hole_granules > BLOCKS * 8 / 10 * BYTES / HEARTH_GRANULE);
  size_t used = pool->used_granules;
  char *before = NULL, *first = take(pool, 32);
  for (int i = 0; i < BLOCKS / 4; i++) { /* in the order of addresses within a segment */
    char *next = take(pool, 32);
    if (before && hearth_segment_of(before) == hearth_segment_of(next))
      assert_true(next > before);
    before = next;
  }
  assert_true(hearth_is_segment(hearth_kind_of(first)));
  assert_int_equal(pool->used_granules, used);
  assert_true(hearth_pool_is_valid(pool));
}

/* What lies in other pools counts: with hints or without, the main pool's lists are dropped as often. */
static void a_quarter_of_the_heap_waits_in_lists(void **unused) {
  (void)unused;
  enum { BLOCKS = 100000, BYTES = 48, FREED = BLOCKS / 5 };
  for (int is_beside = 0; is_beside < 2; is_beside++) {
    hearth_pool *pool = new_pool(), *other = is_beside ? hearth_heap_pool(pool->heap, HEARTH_POOL_COLD) : pool;
    static char *block[FREED];
    for (int i = 0; i < BLOCKS; i++)
      take(other, BYTES);
    hearth_pool_collect(pool);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < FREED; i++)
        block[i] = take(pool, BYTES);
      for (int i = 0; i < FREED; i++)
        put(pool, block[i]);
      assert_null(pool->next_to_sweep);
      assert_ptr_equal(take(pool, BYTES), block[FREED - 1]);
      put(pool, block[FREED - 1]);
    }
    assert_true(hearth_heap_is_valid(pool->heap));
  }
}

static size_t kept_bytes(void) {
  hearth_kind kind;
  size_t bytes = 0;
  for (char *piece = NULL; (piece = hearth_kind_next(piece, &kind)); piece += HEARTH_SEGMENT_BYTES)
    bytes += kind == HEARTH_KIND_KEPT ? HEARTH_SEGMENT_BYTES : 0;
  return bytes;
}

static void empty_slots_and_segments_go_back(void **unused) {
  (void)unused;
  enum { BLOCKS = 100000, BYTES = 200 };
  hearth_pool *pool = new_pool();
  static char *block[BLOCKS];
  for (int i = 0; i < BLOCKS; i++)
    block[i] = take(pool, BYTES);
  size_t most = pool->segments;
  assert_true(most >= 10);
  for (int i = BLOCKS / 20; i < BLOCKS; i++)
    put(pool, block[i]);
  assert_true(pool->segments <= most / 3); /* without being asked */
  hearth_pool_collect(pool);
  assert_true(hearth_pool_is_valid(pool));
  assert_true(pool->segments <= 1);
  assert_true(pool->used_granules <= BLOCKS / 20 * 208 / HEARTH_GRANULE + 2 * HEARTH_SLOT_GRANULES);
  assert_true(kept_bytes() <= 3 * HEARTH_SEGMENT_BYTES);
  hearth_segments_trim();
  assert_int_equal(kept_bytes(), 0);
}

static void slots_serve_other_ranges(void **unused) {
  (void)unused;
  hearth_pool *pool = new_pool();
  static char *block[40000];
  for (int i = 0; i < 40000; i++)
    block[i] = take(pool, 64);
  for (int i = 1; i < 40000; i++)
    put(pool, block[i]);
  size_t used = pool->segments;
  for (int i = 0; i < 4000; i++)
    take(pool, 500);
  assert_true(pool->segments <= used);
  assert_true(hearth_pool_is_valid(pool));
}

static void any_alignment_is_served(void **unused) {
  (void)unused;
  hearth_pool *pool = new_pool();
  for (size_t alignment = 32; alignment <= HEARTH_SLOT_BYTES; alignment *= 2)
    for (size_t bytes = 0; bytes <= HEARTH_MEDIUM_BYTES; bytes = bytes * 3 + 1) {
      take(pool, 16);
      char *block = hearth_pool_alloc_aligned(pool, bytes, alignment);
      assert_int_equal((uintptr_t)block % alignment, 0);
      assert_true(hearth_class_granules(hearth_block_class(block, hearth_kind_of(block))) * HEARTH_GRANULE >= bytes);
      memset(block, 1, bytes);
    }
  assert_true(hearth_pool_is_valid(pool));
}

static void cold_blocks_are_not_written_to(void **unused) {
  (void)unused;
  enum { BLOCKS = 30000 };
  hearth_pool *pool = new_cold_pool();
  static char *block[BLOCKS];
  static size_t bytes[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    bytes[i] = random_size(0);
    memset(block[i] = take(pool, bytes[i]), 0x5a, bytes[i]);
  }
  for (int i = 0; i < BLOCKS; i += 2)
    put(pool, block[i]);
  for (int i = 0; i < BLOCKS; i++)
    assert_true(has_bytes(block[i], 0x5a, bytes[i]));
  hearth_pool_drop_lists(pool);
  hearth_pool_collect(pool);
  for (int i = 0; i < BLOCKS; i++)
    assert_true(has_bytes(block[i], 0x5a, bytes[i]));
  size_t used = pool->used_granules;
  for (int i = 0; i < BLOCKS / 10; i++)
    take(pool, 100);
  assert_int_equal(pool->used_granules, used); /* in holes */
  assert_true(hearth_heap_is_valid(pool->heap));
}

/* A block that was freed long ago lies in a hole, whose bytes in the map are no classes. */
static void free_again(void *block) { hearth_pool_free_slowly(hearth_main_pool, block); }

static void late_double_frees_abort(void **unused) {
  (void)unused;
  hearth_pool *pool = new_pool();
  static char *block[30000];
  for (int i = 0; i < 30000; i++)
    block[i] = take(pool, 16);
  for (int i = 1; i < 30000; i++)
    if (i % 2000)
      put(pool, block[i]);
  hearth_pool_collect(pool);
  for (int i = 1; i < 20; i++)
    assert_true(dies(free_again, block[i]));
  for (int i = 2001; i < 2020; i++)
    assert_true(dies(free_again, block[i]));
}

/* In a block that is freed, by its thread or by another one, no live block begins, whatever its class. */
static void frees_within_freed_blocks_abort(void **unused) {
  (void)unused;
  hearth_pool *pool = new_pool();
  for (size_t class = 1; class < HEARTH_CLASSES; class += 7) {
    char *own = take(pool, hearth_class_granules(class) * HEARTH_GRANULE);
    char *remote = take(pool, hearth_class_granules(class) * HEARTH_GRANULE);
    put(pool, own);
    hearth_pool_free_slowly(hearth_main_pool, remote);
    assert_true(hearth_heap_is_valid(pool->heap));
    for (size_t granule = 0; granule < 2 && granule < hearth_class_granules(class); granule++) {
      assert_true(dies(free_again, own + granule * HEARTH_GRANULE));
      assert_true(dies(free_again, remote + granule * HEARTH_GRANULE));
    }
  }
}

/* Large blocks. */

static char *take_large(size_t bytes, size_t alignment, bool *ret_zero) {
  char *block = hearth_large_alloc(false, bytes, alignment, ret_zero);
  assert_non_null(block);
  assert_int_equal((uintptr_t)block % alignment, 0);
  assert_true(hearth_large_usable(block) >= bytes);
  return block;
}

static size_t live_large_blocks(void) {
  hearth_large_stats stats = {0};
  hearth_large_count(false, &stats);
  return stats.live;
}

static void large_neighbours_coalesce(void **unused) {
  (void)unused;
  bool is_zero;
  size_t live = live_large_blocks();
  char *all = take_large(1200 << 10, 1, &is_zero);
  hearth_large_free(all);
  char *part[3];
  for (int i = 0; i < 3; i++)
    part[i] = take_large(400 << 10, 1, &is_zero);
  assert_ptr_equal(part[1], part[0] + (400 << 10));
  assert_ptr_equal(part[2], part[1] + (400 << 10));
  for (int i = 0; i < 3; i++)
    hearth_large_free(part[(i + 1) % 3]);
  assert_ptr_equal(take_large(1200 << 10, 1, &is_zero), part[0]);
  hearth_large_free(part[0]);
  assert_int_equal(live_large_blocks(), live);
}

static void large_blocks_grow_in_place(void **unused) {
  (void)unused;
  bool is_zero;
  char *block = take_large(200 << 10, 1, &is_zero);
  memset(block, 7, 200 << 10);
  char *grown = hearth_large_resize(block, 1000 << 10);
  assert_ptr_equal(grown, block);
  assert_ptr_equal(hearth_large_resize(block, 150 << 10), block);
  assert_true(has_bytes(block, 7, 150 << 10));
  assert_int_equal(hearth_large_usable(block), ((150 << 10) + 4095) & -4096);
  char *behind = take_large(300 << 10, 1, &is_zero);
  memset(behind, 9, 300 << 10);
  char *moved = hearth_large_resize(block, 40 << 20);
  assert_non_null(moved);
  assert_true(has_bytes(moved, 7, 150 << 10) && has_bytes(behind, 9, 300 << 10));
  memset(moved, 8, 40 << 20);
  char *again = hearth_large_resize(moved, 150 << 20); /* pages move */
  assert_true(has_bytes(again, 8, 40 << 20));
  memset(again, 6, 150 << 20);
  assert_null(hearth_large_resize(again, SIZE_MAX));
  assert_null(hearth_large_resize(again, PTRDIFF_MAX));
  assert_null(hearth_large_resize(again, (size_t)1 << 50));
  assert_true(has_bytes(again, 6, 150 << 20));
  hearth_large_free(again);
  hearth_large_free(behind);
}

static void zero_means_zero(void **unused) {
  (void)unused;
  static char *live[40];
  static size_t bytes[40];
  size_t zero = 0;
  for (int i = 0; i < 3000; i++) {
    size_t at = random_below(40);
    bool is_zero;
    if (live[at])
      hearth_large_free(live[at]);
    bytes[at] = HEARTH_MEDIUM_BYTES + 1 + random_below(random_below(10) ? 600 << 10 : 8 << 20);
    live[at] = take_large(bytes[at], random_below(4) ? 1 : (size_t)4096 << random_below(11), &is_zero);
    zero += is_zero;
    if (is_zero)
      assert_true(has_bytes(live[at], 0, bytes[at]));
    memset(live[at], 1, bytes[at]);
    if (i % 100 == 99)
      hearth_large_trim();
  }
  assert_true(zero > 10);
  for (int i = 0; i < 40; i++)
    hearth_large_free(live[i]);
}

/* Pages that are locked cannot be discarded: what comes back is zero all the same. */
static void zero_means_zero_of_locked_pages(void **unused) {
  (void)unused;
  bool is_zero;
  char *first = take_large(1 << 20, 1, &is_zero), *second = take_large(900 << 10, 1, &is_zero);
  memset(first, 1, 1 << 20);
  memset(second, 1, 900 << 10);
  if (mlock(first, 1 << 20))
    skip();
  if (madvise(first, 4096, MADV_DONTNEED_LOCKED) == 0 && first[0] == 1) /* qemu takes unknown advice for done */
    skip();
  memset(first, 1, 4096);
  hearth_large_free(first);
  hearth_large_trim();
  char *third = take_large(1 << 20, 1, &is_zero);
  assert_true(!is_zero || has_bytes(third, 0, 1 << 20));
  munlock(third, 1 << 20);
  hearth_large_free(second);
  hearth_large_free(third);
}

static void impossible_large_requests_fail(void **unused) {
  (void)unused;
  bool is_zero;
  for (int bit = 47; bit < 64; bit++)
    for (size_t part = 4; part < 8; part++) {
      assert_null(hearth_large_alloc(false, part << (bit - 2), 1, &is_zero));
      assert_null(hearth_large_alloc(false, 100, (size_t)1 << bit, &is_zero));
      assert_null(hearth_large_alloc(false, part << (bit - 2), (size_t)1 << bit, &is_zero));
    }
  assert_null(hearth_large_alloc(false, SIZE_MAX, 1, &is_zero));
}

/* Also if a run of another area would hold the bytes, but not there. */
static void large_alignments_are_served(void **unused) {
  (void)unused;
  bool is_zero;
  char *block[60];
  for (int i = 0; i < 60; i++)
    block[i] = take_large(i % 5 ? 300000 : 0, (size_t)1 << (17 + i % 10), &is_zero);
  for (int i = 0; i < 60; i++)
    hearth_large_free(block[i]);
}

static void free_twice(void *block) {
  hearth_large_free(block);
  hearth_large_free(block);
}
static void free_once(void *block) { hearth_large_free(block); }
static void resize_freed(void *block) {
  hearth_large_free(block);
  hearth_large_resize(block, 1 << 20);
}

static void misuse_of_large_blocks_aborts(void **unused) {
  (void)unused;
  bool is_zero;
  char *before = take_large(200 << 10, 1, &is_zero), *block = take_large(200 << 10, 1, &is_zero);
  char *behind = take_large(200 << 10, 1, &is_zero);
  assert_true(dies(free_twice, block));
  assert_true(dies(resize_freed, block));
  assert_true(dies(free_once, block + 4096));
  assert_true(dies(free_once, block + 16));
  assert_true(dies(free_once, block + 1));
  assert_true(dies(free_once, block + (199 << 10))); /* its last page */
  hearth_large_free(before);
  hearth_large_free(block);
  hearth_large_free(behind);
}

static void *free_all_of(void *blocks) {
  for (char **block = blocks; *block; block++)
    hearth_pool_free_slowly(hearth_main_pool, *block);
  return NULL;
}

static void blocks_that_others_free_are_found(void **unused) {
  (void)unused;
  enum { BLOCKS = 50000 };
  hearth_pool *pool = new_pool();
  static char *block[BLOCKS + 1];
  size_t most = 0;
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < BLOCKS; i++)
      block[i] = take(pool, 1 + random_below(100));
    pthread_t thread;
    pthread_create(&thread, NULL, free_all_of, block);
    pthread_join(thread, NULL);
    assert_true(hearth_pool_is_valid(pool));
    most = !round ? pool->segments : most;
    assert_true(pool->segments <= most + most / 2);
  }
  hearth_pool_collect(pool);
  assert_int_equal(pool->segments, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_hold_each_size),
      cmocka_unit_test(blocks_lie_in_the_order_of_requests),
      cmocka_unit_test(the_last_freed_is_the_first_used),
      cmocka_unit_test(any_workload_leaves_a_valid_heap),
      cmocka_unit_test(any_workload_of_two_threads_leaves_a_valid_heap),
      cmocka_unit_test(any_workload_leaves_a_valid_cold_heap),
      cmocka_unit_test(sweeps_make_holes_and_keep_contents),
      cmocka_unit_test(a_quarter_of_the_heap_waits_in_lists),
      cmocka_unit_test(empty_slots_and_segments_go_back),
      cmocka_unit_test(slots_serve_other_ranges),
      cmocka_unit_test(any_alignment_is_served),
      cmocka_unit_test(cold_blocks_are_not_written_to),
      cmocka_unit_test(late_double_frees_abort),
      cmocka_unit_test(frees_within_freed_blocks_abort),
      cmocka_unit_test(blocks_that_others_free_are_found),
      cmocka_unit_test(large_neighbours_coalesce),
      cmocka_unit_test(large_blocks_grow_in_place),
      cmocka_unit_test(zero_means_zero),
      cmocka_unit_test(zero_means_zero_of_locked_pages),
      cmocka_unit_test(impossible_large_requests_fail),
      cmocka_unit_test(large_alignments_are_served),
      cmocka_unit_test(misuse_of_large_blocks_aborts),
      cmocka_unit_test(any_workload_leaves_a_valid_secure_heap), /* last: the mode is for good */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
