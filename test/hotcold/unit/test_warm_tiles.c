/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cold=auto: for how many rounds a tile stays, by how its pages come back, with a system that is told what is in memory. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static int fake_mincore(void *start, size_t bytes, unsigned char *ret);
#define mincore fake_mincore
#include "warm_tiles.c"

static unsigned pages_in_memory;
static char *const range = (char *)(uintptr_t)((size_t)1 << 40);

static int fake_mincore(void *start, size_t bytes, unsigned char *ret) {
  (void)start;
  memset(ret, 0, bytes >> HEARTH_PAGE_SHIFT);
  memset(ret, 1, pages_in_memory);
  return 0;
}

/* A round with so many pages of the tile in memory before it. Does the tile leave? */
static bool leaves(unsigned pages) {
  size_t bytes;
  pages_in_memory = pages;
  hearth_warm_tiles_look(range, TILE_BYTES);
  hearth_warm_tiles_stretch(0, TILE_BYTES, &bytes);
  return bytes > 0;
}

static int begin(void **state) {
  (void)state;
  return hearth_warm_tiles_create((size_t)TILE_BYTES) ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  return munmap(tiles, sizeof *tiles);
}

/* The rounds for which a tile stays that is always back at the next one. */
static void a_tile_that_comes_back_stays_longer_each_time(void **state) {
  (void)state;
  assert_true(leaves(TILE_PAGES));
  for (int rounds = 1; rounds <= 63; rounds = 2 * rounds + 1) {
    for (int i = 0; i < rounds; i++)
      assert_false(leaves(TILE_PAGES));
    assert_true(leaves(TILE_PAGES));
  }
  for (int i = 0; i < 63; i++)
    assert_false(leaves(TILE_PAGES));
  assert_true(leaves(TILE_PAGES));
}

static void a_quarter_of_the_pages_is_not_a_return(void **state) {
  (void)state;
  assert_true(leaves(TILE_PAGES));
  assert_true(leaves(TILE_PAGES / 4));
  assert_false(leaves(TILE_PAGES / 16 + 1));
}

/* It was out for as long as it is sent out for: that is worth the way back. */
static void a_tile_that_was_out_for_a_whole_round_leaves_again(void **state) {
  (void)state;
  for (int i = 0; i < 10; i++) {
    assert_true(leaves(TILE_PAGES));
    assert_true(leaves(0));
  }
}

/* Four returns, then one round less for each time that it stays out. */
static void staying_out_makes_up_for_returns(void **state) {
  (void)state;
  for (int returns = 1; returns <= 4; returns++) {
    assert_true(leaves(TILE_PAGES));
    for (int i = 0; i < (1 << returns) - 1; i++)
      assert_false(leaves(TILE_PAGES));
  }
  for (int i = 0; i < 3; i++) {
    assert_true(leaves(TILE_PAGES));
    assert_true(leaves(0));
  }
  assert_true(leaves(TILE_PAGES));
  for (int i = 0; i < 3; i++)
    assert_false(leaves(TILE_PAGES));
  assert_true(leaves(TILE_PAGES));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_tile_that_comes_back_stays_longer_each_time, begin, end),
      cmocka_unit_test_setup_teardown(a_quarter_of_the_pages_is_not_a_return, begin, end),
      cmocka_unit_test_setup_teardown(a_tile_that_was_out_for_a_whole_round_leaves_again, begin, end),
      cmocka_unit_test_setup_teardown(staying_out_makes_up_for_returns, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
