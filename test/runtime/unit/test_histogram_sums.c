/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime's histograms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heap.h"
#include "hearth/rt.h"
#include "mib_table.h"
#include "shadow.h"

enum { CONTEXTS = 100, MOST = 600 };

/* A block of this context of which places 0, step, 2 * step ... have been accessed once. */
static hearth_block block_of(uint32_t context, size_t size, size_t step) {
  char *memory = malloc(size);
  hearth_block block;

  assert_int_equal(hearth_heap_find(memory, &block), HEARTH_POINTER_LIVE);
  hearth_shadow_clear(memory, size);
  for (size_t at = 0; at < size; at += 8 * step)
    __memprof_record_access(memory + at);
  block.context = context;
  return block;
}

static void drop(hearth_block block) { free(hearth_header_memory(block.header)); }

static void test_sums_by_place(void **state) {
  (void)state;
  hearth_histograms histograms;
  uint32_t size;

  assert_true(hearth_histograms_create(&histograms, CONTEXTS, MOST));
  for (int i = 0; i < 3; ++i) {
    hearth_block block = block_of(7, 100, 3);
    hearth_histograms_add(&histograms, &block, 2);
    drop(block);
  }
  hearth_block large = block_of(7, 8 * 1000, 1);
  hearth_histograms_add(&histograms, &large, 1);
  drop(large);
  const uint64_t *sums = hearth_histograms_get(&histograms, 7, &size);
  assert_int_equal(size, MOST);
  for (uint32_t i = 0; i < size; ++i)
    assert_int_equal(sums[i], 1 + (i < 13 && i % 3 == 0 ? 6 : 0));
  hearth_histograms_get(&histograms, 8, &size);
  assert_int_equal(size, 0);
  hearth_histograms_destroy(&histograms);
}

static void test_table(void **state) {
  (void)state;
  static hearth_mib_table table;
  uint32_t size;

  assert_true(hearth_mib_table_create(&table, CONTEXTS));
  assert_true(hearth_histograms_create(&table.histograms, CONTEXTS, MOST));
  hearth_block block = block_of(5, 400, 1);
  hearth_mib one = {{.AllocCount = 1}};
  assert_true(hearth_mib_table_record(&table, &block, &one));
  const uint64_t *sums = hearth_histograms_get(&table.histograms, 5, &size);
  assert_int_equal(size, 50);
  assert_int_equal(sums[49], 1);
  hearth_mib_table_forget(&table);
  hearth_histograms_get(&table.histograms, 5, &size);
  assert_int_equal(size, 0);
}

/* What is added to a view is not in the table, and what is not added to is not copied. */
static void test_view(void **state) {
  (void)state;
  static hearth_mib_table table;
  hearth_mib_view view;
  uint32_t size;

  assert_true(hearth_mib_table_create(&table, CONTEXTS));
  assert_true(hearth_histograms_create(&table.histograms, CONTEXTS, MOST));
  hearth_block small = block_of(0, 16, 1), large = block_of(0, 2000, 2), other = block_of(1, 16, 1);
  hearth_histograms_add(&table.histograms, &small, 1);
  hearth_histograms_add(&table.histograms, &other, 1);
  assert_true(hearth_mib_view_create(&view, &table, CONTEXTS));
  hearth_mib_view_add_histogram(&view, &large, 1);
  hearth_mib_view_add_histogram(&view, &small, 3);
  const uint64_t *sums = hearth_mib_view_histogram(&view, 0, &size);
  assert_int_equal(size, 249);
  assert_int_equal(sums[0], 5);
  assert_int_equal(sums[1], 4);
  assert_int_equal(sums[248], 1);
  assert_ptr_equal(hearth_mib_view_histogram(&view, 1, &size), hearth_histograms_get(&table.histograms, 1, &size));
  sums = hearth_histograms_get(&table.histograms, 0, &size);
  assert_int_equal(size, 2);
  assert_int_equal(sums[0], 1);
  hearth_mib_view_destroy(&view);
  drop(small);
  drop(large);
  drop(other);
}

int main(void) {
  hearth_shadow_is_histogram = hearth_shadow_is_coarse = true;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sums_by_place),
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_view),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
