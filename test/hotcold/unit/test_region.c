/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A region of the hot/cold adapter on a range of a few MiB: parcels, large blocks, runs, giving back, exhaustion; the
 * adapter's options; the timer of cold memory. */
#define _GNU_SOURCE
#include <errno.h>
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

#include "hotcold_options.h"
#include "page_out.h"
#include "region.h"
#include "region_check.h"

enum { RANGE_BYTES = 8 << 20, HUGE_BYTES = 2 << 20 };

/* One page is kept, all else given back at once. */
static const struct hearth_region_limits eager = {.keep_pages = 1, .release_pages = 1, .small_release_pages = 1};
static const struct hearth_region_limits lazy = {
    .least_keep_pages = UINT32_MAX / 2, .keep_pages = UINT32_MAX / 2, .release_pages = 1, .small_release_pages = 1};

static struct hearth_region region;
static char *range;

static void open_region(struct hearth_region_limits limits) {
  char *map = mmap(NULL, RANGE_BYTES + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(map, MAP_FAILED);
  size_t head = -(uintptr_t)map % HUGE_BYTES;
  if (head)
    munmap(map, head);
  munmap(map + head + RANGE_BYTES, HUGE_BYTES - head);
  range = map + head;
  madvise(range, RANGE_BYTES, MADV_NOHUGEPAGE);
  assert_true(hearth_region_create(&region, range, RANGE_BYTES, limits));
  assert_true(hearth_region_is_valid(&region));
}

static void close_region(void) {
  assert_true(hearth_region_is_valid(&region));
  hearth_region_destroy(&region);
  munmap(range, RANGE_BYTES);
}

enum { POOL = 3 };

static char *take_large(size_t bytes, size_t alignment) {
  bool zeroed;
  return hearth_region_take_large(&region, POOL, bytes, alignment, &zeroed);
}

static size_t resident_pages(void) {
  static unsigned char in_memory[RANGE_BYTES / HEARTH_PAGE_BYTES];
  size_t pages = 0;
  assert_int_equal(mincore(range, RANGE_BYTES, in_memory), 0);
  for (size_t i = 0; i < sizeof in_memory; i++)
    pages += in_memory[i] & 1;
  return pages;
}

static uint64_t large_bytes(void) { return hearth_region_large_counts(&region, POOL).pages << HEARTH_PAGE_SHIFT; }

static void put_large(void *block) {
  hearth_region_large(&region, block);
  hearth_region_put_large(&region, block);
}

static void large_blocks_are_aligned(void **state) {
  (void)state;
  open_region(lazy);
  for (size_t alignment = 16; alignment <= HUGE_BYTES; alignment *= 2) {
    char *block = take_large(40000, alignment);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % alignment, 0);
    assert_int_equal(hearth_region_large(&region, block)->pages, 10);
    assert_int_equal(hearth_region_large(&region, block)->pool, POOL);
    assert_true(hearth_region_is_valid(&region));
  }
  close_region();
}

static void neighbouring_runs_join(void **state) {
  (void)state;
  open_region(lazy);
  char *a = take_large(100 * 4096, 1), *b = take_large(100 * 4096, 1), *c = take_large(100 * 4096, 1);
  char *fence = take_large(4096, 1);
  hearth_region_put_large(&region, a);
  hearth_region_put_large(&region, c);
  hearth_region_put_large(&region, b);
  assert_true(hearth_region_is_valid(&region));
  assert_ptr_equal(take_large(300 * 4096, 1), a);
  assert_ptr_equal(fence, a + 300 * 4096);
  close_region();
}

static void large_block_resizes_in_place(void **state) {
  (void)state;
  open_region(lazy);
  char *block = take_large(10 * 4096, 1);
  assert_true(hearth_region_resize_large(&region, block, 20 * 4096));
  assert_true(hearth_region_is_valid(&region));
  char *fence = take_large(4096, 1);
  assert_ptr_equal(fence, block + 20 * 4096);
  assert_false(hearth_region_resize_large(&region, block, 21 * 4096));
  assert_true(hearth_region_resize_large(&region, block, 5 * 4096 - 1));
  assert_int_equal(hearth_region_large(&region, block)->pages, 5);
  assert_int_equal(large_bytes(), 6 * 4096);
  assert_ptr_equal(take_large(15 * 4096, 1), block + 5 * 4096);
  close_region();
}

static void parcels_are_aligned_and_fill_holes_of_their_size(void **state) {
  (void)state;
  bool zeroed;
  open_region(lazy);
  take_large(4096, 1);
  uint32_t parcel[8];
  for (int i = 0; i < 8; i++) {
    parcel[i] = hearth_region_take_parcel(&region, 16, &zeroed);
    assert_int_equal((uintptr_t)hearth_region_address(&region, parcel[i]) % 65536, 0);
    assert_true(zeroed);
  }
  uint32_t huge = hearth_region_take_parcel(&region, 512, &zeroed);
  assert_int_equal((uintptr_t)hearth_region_address(&region, huge) % HUGE_BYTES, 0);
  assert_true(hearth_region_is_valid(&region));
  hearth_region_put_parcel(&region, parcel[3], 16); /* between two in use: aligned as it is */
  assert_int_equal(hearth_region_take_parcel(&region, 16, &zeroed), parcel[3]);
  assert_false(zeroed);
  close_region();
}

static void smaller_parcels_take_what_has_memory(void **state) {
  (void)state;
  bool zeroed;
  uint32_t pages = 64;
  open_region(lazy);
  assert_int_equal(hearth_region_take_dirty_parcel(&region, 16, &pages), HEARTH_NO_PAGE); /* none has any yet */
  assert_int_equal(pages, 64);
  uint32_t first = hearth_region_take_parcel(&region, 32, &zeroed);
  hearth_region_take_parcel(&region, 32, &zeroed);
  hearth_region_put_parcel(&region, first, 32);
  assert_int_equal(hearth_region_take_dirty_parcel(&region, 16, &pages), first);
  assert_int_equal(pages, 32);
  assert_int_equal(hearth_region_take_dirty_parcel(&region, 16, &pages), HEARTH_NO_PAGE);
  assert_true(hearth_region_is_valid(&region));
  close_region();
}

static void full_range_says_so_and_recovers(void **state) {
  (void)state;
  bool zeroed;
  open_region(lazy);
  static uint32_t parcels[RANGE_BYTES / 65536 + 1];
  unsigned count = 0;
  errno = 0;
  while ((parcels[count] = hearth_region_take_parcel(&region, 16, &zeroed)) != HEARTH_NO_PAGE)
    count++;
  assert_int_equal(count, RANGE_BYTES / 65536);
  assert_int_equal(errno, 0);
  assert_null(take_large(4096, 1));
  assert_null(take_large(RANGE_BYTES + 1, 1));
  assert_null(take_large(SIZE_MAX, 1));
  assert_null(take_large(4096, (size_t)1 << 62));
  assert_true(hearth_region_is_valid(&region));
  for (unsigned i = 0; i < count; i++)
    hearth_region_put_parcel(&region, parcels[i], 16);
  assert_non_null(take_large(RANGE_BYTES, 1));
  close_region();
}

static void free_memory_is_given_back(void **state) {
  (void)state;
  open_region(eager);
  char *block = take_large(1 << 20, 1);
  memset(block, 1, 1 << 20);
  assert_int_equal(resident_pages(), 256);
  errno = EBUSY;
  hearth_region_put_large(&region, block);
  assert_int_equal(errno, EBUSY);
  assert_int_equal(resident_pages(), 0);
  assert_int_equal(hearth_region_committed(&region), 0);
  close_region();
}

static void free_memory_is_kept_for_a_while(void **state) {
  (void)state;
  open_region(
      (struct hearth_region_limits){.keep_pages = 1, .keep_ms = 100, .release_pages = 1, .small_release_pages = 1});
  char *block = memset(take_large(1 << 20, 1), 1, 1 << 20);
  hearth_region_put_large(&region, block);
  assert_int_equal(resident_pages(), 256);
  usleep(200000);
  hearth_region_put_large(&region, take_large(4096, 1));
  assert_int_equal(resident_pages(), 0);
  assert_true(hearth_region_is_valid(&region));
  close_region();
}

/* The free pages are too few for the new block: it takes fresh ones, and as many go. */
static void fresh_memory_takes_the_place_of_kept_memory(void **state) {
  (void)state;
  open_region((struct hearth_region_limits){
      .keep_pages = 1, .keep_ms = UINT32_MAX, .release_pages = 16, .small_release_pages = 1});
  char *block = memset(take_large(100 * 4096, 1), 1, 100 * 4096);
  char *fence = take_large(4096, 1);
  hearth_region_put_large(&region, block);
  assert_int_equal(resident_pages(), 100);
  char *other = take_large(120 * 4096, 1);
  assert_int_equal(resident_pages(), 0);
  assert_true(hearth_region_resize_large(&region, other, 140 * 4096));
  hearth_region_put_large(&region, other);
  hearth_region_put_large(&region, fence);
  assert_true(hearth_region_is_valid(&region));
  close_region();
}

static void blocks_that_grow_have_room(void **state) {
  (void)state;
  bool zeroed;
  open_region(eager);
  char *block = hearth_region_take_growing(&region, POOL, 4 * 4096, &zeroed);
  assert_true(zeroed);
  uint64_t committed = hearth_region_committed(&region);
  assert_int_equal(committed, 4 * 4096);
  char *fence = take_large(4096, 1);
  assert_true(hearth_region_resize_large(&region, block, 9 * 4096));
  assert_int_equal(hearth_region_committed(&region), 10 * 4096);
  assert_true(hearth_region_is_valid(&region));
  assert_true(hearth_region_resize_large(&region, block, 64 * 4096));
  assert_false(hearth_region_resize_large(&region, block, 65 * 4096));
  assert_true(hearth_region_is_valid(&region));
  hearth_region_put_large(&region, block);

  block = hearth_region_take_growing(&region, POOL, 4 * 4096, &zeroed);
  assert_true(hearth_region_resize_large(&region, block, 3 * 4096)); /* the room goes */
  assert_true(hearth_region_is_valid(&region));
  hearth_region_put_large(&region, block);
  hearth_region_put_large(&region, fence);
  assert_int_equal(hearth_region_committed(&region), 0);
  assert_true(hearth_region_is_valid(&region));

  block = hearth_region_take_growing(&region, POOL, RANGE_BYTES / 2, &zeroed); /* too large for room */
  assert_non_null(block);
  hearth_region_put_large(&region, block);
  assert_null(hearth_region_take_growing(&region, POOL, RANGE_BYTES + 1, &zeroed));
  assert_null(hearth_region_take_growing(&region, POOL, SIZE_MAX, &zeroed));
  close_region();
}

static void given_back_memory_is_known_to_be_zero(void **state) {
  (void)state;
  open_region((struct hearth_region_limits){
      .least_keep_pages = 300, .keep_pages = 300, .release_pages = 1, .small_release_pages = 1});
  bool zeroed = false;
  char *block = hearth_region_take_large(&region, POOL, 1 << 20, 1, &zeroed);
  assert_true(zeroed);
  memset(block, 1, 1 << 20);
  hearth_region_put_large(&region, block); /* 256 pages: kept */
  assert_ptr_equal(hearth_region_take_large(&region, POOL, 1 << 20, 1, &zeroed), block);
  assert_false(zeroed);
  assert_int_equal(block[5], 1);
  char *other = take_large(1 << 20, 1);
  memset(other, 1, 1 << 20);
  hearth_region_put_large(&region, block);
  hearth_region_put_large(&region, other); /* 512 pages: given back */
  block = hearth_region_take_large(&region, POOL, 2 << 20, 1, &zeroed);
  assert_true(zeroed);
  for (size_t i = 0; i < 2 << 20; i++)
    assert_int_equal(block[i], 0);
  close_region();
}

static void only_whole_release_pieces_are_given_back(void **state) {
  (void)state;
  open_region((struct hearth_region_limits){.keep_pages = 2, .release_pages = 512, .small_release_pages = 512});
  char *first = take_large(HUGE_BYTES, 1), *second = take_large(HUGE_BYTES, 1), *third = take_large(HUGE_BYTES, 1);
  memset(first, 1, 3 * (size_t)HUGE_BYTES);
  hearth_region_resize_large(&region, first, HUGE_BYTES - 4096);
  assert_int_equal(resident_pages(), 3 * 512);
  hearth_region_put_large(&region, second);
  assert_int_equal(resident_pages(), 2 * 512);
  hearth_region_resize_large(&region, third, HUGE_BYTES / 2);
  assert_int_equal(resident_pages(), 2 * 512);
  assert_true(hearth_region_is_valid(&region));
  close_region();
}

static void what_whole_pieces_leave_is_given_back(void **state) {
  (void)state;
  open_region((struct hearth_region_limits){.keep_pages = 2, .release_pages = 512, .small_release_pages = 16});
  char *fence = take_large(4 * 4096, 1), *block = take_large(40 * 4096, 1);
  memset(fence, 1, 44 * 4096);
  hearth_region_put_large(&region,
                          block); /* 16 pages are a piece; behind it 12 lie between clean ones, before it 12 do not */
  assert_int_equal(resident_pages(), 16);
  hearth_region_put_large(&region, fence);
  assert_int_equal(resident_pages(), 0);
  assert_true(hearth_region_is_valid(&region));
  close_region();
}

static void room_cut_by_dirty_runs_is_found(void **state) {
  (void)state;
  open_region(lazy);
  char *block = take_large(RANGE_BYTES / 2, 1);
  hearth_region_put_large(&region, block);
  assert_non_null(take_large(RANGE_BYTES, 1));
  close_region();
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

static void free_large_twice(void) {
  char *block = take_large(65536, 1);
  hearth_region_put_large(&region, block);
  hearth_region_put_large(&region, block);
}

static void free_joined_twice(bool in_order) {
  char *a = take_large(100 << 10, 1), *b = take_large(100 << 10, 1);
  if (b != a + (100 << 10))
    return;
  hearth_region_put_large(&region, in_order ? a : b);
  hearth_region_put_large(&region, in_order ? b : a);
  hearth_region_put_large(&region, b);
}

static void free_joined_to_left_twice(void) { free_joined_twice(true); }

static void free_joined_to_right_twice(void) { free_joined_twice(false); }

static void free_inside_large(void) { put_large(take_large(65536, 1) + 4096); }

static void free_never_given(void) { put_large(range + RANGE_BYTES / 2); }

static void misuse_is_caught(void **state) {
  (void)state;
  open_region(lazy);
  assert_int_equal(signal_of_child(free_large_twice), SIGABRT);
  assert_int_equal(signal_of_child(free_joined_to_left_twice), SIGABRT);
  assert_int_equal(signal_of_child(free_joined_to_right_twice), SIGABRT);
  assert_int_equal(signal_of_child(free_inside_large), SIGABRT);
  assert_int_equal(signal_of_child(free_never_given), SIGABRT);
  close_region();
}

static void random_operations_keep_the_structures_valid(void **state) {
  (void)state;
  enum { SLOTS = 400, STEPS = 200000 };
  static char *blocks[SLOTS];
  static size_t sizes[SLOTS];
  uint32_t seed = 12345;
  open_region((struct hearth_region_limits){.keep_pages = 64, .release_pages = 4, .small_release_pages = 2});
  for (int step = 0; step < STEPS; step++) {
    seed = seed * 1664525 + 1013904223;
    unsigned slot = (seed >> 8) % SLOTS;
    if (blocks[slot]) {
      assert_int_equal(blocks[slot][0], (char)slot);
      assert_int_equal(blocks[slot][sizes[slot] - 1], (char)slot);
      put_large(blocks[slot]);
      blocks[slot] = NULL;
    } else {
      sizes[slot] = 1 + (seed >> 4) % ((size_t)16 << (seed >> 28));
      blocks[slot] = take_large(sizes[slot], (size_t)1 << (seed >> 20) % 18);
      if (blocks[slot])
        blocks[slot][0] = blocks[slot][sizes[slot] - 1] = (char)slot;
    }
    if (step % 1000 == 0)
      assert_true(hearth_region_is_valid(&region));
  }
  memset(blocks, 0, sizeof blocks);
  close_region();
}

static void memory_that_returns_is_sent_out_less_often(void **state) {
  (void)state;
  assert_int_equal(hearth_page_out_wait(30, 30, 0, 0), 30);
  assert_int_equal(hearth_page_out_wait(30, 30, 0, 4096), 30);
  assert_int_equal(hearth_page_out_wait(30, 30, 4096, 1024), 30);
  unsigned wait = 30;
  for (unsigned expected = 60; expected <= 64 * 30; expected *= 2)
    assert_int_equal(wait = hearth_page_out_wait(wait, 30, 4096, 1025), expected);
  assert_int_equal(hearth_page_out_wait(wait, 30, 4096, 4096), 64 * 30);
  assert_int_equal(hearth_page_out_wait(wait, 30, 4096, 0), 30);
  assert_false(hearth_page_out_is_due(30, 60, 1 << 20, 1 << 20));
  assert_false(hearth_page_out_is_due(30, 60, 1 << 20, (1 << 20) + (1 << 17)));
  assert_true(hearth_page_out_is_due(30, 60, 1 << 20, (1 << 20) + (1 << 17) + 1));
  assert_true(hearth_page_out_is_due(60, 60, 1 << 20, 0));
}

static void options_are_parsed(void **state) {
  (void)state;
  struct hearth_hotcold_options options = hearth_hotcold_options_parse(NULL);
  assert_int_equal(options.cold_below, 64);
  assert_int_equal(options.hot_from, 254);
  options = hearth_hotcold_options_parse("cold-below=1::hot-from=256:");
  assert_int_equal(options.cold_below, 1);
  assert_int_equal(options.hot_from, 256);
  assert_true(options.pools);
  options = hearth_hotcold_options_parse("cold=off:cold-below=200:pools=off");
  assert_int_equal(options.cold_below, 0);
  assert_false(options.pools);
  options = hearth_hotcold_options_parse("cold=keep:pools=on:pools=perhaps");
  assert_true(options.pools);
  assert_int_equal(options.cold_below, 64);
  assert_int_equal(options.hot_from, 254);
  assert_int_equal(options.cold_mode, HEARTH_COLD_KEEP);
  assert_int_equal(options.interval_s, 30);
  assert_string_equal(options.directory, "/var/tmp");
  options = hearth_hotcold_options_parse("cold=off:dir=/a/b:interval=86400:cold=file");
  assert_int_equal(options.cold_below, 64);
  assert_int_equal(options.cold_mode, HEARTH_COLD_FILE);
  assert_int_equal(options.interval_s, 86400);
  assert_string_equal(options.directory, "/a/b");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_blocks_are_aligned),
      cmocka_unit_test(neighbouring_runs_join),
      cmocka_unit_test(large_block_resizes_in_place),
      cmocka_unit_test(parcels_are_aligned_and_fill_holes_of_their_size),
      cmocka_unit_test(smaller_parcels_take_what_has_memory),
      cmocka_unit_test(full_range_says_so_and_recovers),
      cmocka_unit_test(free_memory_is_given_back),
      cmocka_unit_test(free_memory_is_kept_for_a_while),
      cmocka_unit_test(fresh_memory_takes_the_place_of_kept_memory),
      cmocka_unit_test(blocks_that_grow_have_room),
      cmocka_unit_test(given_back_memory_is_known_to_be_zero),
      cmocka_unit_test(only_whole_release_pieces_are_given_back),
      cmocka_unit_test(what_whole_pieces_leave_is_given_back),
      cmocka_unit_test(room_cut_by_dirty_runs_is_found),
      cmocka_unit_test(misuse_is_caught),
      cmocka_unit_test(random_operations_keep_the_structures_valid),
      cmocka_unit_test(memory_that_returns_is_sent_out_less_often),
      cmocka_unit_test(options_are_parsed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
