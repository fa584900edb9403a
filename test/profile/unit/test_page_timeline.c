/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Plots of single blocks: lives, and the peak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "page.h"

enum { RUN_NS = 1024000, PIECE_NS = 1000 };

static double sum(const hearth_page_grid *grid, hearth_quantity quantity) {
  double all = 0;
  for (uint32_t i = 0; i < grid->x.bins * grid->y.bins; i++)
    all += grid->cells[i].of[quantity];
  return all;
}

/* A block of thread 1 is freed by thread 2; one stays. */
static void test_lives(void **state) {
  hearth_page_timeline t;
  hearth_error err;
  const hearth_trace_event handed = {.address = 16, .size = 64, .stack_ns = 10 * PIECE_NS};
  const hearth_trace_event kept = {.address = 96, .size = 1 << 20, .stack_ns = 20 * PIECE_NS};
  const hearth_trace_event freed = {.kind = HEARTH_TRACE_FREE, .address = 16, .stack_ns = 500 * PIECE_NS};
  (void)state;
  assert_int_equal(hearth_page_timeline_init(&t, RUN_NS, &err), HEARTH_OK);
  assert_int_equal(hearth_page_timeline_event(&t, &handed, 1, &err), HEARTH_OK);
  assert_int_equal(hearth_page_timeline_event(&t, &kept, 1, &err), HEARTH_OK);
  assert_int_equal(hearth_page_timeline_event(&t, &freed, 2, &err), HEARTH_OK);
  hearth_page_timeline_end(&t, RUN_NS);

  assert_int_equal(t.live_bytes, 1 << 20);
  assert_int_equal(t.peak_bytes, 64 + (1 << 20));
  assert_int_equal(t.peak_ns, 20 * PIECE_NS);

  const hearth_page_grid *const grids[] = {&t.lifetime_size, &t.lifetime_time};
  for (int i = 0; i < 2; i++) {
    assert_true(sum(grids[i], HEARTH_QUANTITY_ALLOCS) == 2);
    assert_true(sum(grids[i], HEARTH_QUANTITY_BYTES) == 64 + (1 << 20));
    assert_true(sum(grids[i], HEARTH_QUANTITY_LIVE) == 1 << 20);
  }
  /* 490 us are between 2^18.5 and 2^19 ns */
  assert_true(hearth_page_grid_at(&t.lifetime_size, 2 * 6, 2 * 18 + 1)->of[HEARTH_QUANTITY_ALLOCS] == 1);
  assert_true(hearth_page_grid_at(&t.lifetime_time, 1, 2 * 18 + 1)->of[HEARTH_QUANTITY_BYTES] == 64);

  hearth_page_timeline_destroy(&t);
}

/* Times beyond the end, numbers beyond all threads, and sizes that no machine has do no harm. */
static void test_odd_operations(void **state) {
  hearth_page_timeline t;
  hearth_error err;
  const hearth_trace_event block = {.address = 16, .size = UINT64_MAX, .stack_ns = UINT64_MAX};
  const hearth_trace_event freed = {.kind = HEARTH_TRACE_FREE, .address = 16};
  (void)state;
  assert_int_equal(hearth_page_timeline_init(&t, 0, &err), HEARTH_OK);
  for (int i = 0; i < 2; i++) /* the first one's end was not recorded */
    assert_int_equal(hearth_page_timeline_event(&t, &block, UINT32_MAX, &err), HEARTH_OK);
  for (int i = 0; i < 2; i++) /* nothing is there any more */
    assert_int_equal(hearth_page_timeline_event(&t, &freed, 0, &err), HEARTH_OK);
  assert_int_equal(hearth_page_timeline_event(&t, &block, UINT32_MAX, &err), HEARTH_OK);
  hearth_page_timeline_end(&t, UINT64_MAX);
  assert_int_equal(t.live_bytes, UINT64_MAX);
  assert_int_equal(t.peak_bytes, UINT64_MAX);
  assert_true(sum(&t.lifetime_size, HEARTH_QUANTITY_ALLOCS) == 3);
  hearth_page_timeline_destroy(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lives), cmocka_unit_test(test_odd_operations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
