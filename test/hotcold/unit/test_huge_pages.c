/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which pieces of the hot range are to be huge, with a system that is told how long its pages take: ordinary ones take
 * 1 us, so 512 of them 512 us. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

static int fake_madvise(void *start, size_t bytes, int advice);
static int fake_clock(clockid_t clock, struct timespec *ret);
static int fake_mincore(void *start, size_t bytes, unsigned char *ret);
#define madvise       fake_madvise
#define clock_gettime fake_clock
#define mincore       fake_mincore
#include "huge_pages.c"

enum { PIECE = 2 << 20, ORDINARY_FIRST = ORDINARY_PIECES };

static uint64_t now_ns, huge_page_ns;
static char *const range = (char *)(uintptr_t)((size_t)1 << 40);
static bool huge_now[1024], huge_at_first[1024]; /* when the piece was handed out */

static int fake_clock(clockid_t clock, struct timespec *ret) {
  (void)clock;
  ret->tv_sec = (time_t)(now_ns / 1000000000);
  ret->tv_nsec = (long)(now_ns % 1000000000);
  return 0;
}

static int fake_mincore(void *start, size_t bytes, unsigned char *ret) {
  (void)start;
  memset(ret, 0, bytes / HEARTH_PAGE_BYTES);
  return 0;
}

static int fake_madvise(void *start, size_t bytes, int advice) {
  size_t piece = (size_t)((char *)start - range) / PIECE;
  if (advice == MADV_HUGEPAGE || (advice == MADV_NOHUGEPAGE && bytes == PIECE)) {
    huge_now[piece] = advice == MADV_HUGEPAGE;
  } else if (advice == MADV_POPULATE_WRITE) {
    now_ns += huge_now[piece] ? huge_page_ns : bytes / HEARTH_PAGE_BYTES * 1000;
  }
  return 0;
}

/* The program fills a piece in a millisecond. */
static void hand_out(size_t piece) {
  commit(range + piece * PIECE, PIECE, PIECE);
  huge_at_first[piece] = huge_now[piece];
  fill(range + piece * PIECE, PIECE);
  now_ns += 1000000;
}

static size_t huge_of(size_t from, size_t to) {
  size_t huge = 0;
  for (size_t i = from; i < to; i++) {
    hand_out(i);
    huge += huge_at_first[i];
  }
  return huge;
}

static void pieces_are_huge_while_that_is_quick(void **state) {
  (void)state;
  hearth_huge_pages_open(range, (size_t)1024 * PIECE);
  huge_page_ns = 200000;
  assert_int_equal(huge_of(ORDINARY_FIRST, 100), 100 - ORDINARY_FIRST);
}

static void slow_huge_pages_take_a_share_of_the_time(void **state) {
  (void)state;
  huge_page_ns = 4000000;
  size_t huge = huge_of(100, 600);
  assert_in_range(huge * (huge_page_ns - 512000), now_ns / 20, now_ns / 16 + ALLOWED_NS + huge_page_ns);
}

/* The system may make them huge later. */
static void ordinary_pieces_are_left_to_the_system_once_they_have_pages(void **state) {
  (void)state;
  for (size_t i = 100; i < 600; i++)
    assert_true(huge_now[i]);
}

static void a_program_that_runs_for_long_gets_huge_pages(void **state) {
  (void)state;
  now_ns += UINT64_C(100) * 4000000 * 16;
  assert_int_equal(huge_of(600, 700), 100);
}

static void huge_pages_are_back_once_they_are_quick(void **state) {
  (void)state;
  huge_of(700, 800);
  huge_page_ns = 200000;
  now_ns += 100000000;
  assert_true(huge_of(800, 1000) > 150);
}

/* Its first page would make all of the piece resident, of which it fills a part. */
static void small_chunks_of_ordinary_pieces_are_not_filled(void **state) {
  (void)state;
  uint64_t before = now_ns;
  fill(range, 64 << 10);
  assert_true(now_ns == before);
  fill(range, 128 << 10);
  assert_true(now_ns > before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_are_huge_while_that_is_quick),
      cmocka_unit_test(slow_huge_pages_take_a_share_of_the_time),
      cmocka_unit_test(ordinary_pieces_are_left_to_the_system_once_they_have_pages),
      cmocka_unit_test(a_program_that_runs_for_long_gets_huge_pages),
      cmocka_unit_test(huge_pages_are_back_once_they_are_quick),
      cmocka_unit_test(small_chunks_of_ordinary_pieces_are_not_filled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
