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
static unsigned asked_huge;
static char *const range = (char *)(uintptr_t)((size_t)1 << 40);
static bool huge_now[1024];

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
    asked_huge += huge_now[piece];
  } else if (advice == MADV_POPULATE_WRITE) {
    now_ns += huge_now[piece] ? huge_page_ns : bytes / HEARTH_PAGE_BYTES * 1000;
  }
  return 0;
}

static void hand_out(size_t piece) {
  commit(range + piece * PIECE, PIECE, PIECE);
  fill(range + piece * PIECE, PIECE);
}

static void pieces_are_huge_while_that_is_quick(void **state) {
  (void)state;
  hearth_huge_pages_open(range, (size_t)1024 * PIECE);
  huge_page_ns = 200000;
  for (size_t i = ORDINARY_FIRST; i < 100; i++) {
    hand_out(i);
    assert_true(huge_now[i]);
  }
}

/* Trials at greater and greater distances: 1 + 4 + 1 + 8 + 1 + 16 ... pieces. */
static void slow_huge_pages_are_tried_less_and_less(void **state) {
  (void)state;
  huge_page_ns = 20000000;
  asked_huge = 0;
  for (size_t i = 100; i < 600; i++)
    hand_out(i);
  assert_in_range(asked_huge, 5, 9);
}

static void huge_pages_are_back_once_they_are_quick(void **state) {
  (void)state;
  huge_page_ns = 200000;
  asked_huge = 0;
  for (size_t i = 600; i < 1000; i++)
    hand_out(i);
  assert_true(asked_huge > 100);
  assert_true(huge_now[999]);
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
      cmocka_unit_test(slow_huge_pages_are_tried_less_and_less),
      cmocka_unit_test(huge_pages_are_back_once_they_are_quick),
      cmocka_unit_test(small_chunks_of_ordinary_pieces_are_not_filled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
