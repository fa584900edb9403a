/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The pools of threads, in ranges of the process's own: order of blocks, holes, bins, blocks of other threads, growth in place,
 * memory that goes back, threads that vanish. */
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

#include "pools_check.h"
#include "ranges.h"
#include "released_blocks.h"
#include "thread_pools.h"

/* Each test has a pool of its own, so that it begins without parcels. */
enum {
  ORDER = 1,
  REUSE,
  SIZES,
  GROWTH,
  ZERO,
  REMOTE,
  ALIGNED,
  EMPTY,
  SPARSE,
  FORKED,
  ENDED,
  MISUSE,
  SHRUNK,
  MIXED,
  EVEN,
  MEDIUM_EVEN,
  MEDIUM_UNEVEN,
  MEDIUM_MISUSE,
  NEIGHBOURS,
  SPARSE_GROWTH,
  FRESH,
  MEDIUM_HOLES,
};

static char *take(unsigned pool, size_t bytes) { return hearth_take(pool, bytes, NULL); }

static void put(void *block) {
  if (!hearth_put_fast(hearth_offset_of(block), block))
    hearth_put_slowly(block);
}

static size_t usable(const void *block) {
  return hearth_live_quanta(hearth_owner_of(block), block) * HEARTH_QUANTUM_BYTES;
}

static struct hearth_hotcold_pool_stats figures(unsigned pool) {
  struct hearth_hotcold_pool_stats stats;
  hearth_pool_figures(pool, &stats);
  return stats;
}

static size_t parcel_bytes(unsigned pool) { return (size_t)hearth_thread_pools->pool[pool].tiles << HEARTH_TILE_SHIFT; }

static void blocks_lie_in_the_order_of_requests(void **state) {
  (void)state;
  static const size_t sizes[] = {24, 1, 100, 16, 0, 1000, 48, 1024, 17, 700};
  char *next = take(ORDER, 40) + 48;
  for (size_t round = 0; round < 20; round++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      size_t bytes = hearth_quanta_for(sizes[i]) * HEARTH_QUANTUM_BYTES;
      char *block = take(ORDER, sizes[i]);
      if (block != next) /* the next parcel */
        assert_int_equal((uintptr_t)block % 65536, 0);
      assert_int_equal(usable(block), bytes);
      assert_int_equal(hearth_owner_pool(hearth_owner_of(block)), ORDER);
      next = block + bytes;
    }
  assert_true(hearth_pools_are_valid());
}

static void freed_blocks_are_taken_again(void **state) {
  (void)state;
  char *blocks[100];
  for (int i = 0; i < 100; i++)
    blocks[i] = take(REUSE, 64);
  put(blocks[7]);
  put(blocks[70]);
  assert_ptr_equal(take(REUSE, 60), blocks[70]);
  assert_ptr_equal(take(REUSE, 60), blocks[7]);
  assert_int_equal(figures(REUSE).live_blocks, 100);
  assert_int_equal(figures(REUSE).live_bytes, 6400);
  for (int i = 0; i < 100; i++)
    put(blocks[i]);
  assert_int_equal(figures(REUSE).live_blocks, 0);
  assert_int_equal(figures(REUSE).live_bytes, 0);
  assert_true(hearth_pools_are_valid());
}

static size_t bits_of_pool(unsigned pool) {
  size_t bits = 0;
  for (int kind = 0; kind < 2; kind++)
    for (const struct hearth_parcel *parcel = hearth_thread_pools->pool[pool].parcels[kind]; parcel;
         parcel = parcel->next)
      bits += hearth_block_map_count(hearth_parcel_begin(parcel), hearth_parcel_end(parcel));
  return bits;
}

/* Until another size is asked for, or one of them is given back. */
static void need_no_bits(unsigned pool, size_t bytes, size_t count) {
  static char *blocks[100000];
  for (size_t i = 0; i < count; i++)
    memset(blocks[i] = take(pool, bytes), (int)i, bytes);
  assert_int_equal(bits_of_pool(pool), 0);
  assert_true(hearth_pools_are_valid());
  char *other = take(pool, bytes + 1);
  size_t last_parcel = bits_of_pool(pool);
  assert_true(last_parcel > 0 && last_parcel < count * (bytes / HEARTH_QUANTUM_BYTES) / 4);
  assert_int_equal(usable(other), bytes + HEARTH_QUANTUM_BYTES);
  for (size_t i = 0; i < count; i += 2) {
    assert_int_equal(usable(blocks[i]), bytes);
    put(blocks[i]);
  }
  assert_true(hearth_pools_are_valid());
  for (size_t i = 1; i < count; i += 2) {
    assert_int_equal(usable(blocks[i]), bytes);
    assert_int_equal(blocks[i][0], (char)i);
    put(blocks[i]);
  }
  put(other);
  assert_int_equal(figures(pool).live_bytes, 0);
  assert_true(hearth_pools_are_valid());
}

static void blocks_of_one_size_need_no_bits(void **state) {
  (void)state;
  need_no_bits(EVEN, 48, 100000);
  need_no_bits(MEDIUM_EVEN, 4096, 2000);
}

/* What three blocks of a tile leave, others can use. */
static void medium_blocks_that_leave_much_have_bits(void **state) {
  (void)state;
  char *first = take(MEDIUM_UNEVEN, 18000);
  assert_true(bits_of_pool(MEDIUM_UNEVEN) > 0);
  for (int i = 0; i < 2; i++)
    take(MEDIUM_UNEVEN, 18000);
  assert_ptr_equal(take(MEDIUM_UNEVEN, 11000), first + 3 * 18000);
  assert_true(hearth_pools_are_valid());
}

/* Blocks that go out of use together may be of two parcels that lie side by side, here of 2048 blocks each. */
static void neighbours_of_two_parcels_are_freed(void **state) {
  (void)state;
  enum { COUNT = 20000, STEP = 1000, BYTES = 32 };
  static char *blocks[COUNT];
  for (int i = 0; i < COUNT; i++)
    blocks[i] = take(NEIGHBOURS, BYTES);
  for (int i = 0; i < COUNT; i += STEP) /* no parcel is even any more */
    put(blocks[i]);
  for (int i = 0; i < COUNT; i++) {
    if (i % STEP)
      put(blocks[i]);
    else
      assert_true(hearth_pools_are_valid());
  }
  assert_true(hearth_pools_are_valid());
}

/* What small blocks leave serves larger ones, and the other way round: the pool does not grow. */
static void holes_serve_all_small_sizes(void **state) {
  (void)state;
  enum { BYTES = 4 << 20 };
  static char *blocks[BYTES / 32];
  size_t most = 0;
  for (int round = 0; round < 6; round++) {
    size_t bytes = round % 2 ? 1000 : 32, count = BYTES / (bytes + 15);
    for (size_t i = 0; i < count; i++)
      blocks[i] = take(SIZES, bytes);
    assert_true(hearth_pools_are_valid());
    size_t grown = parcel_bytes(SIZES);
    for (size_t i = 0; i < count; i++)
      if (i % 512) /* some stay, and keep their parcel */
        put(blocks[i]);
    if (round > 1)
      assert_true(grown <= most + most / 4);
    most = grown > most ? grown : most;
  }
  assert_true(hearth_pools_are_valid());
}

/* Pages that stay, and buffers a little smaller that do not, by turns: one hole serves all buffers. */
static void freed_medium_blocks_serve_the_next(void **state) {
  (void)state;
  enum { COUNT = 1000, PAGE = 4368, BUFFER = 4160 };
  char *buffer = take(MEDIUM_HOLES, BUFFER);
  for (int i = 0; i < COUNT; i++) {
    memset(take(MEDIUM_HOLES, PAGE), 1, PAGE);
    put(buffer);
    bool zeroed;
    buffer = hearth_take(MEDIUM_HOLES, BUFFER, &zeroed);
    assert_true(!zeroed || !buffer[0]);
    memset(buffer, 1, BUFFER);
  }
  size_t grown = parcel_bytes(MEDIUM_HOLES);
  assert_true(grown < (size_t)COUNT * PAGE / 16 * 17);
  put(buffer);
  for (int i = 0; i < COUNT; i++) {
    char *aligned = hearth_take_aligned(MEDIUM_HOLES, 2000, 1024);
    assert_int_equal((uintptr_t)aligned % 1024, 0);
    put(aligned);
  }
  assert_int_equal(parcel_bytes(MEDIUM_HOLES), grown);
  assert_true(hearth_pools_are_valid());
}

static void blocks_grow_where_there_is_room(void **state) {
  (void)state;
  char *first = take(GROWTH, 32);
  assert_true(hearth_resize(hearth_owner_of(first), first, 200)); /* the last one, before the hole */
  assert_int_equal(usable(first), 208);
  char *second = take(GROWTH, 32);
  assert_ptr_equal(second, first + 208);
  assert_false(hearth_resize(hearth_owner_of(first), first, 300));
  assert_int_equal(usable(first), 208);
  char *medium = take(GROWTH, 20000), *behind = take(GROWTH, 3000);
  assert_ptr_equal(behind, medium + 20000);
  put(behind); /* has no bin */
  assert_true(hearth_resize(hearth_owner_of(medium), medium, 22000));
  memset(medium, 1, 22000);
  assert_true(hearth_pools_are_valid());
  assert_false(hearth_resize(hearth_owner_of(medium), medium, 70000));
  put(first);
  put(second);
  put(medium);
  assert_true(hearth_pools_are_valid());
}

static void blocks_shrink_where_they_are(void **state) {
  (void)state;
  char *block = take(SHRUNK, 20000), *fence = take(SHRUNK, 2000);
  assert_true(hearth_resize(hearth_owner_of(block), block, 5000));
  assert_int_equal(usable(block), 5008);
  char *in_gap = take(SHRUNK, 14000);
  assert_true(in_gap > block && in_gap < fence);
  assert_true(hearth_pools_are_valid());
}

static void only_memory_never_used_is_known_to_be_zero(void **state) {
  (void)state;
  bool zeroed = false;
  char *block = hearth_take(ZERO, 100, &zeroed);
  assert_true(zeroed);
  memset(block, 1, 100);
  put(block);
  assert_ptr_equal(hearth_take(ZERO, 100, &zeroed), block);
  assert_false(zeroed);
  for (int i = 0; i < 4000; i++) {
    block = hearth_take(ZERO, 16 + i % 500, &zeroed);
    for (size_t k = 0; zeroed && k < usable(block); k++)
      assert_int_equal(block[k], 0);
    memset(block, 1, usable(block));
    if (i % 3)
      put(block);
  }
}

static void aligned_blocks_lose_no_room(void **state) {
  (void)state;
  for (size_t alignment = 32; alignment <= HEARTH_PAGE_BYTES; alignment *= 2)
    for (size_t bytes = 1; bytes < 20000; bytes = bytes * 3 + 7) {
      char *block = hearth_take_aligned(ALIGNED, bytes, alignment);
      assert_int_equal((uintptr_t)block % alignment, 0);
      assert_int_equal(usable(block), hearth_quanta_for(bytes) * HEARTH_QUANTUM_BYTES);
      memset(block, 1, bytes);
      assert_true(hearth_pools_are_valid());
    }
}

/* Whatever lies between them: the gaps are filled. */
static void aligned_blocks_lie_close(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  static char *blocks[COUNT];
  for (int others = 0; others < 6; others++) {
    size_t bytes = 0;
    for (int i = 0; i < COUNT; i++) {
      blocks[i] = i % (others + 1) == 0 ? hearth_take_aligned(MIXED, 128, 128) : take(MIXED, 32);
      bytes += usable(memset(blocks[i], 1, 32));
    }
    assert_true(parcel_bytes(MIXED) * 100 <= bytes * 115);
    assert_true(hearth_pools_are_valid());
    for (int i = 0; i < COUNT; i++)
      put(blocks[i]);
    assert_true(hearth_pools_are_valid());
  }
}

/* The bin's last block is taken if it is aligned. */
static void freed_aligned_blocks_are_taken_again(void **state) {
  (void)state;
  char *aligned = hearth_take_aligned(MIXED, 256, 256);
  put(aligned);
  assert_ptr_equal(hearth_take_aligned(MIXED, 256, 128), aligned);
  put(aligned);
  assert_int_equal((uintptr_t)hearth_take_aligned(MIXED, 256, 4096) % 4096, 0);
}

static void *put_all(void *blocks) {
  for (char **block = blocks; *block; block++)
    put(*block);
  return NULL;
}

/* Another thread frees what this one took; its bins keep some while it lives, and give them back when it ends. */
static void blocks_that_others_free_come_back(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  static char *blocks[COUNT + 1];
  size_t grown = 0;
  for (int round = 0; round < 4; round++) {
    pthread_t thread;
    for (int i = 0; i < COUNT; i++)
      memset(blocks[i] = take(REMOTE, 16 + (size_t)i % 1500), 1, 16);
    pthread_create(&thread, NULL, put_all, blocks);
    pthread_join(thread, NULL);
    assert_int_equal(figures(REMOTE).live_blocks, 0);
    assert_int_equal(figures(REMOTE).live_bytes, 0);
    if (round == 0)
      grown = parcel_bytes(REMOTE);
  }
  assert_true(parcel_bytes(REMOTE) <= grown + grown / 8);
  hearth_collect_remote_blocks(hearth_thread_pools);
  assert_true(hearth_pools_are_valid());
}

static void *take_and_end(void *blocks) {
  for (int i = 0; i < 1000; i++)
    ((char **)blocks)[i] = take(ENDED, 500);
  return hearth_thread_pools;
}

/* What a thread that ended left is freed at once, and its pools are the next thread's. */
static void pools_of_ended_threads_are_worked_on(void **state) {
  (void)state;
  static char *blocks[1001];
  pthread_t thread;
  void *pools, *pools_then;
  pthread_create(&thread, NULL, take_and_end, blocks);
  pthread_join(thread, &pools);
  for (int i = 0; i < 1000; i++)
    put(blocks[i]);
  const struct hearth_pool *pool = &((struct hearth_thread_pools *)pools)->pool[ENDED];
  assert_true(pool->counts.used_quanta * HEARTH_QUANTUM_BYTES <=
              HEARTH_BIN_MOST * 512); /* those in this thread's bin */
  pthread_create(&thread, NULL, take_and_end, blocks);
  pthread_join(thread, &pools_then);
  assert_ptr_equal(pools, pools_then);
  put_all(blocks);
  assert_true(hearth_pools_are_valid());
}

static void empty_parcels_go_back(void **state) {
  (void)state;
  enum { COUNT = 200000 };
  static char *blocks[COUNT];
  for (int i = 0; i < COUNT; i++)
    blocks[i] = take(EMPTY, 48 + (size_t)(i % 3) * 700);
  assert_true(parcel_bytes(EMPTY) > 100 << 20);
  for (int i = 0; i < COUNT; i++)
    put(blocks[i]);
  assert_true(parcel_bytes(EMPTY) < 6 << 20); /* of the search, and of cached blocks */
  assert_true(hearth_pools_are_valid());
}

/* Pages of the pool's parcels that are in memory. */
static size_t resident_pages(unsigned pool) {
  unsigned char in_memory[HEARTH_PARCEL_TILES_MOST << (HEARTH_TILE_SHIFT - HEARTH_PAGE_SHIFT)];
  size_t pages = 0;
  for (int kind = 0; kind < 2; kind++)
    for (const struct hearth_parcel *parcel = hearth_thread_pools->pool[pool].parcels[kind]; parcel;
         parcel = parcel->next) {
      size_t bytes = (size_t)parcel->tiles << HEARTH_TILE_SHIFT;
      assert_int_equal(mincore(hearth_quantum_address(hearth_parcel_begin(parcel)), bytes, in_memory), 0);
      for (size_t i = 0; i < bytes / HEARTH_PAGE_BYTES; i++)
        pages += in_memory[i] & 1;
    }
  return pages;
}

/* A block here and there, at least one in each tile, keeps its parcel, but not for long the parcel's other pages. */
enum { SPARSE_BLOCKS = 2000, SPARSE_BYTES = 10000, SPARSE_STEP = 5 };
static char *sparse[SPARSE_BLOCKS];

/* Returns the pages of the pool when it was full. */
static size_t make_sparse(unsigned pool) {
  for (int i = 0; i < SPARSE_BLOCKS; i++)
    sparse[i] = memset(take(pool, SPARSE_BYTES), 7, SPARSE_BYTES);
  size_t full = resident_pages(pool);
  usleep(2 * 1000 * HEARTH_KEEP_MS);
  for (int i = 0; i < SPARSE_BLOCKS; i++)
    if (i % SPARSE_STEP)
      put(sparse[i]);
  assert_true(resident_pages(pool) > full / 8 * 7);
  return full;
}

static void end_sparse(void) {
  for (int i = 0; i < SPARSE_BLOCKS; i += SPARSE_STEP) {
    for (int k = 0; k < SPARSE_BYTES; k++)
      assert_int_equal(sparse[i][k], 7);
    put(sparse[i]);
  }
  assert_true(hearth_pools_are_valid());
}

static void pages_of_sparse_parcels_go_back_with_age(void **state) {
  (void)state;
  size_t full = make_sparse(SPARSE);
  usleep(2 * 1000 * HEARTH_KEEP_MS);
  put(take(SPARSE, SPARSE_BYTES));
  assert_true(resident_pages(SPARSE) < full / 2);
  end_sparse();
}

static void pages_of_sparse_parcels_go_back_for_fresh_memory(void **state) {
  (void)state;
  static char *fresh[16 * SPARSE_BLOCKS];
  struct hearth_region *hot = hearth_tiles.region[1];
  size_t count = 0, full = make_sparse(SPARSE_GROWTH);
  uint64_t wanted = hearth_region_committed(hot) + full * HEARTH_PAGE_BYTES;
  for (; hearth_region_committed(hot) < wanted && count < 16 * SPARSE_BLOCKS; count++)
    fresh[count] = memset(take(FRESH, SPARSE_BYTES), 1, SPARSE_BYTES);
  assert_true(resident_pages(SPARSE_GROWTH) < full / 2);
  for (size_t i = 0; i < count; i++)
    put(fresh[i]);
  end_sparse();
}

/* The message goes to standard error, the process is aborted. */
static int signal_of_child(void (*misuse)(void)) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    misuse();
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Found when the bin gives both copies back. */
static void free_small_twice(void) {
  char *block = take(MISUSE, 64);
  put(block);
  put(block);
  char *blocks[3 * HEARTH_BIN_MOST];
  for (int i = 0; i < 3 * HEARTH_BIN_MOST; i++)
    blocks[i] = take(MISUSE, 1024);
  for (int i = 0; i < 3 * HEARTH_BIN_MOST; i++)
    put(blocks[i]);
  pthread_exit(NULL);
}

static void *run_misuse(void *misuse) {
  (*(void (**)(void))misuse)();
  return NULL;
}

static void in_thread(void) {
  pthread_t thread;
  void (*misuse)(void) = free_small_twice;
  pthread_create(&thread, NULL, run_misuse, &misuse);
  pthread_join(thread, NULL);
}

static void free_medium_twice(void) {
  char *block = take(MISUSE, 5000);
  put(block);
  put(block);
}

static void free_inside(void) { put(take(MISUSE, 64) + 16); }

static void free_inside_medium(void) { put(take(MEDIUM_MISUSE, 4096) + 2048); }

static void free_unaligned(void) { put(take(MISUSE, 64) + 8); }

static void misuse_is_caught(void **state) {
  (void)state;
  assert_non_null(take(MISUSE, 64)); /* keeps the parcels alive */
  assert_non_null(take(MISUSE, 5000));
  assert_int_equal(signal_of_child(in_thread), SIGABRT);
  assert_int_equal(signal_of_child(free_medium_twice), SIGABRT);
  assert_int_equal(signal_of_child(free_inside), SIGABRT);
  assert_int_equal(signal_of_child(free_inside_medium), SIGABRT);
  assert_int_equal(signal_of_child(free_unaligned), SIGABRT);
}

static volatile int done;
static char *of_vanished[1000];

static void *churn(void *unused) {
  uint32_t random = 1;
  for (int i = 0; i < 1000; i++)
    memset(of_vanished[i] = take(FORKED, 300), 5, 300);
  done = 1;
  static char *blocks[500];
  while (done < 2) {
    random = random * 1664525 + 1013904223;
    char **slot = &blocks[random >> 8 & 255];
    if (*slot)
      put(*slot);
    *slot = take(FORKED, 1 + (random >> 16) % 3000);
  }
  return unused;
}

static void *use_again(void *unused) {
  for (int i = 0; i < 3000; i++)
    memset(take(FORKED, 1 + (size_t)i % 2000), 6, 1);
  return unused;
}

/* The child frees the vanished thread's blocks, and its next thread takes over the pools: no block is lost or handed out twice. */
static void child_of_fork(void) {
  pthread_t thread;
  for (int i = 0; i < 500; i++)
    put(of_vanished[i]);
  pthread_create(&thread, NULL, use_again, NULL);
  pthread_join(thread, NULL);
  for (int i = 500; i < 1000; i++)
    for (int k = 0; k < 300; k++)
      if (of_vanished[i][k] != 5)
        abort();
  for (int i = 500; i < 1000; i++)
    put(of_vanished[i]);
  if (!hearth_pools_are_valid())
    abort();
}

/* Someone stopped while they freed 200 quanta: those of the first word are free. */
static void quanta_of_no_block_are_freed(void **state) {
  (void)state;
  static struct hearth_block_words words[5];
  struct hearth_block_words *map = hearth_block_map;
  hearth_block_map = words;
  hearth_block_map_use(10, 20);
  hearth_block_map_use(30, 200);
  hearth_block_map_use(230, 5);
  hearth_block_map_free(30, 64 - 30);
  hearth_block_map_repair(0, 256);
  size_t used = hearth_block_map_count(0, 256), first = hearth_block_quanta(10), last = hearth_block_quanta(230);
  bool begin = hearth_block_begins(10) && hearth_block_begins(230);
  hearth_block_map = map;
  assert_true(begin);
  assert_int_equal(used, 25);
  assert_int_equal(first, 20);
  assert_int_equal(last, 5);
}

static void pools_of_vanished_threads_are_recalled(void **state) {
  (void)state;
  pthread_t thread;
  pthread_create(&thread, NULL, churn, NULL);
  while (!done)
    sched_yield();
  for (int i = 0; i < 50; i++)
    assert_int_equal(signal_of_child(child_of_fork), 0);
  done = 2;
  pthread_join(thread, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_memory_never_used_is_known_to_be_zero), /* first: no memory was used */
      cmocka_unit_test(blocks_lie_in_the_order_of_requests),
      cmocka_unit_test(freed_blocks_are_taken_again),
      cmocka_unit_test(blocks_of_one_size_need_no_bits),
      cmocka_unit_test(medium_blocks_that_leave_much_have_bits),
      cmocka_unit_test(neighbours_of_two_parcels_are_freed),
      cmocka_unit_test(holes_serve_all_small_sizes),
      cmocka_unit_test(freed_medium_blocks_serve_the_next),
      cmocka_unit_test(blocks_grow_where_there_is_room),
      cmocka_unit_test(blocks_shrink_where_they_are),
      cmocka_unit_test(aligned_blocks_lose_no_room),
      cmocka_unit_test(aligned_blocks_lie_close),
      cmocka_unit_test(freed_aligned_blocks_are_taken_again),
      cmocka_unit_test(blocks_that_others_free_come_back),
      cmocka_unit_test(pools_of_ended_threads_are_worked_on),
      cmocka_unit_test(empty_parcels_go_back),
      cmocka_unit_test(pages_of_sparse_parcels_go_back_with_age),
      cmocka_unit_test(pages_of_sparse_parcels_go_back_for_fresh_memory),
      cmocka_unit_test(misuse_is_caught),
      cmocka_unit_test(quanta_of_no_block_are_freed),
      cmocka_unit_test(pools_of_vanished_threads_are_recalled),
  };
  hearth_pool_for_hint(0); /* opens the ranges */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
