/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Access counters and what instrumented code calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hearth/rt.h"
#include "shadow.h"

#include <stdlib.h>
#include <string.h>

void *__memprof_memcpy(void *to, const void *from, size_t size);
void *__memprof_memset(void *to, int byte, size_t size);

#define AREA ((size_t)8 << 20)

static _Alignas(4096) char area[AREA]; /* not of the heap: only this test touches its counters */

static void test_counts_by_granule(void **state) {
  (void)state;
  hearth_shadow_clear(area, AREA);
  __memprof_record_access(area);
  __memprof_record_access(area + 15);
  __memprof_record_access(area + 16);
  hearth_access_sum sum = hearth_shadow_sum(area, 32);
  assert_int_equal(sum.accesses, 3);
  assert_int_equal(sum.lines, 1);
  assert_int_equal(sum.touched, 1);
  assert_int_equal(hearth_shadow_sum(area, 16).accesses, 2);
  assert_int_equal(hearth_shadow_sum(area + 16, 16).accesses, 1);
  assert_int_equal(hearth_shadow_sum(area, 64).lines, 1);
  assert_int_equal(hearth_shadow_sum(area, 65).lines, 2); /* reaches the next line by one byte */
}

/* Lines are those of the block, wherever it begins. */
static void test_touched_by_line(void **state) {
  (void)state;
  hearth_shadow_clear(area, AREA);
  __memprof_record_access(area + 48 + 60);
  __memprof_record_access(area + 48 + 130);
  hearth_access_sum sum = hearth_shadow_sum(area + 48, 200);
  assert_int_equal(sum.accesses, 2);
  assert_int_equal(sum.lines, 4);
  assert_int_equal(sum.touched, 2);
}

static void test_clear_is_exact(void **state) {
  (void)state;
  for (size_t at = 0; at < 1024; at += 16)
    __memprof_record_access(area + at);
  hearth_shadow_clear(area + 256 + 32, 200); /* granules from 288 to 487 */
  assert_int_equal(hearth_shadow_sum(area + 288, 208).accesses, 0);
  assert_int_not_equal(hearth_shadow_sum(area + 272, 16).accesses, 0);
  assert_int_not_equal(hearth_shadow_sum(area + 496, 16).accesses, 0);
}

static void test_only_what_is_added_is_cleared(void **state) {
  (void)state;
  for (int coarse = 0; coarse < 2; coarse++) {
    hearth_shadow_clear(area, 4096);
    for (size_t at = 0; at < 1024; at += 16)
      __memprof_record_access(area + at);
    hearth_shadow_is_coarse = coarse;
    *hearth_shadow_line_counter((uintptr_t)area + 128) = *hearth_shadow_line_counter((uintptr_t)area + 192) = 5;
    hearth_shadow_clear_added(area, 150, 400); /* granules from 160 to 399, lines from 192 on */
    hearth_shadow_is_coarse = false;
    assert_int_equal(hearth_shadow_sum(area, 1024).accesses, 64 - 15);
    assert_int_equal(hearth_shadow_sum(area + 160, 240).accesses, 0);
    assert_int_equal(*hearth_shadow_line_counter((uintptr_t)area + 128), 5);
    assert_int_equal(*hearth_shadow_line_counter((uintptr_t)area + 192), coarse ? 0 : 5);
    hearth_shadow_clear_added(area, 400, 416); /* there is one granule more */
    assert_int_equal(hearth_shadow_sum(area + 400, 16).accesses, 0);
    hearth_shadow_clear_added(area, 401, 416); /* there is none */
    assert_int_equal(hearth_shadow_sum(area, 1024).accesses, 64 - 16);
  }
  *hearth_shadow_line_counter((uintptr_t)area + 128) = 0;
}

/* The counter is seen each time that additions have made it larger by `step`, as it is before 2^31 were counted. */
static uint64_t count(const char *at, uint64_t count, uint32_t step) {
  for (uint64_t i = 0; i < count; i += step) {
    *hearth_shadow_counter((uintptr_t)at) += step;
    hearth_shadow_note((uintptr_t)at, *hearth_shadow_counter((uintptr_t)at));
  }
  return hearth_shadow_sum(at, 1).accesses;
}

/* A counter has 32 bits; the sum is the number of accesses all the same, for the granule that had them alone. */
static void test_counts_beyond_a_counter(void **state) {
  (void)state;
  static const uint64_t counts[] = {UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 34};
  static const uint32_t steps[] = {1u << 20, (1u << 24) - 1, 1u << 24, 1u << 30};

  for (size_t i = 0; i < sizeof counts / sizeof counts[0] * 4; ++i) {
    uint32_t step = steps[i % 4];
    uint64_t wanted = (counts[i / 4] + step - 1) / step * step;
    hearth_shadow_clear(area, 4096);
    assert_int_equal(count(area + 64, counts[i / 4], step), wanted);
    assert_int_equal(hearth_shadow_sum(area, 4096).accesses, wanted);
    hearth_shadow_count((uintptr_t)area + 64, 65);
    hearth_shadow_count_atomic((uintptr_t)area + 64, 65);
    wanted += 65 + 65;
    assert_int_equal(hearth_shadow_sum(area, 4096).accesses, wanted);
    assert_int_equal(hearth_shadow_sum_block(area, 4096).accesses, wanted);
    assert_int_equal(hearth_shadow_sum(area + 80, 16).accesses + hearth_shadow_sum(area + 48, 16).accesses, 0);
  }
  hearth_shadow_clear(area, 4096);
  assert_int_equal(count(area, UINT64_C(3) << 40, 1u << 30), UINT64_C(3) << 40);
  hearth_shadow_clear_block(area, 16);
  assert_int_equal(count(area, UINT64_C(5) << 29, 1 << 23), UINT64_C(5) << 29); /* nothing is left of what there was */
  hearth_shadow_clear(area, AREA);                                              /* by pages */
  assert_int_equal(count(area, UINT64_C(5) << 29, 1 << 23), UINT64_C(5) << 29);
}

/* What is far beyond a counter, too; the memory around keeps its counts. A granule that wraps later begins at 0. The memory's
 * counters are whole pages. */
static void test_pages_of_counters_go_back(void **state) {
  enum { ALIGNMENT = 1 << 16, SIZE = 3 << 20 };
  const uint64_t many = UINT64_C(1) << 36;
  const uint32_t step = 1u << 30;
  char *memory = (char *)(((uintptr_t)area + ALIGNMENT) & ~(uintptr_t)(ALIGNMENT - 1));

  (void)state;
  hearth_shadow_clear(area, AREA);
  count(memory - 16, many, step);
  count(memory, many, step);
  count(memory + SIZE - 16, many, step);
  count(memory + SIZE, many, step);
  hearth_shadow_give_back(memory, SIZE);
  assert_int_equal(hearth_shadow_sum(memory, SIZE).accesses, 0);
  assert_int_equal(hearth_shadow_sum(memory - 16, 16).accesses, many);
  assert_int_equal(hearth_shadow_sum(memory + SIZE, 16).accesses, many);
  count(memory, many, step);
  assert_int_equal(hearth_shadow_sum(memory, SIZE).accesses, many);
}

static void test_size_zero_has_one_granule(void **state) {
  (void)state;
  hearth_shadow_clear(area, AREA);
  __memprof_record_access(area + 96);
  hearth_access_sum sum = hearth_shadow_sum(area + 96, 0);
  assert_int_equal(sum.lines, 1);
  assert_int_equal(sum.accesses, 1);
  hearth_shadow_clear(area + 96, 0);
  assert_int_equal(hearth_shadow_sum(area + 96, 0).accesses, 0);
}

/* Of blocks that begin with a granule, the short ways do the same. */
static void test_short_ways(void **state) {
  (void)state;
  for (size_t size = 0; size <= 300; ++size) {
    hearth_shadow_clear(area, 1024);
    for (size_t at = 32; at < 512; at += 24)
      __memprof_record_access(area + 128 + at);
    hearth_access_sum all = hearth_shadow_sum(area + 160, size), sum = hearth_shadow_sum_block(area + 160, size);
    assert_memory_equal(&sum, &all, sizeof sum);
    uint64_t around = hearth_shadow_sum(area, 1024).accesses;
    hearth_shadow_clear_block(area + 160, size);
    assert_int_equal(hearth_shadow_sum(area + 160, size).accesses, 0);
    assert_int_equal(hearth_shadow_sum(area, 1024).accesses, around - all.accesses);
  }
}

/* Large ranges are dropped by pages; what lies around them must stay. */
static void test_clear_of_large_range(void **state) {
  (void)state;
  const size_t begin = 4096 + 64, size = AREA / 2 + 192;

  for (size_t at = 0; at < AREA; at += 64)
    __memprof_record_access(area + at);
  hearth_shadow_clear(area + begin, size);
  assert_int_equal(hearth_shadow_sum(area + begin, size).accesses, 0);
  assert_int_equal(hearth_shadow_sum(area + begin, size).lines, size / 64);
  assert_int_equal(hearth_shadow_sum(area, begin).touched, begin / 64);
  assert_int_equal(hearth_shadow_sum(area + begin + size, AREA - begin - size).touched, (AREA - begin - size) / 64);
}

/* One count for each 8 bytes, on the granule they begin in. */
static void test_ranges(void **state) {
  (void)state;
  const struct {
    size_t offset, size, first, second; /* counts of the lines at 0 and 64 */
  } cases[] = {
      {0, 0, 0, 0},  {0, 1, 1, 0},  {0, 8, 1, 0},  {0, 9, 2, 0},  {0, 64, 8, 0},   {0, 128, 8, 8},
      {4, 64, 8, 0}, {4, 69, 8, 1}, {63, 1, 1, 0}, {63, 9, 1, 1}, {60, 128, 1, 8}, {64, 16, 0, 2},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    hearth_shadow_clear(area, 4096);
    __memprof_record_access_range(area + cases[i].offset, cases[i].size);
    assert_int_equal(hearth_shadow_sum(area, 64).accesses, cases[i].first);
    assert_int_equal(hearth_shadow_sum(area + 64, 64).accesses, cases[i].second);
  }
}

static void test_memory_functions(void **state) {
  (void)state;
  hearth_shadow_clear(area, 4096);
  assert_ptr_equal(__memprof_memset(area, 'x', 128), area);
  assert_int_equal(area[127], 'x');
  assert_int_equal(hearth_shadow_sum(area, 128).accesses, 16);
  assert_ptr_equal(__memprof_memcpy(area + 1024, area, 20), area + 1024);
  assert_int_equal(area[1024 + 19], 'x');
  assert_int_equal(hearth_shadow_sum(area, 128).accesses, 16 + 3);
  assert_int_equal(hearth_shadow_sum(area + 1024, 64).accesses, 3);
}

/* No two blocks share a granule, whatever their sizes and alignments; a new block's counters are 0. */
static void test_blocks_have_granules_of_their_own(void **state) {
  (void)state;
  enum { BLOCKS = 200 };
  char *blocks[BLOCKS];
  size_t sizes[BLOCKS];

  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < BLOCKS; ++i) {
      size_t alignment = (size_t)16 << i % 9;
      sizes[i] = (size_t)(i * 37 % 300 + round);
      blocks[i] = i % 3 ? malloc(sizes[i]) : aligned_alloc(alignment, sizes[i]);
      assert_non_null(blocks[i]);
      assert_int_equal((uintptr_t)blocks[i] % (i % 3 ? 16 : alignment), 0);
      assert_int_equal(hearth_shadow_sum(blocks[i], sizes[i]).accesses, 0);
      for (int n = 0; n <= i; ++n)
        __memprof_record_access(blocks[i]);
    }
    for (int i = 0; i < BLOCKS; ++i) {
      assert_int_equal(hearth_shadow_sum(blocks[i], sizes[i]).accesses, i + 1);
      free(blocks[i]);
    }
  }
}

/* Code of clang -fmemory-profile counts by lines: from then on no two blocks share one, and both kinds of counters count. */
static void test_coarse_blocks_have_lines_of_their_own(void **state) {
  (void)state;
  enum { BLOCKS = 300 };
  char *blocks[BLOCKS];
  size_t sizes[BLOCKS];

  hearth_shadow_is_coarse = true;
  for (int i = 0; i < BLOCKS; ++i) {
    sizes[i] = (size_t)i * 7 % 1500;
    blocks[i] = i % 5 ? malloc(sizes[i]) : aligned_alloc(64, sizes[i]);
    assert_int_equal(hearth_shadow_sum(blocks[i], sizes[i]).accesses, 0);
    *hearth_shadow_line_counter((uintptr_t)blocks[i]) += (uint64_t)i;
    __memprof_record_access(blocks[i]);
  }
  for (int i = 0; i < BLOCKS; ++i) {
    hearth_access_sum sum = hearth_shadow_sum(blocks[i], sizes[i]);
    assert_int_equal(sum.accesses, i + 1);
    assert_int_equal(sum.touched, 1);
    free(blocks[i]);
  }
  hearth_shadow_is_coarse = false;
}

/* Last: there is no way back. */
static void test_ignored_counters_say_nothing(void **state) {
  (void)state;
  hearth_shadow_clear(area, 4096);
  __memprof_record_access(area);
  hearth_shadow_ignore();
  hearth_access_sum sum = hearth_shadow_sum(area, 128);
  assert_int_equal(sum.accesses, 0);
  assert_int_equal(sum.touched, 0);
  assert_int_equal(sum.lines, 2);
}

/* No profile of the test itself. */
const char *__memprof_default_options(void) { return "dump_at_exit=0"; }

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_counts_by_granule),
      cmocka_unit_test(test_touched_by_line),
      cmocka_unit_test(test_clear_is_exact),
      cmocka_unit_test(test_only_what_is_added_is_cleared),
      cmocka_unit_test(test_counts_beyond_a_counter),
      cmocka_unit_test(test_pages_of_counters_go_back),
      cmocka_unit_test(test_size_zero_has_one_granule),
      cmocka_unit_test(test_short_ways),
      cmocka_unit_test(test_clear_of_large_range),
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_memory_functions),
      cmocka_unit_test(test_blocks_have_granules_of_their_own),
      cmocka_unit_test(test_coarse_blocks_have_lines_of_their_own),
      cmocka_unit_test(test_ignored_counters_say_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
