/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory info blocks: the merge rules of mib_fields.def across profiles, and recording within one series. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "blocks.h"
#include "running_profile.h"
#include "thread_state.h"

#include <string.h>

#define ROUNDS 2000

static uint64_t seed = 20240901;

static uint64_t next_random(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

/* Small, huge, equal and zero values, so that all rules meet their edges. */
static hearth_mib random_mib(void) {
  static const uint64_t edges[] = {0, 1, 2, UINT64_MAX / 2, UINT64_MAX - 1, UINT64_MAX};
  hearth_mib mib;

  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; ++i)
    mib.v[i] = next_random() % 2 ? edges[next_random() % 6] : next_random() % 10;
  mib.AllocCount = next_random() % 8 ? 1 + next_random() % 5 : 0;
  return mib.AllocCount ? mib : (hearth_mib){{0}};
}

static hearth_mib merged(hearth_mib a, hearth_mib b) {
  hearth_mib_merge(&a, &b);
  return a;
}

static void test_merge_is_associative(void **state) {
  (void)state;
  for (int i = 0; i < ROUNDS; ++i) {
    hearth_mib a = random_mib(), b = random_mib(), c = random_mib();
    hearth_mib left = merged(merged(a, b), c), right = merged(a, merged(b, c));
    assert_memory_equal(&left, &right, sizeof left);
  }
}

static void test_merge_is_commutative(void **state) {
  (void)state;
  for (int i = 0; i < ROUNDS; ++i) {
    hearth_mib a = random_mib(), b = random_mib();
    hearth_mib left = merged(a, b), right = merged(b, a);
    assert_memory_equal(&left, &right, sizeof left);
  }
}

static void test_repeating_is_merging_so_often(void **state) {
  (void)state;
  for (int i = 0; i < ROUNDS; ++i) {
    hearth_mib a = random_mib(), sum = {{0}}, repeated = a;
    uint64_t weight = 1 + next_random() % 6;
    for (uint64_t k = 0; k < weight; ++k)
      hearth_mib_merge(&sum, &a);
    hearth_mib_repeat(&repeated, weight);
    assert_memory_equal(&sum, &repeated, sizeof sum);
  }
}

static void test_empty_record_is_neutral(void **state) {
  (void)state;
  const hearth_mib empty = {{0}};
  for (int i = 0; i < ROUNDS; ++i) {
    hearth_mib a = random_mib();
    hearth_mib left = merged(empty, a), right = merged(a, empty);
    assert_memory_equal(&left, &a, sizeof a);
    assert_memory_equal(&right, &a, sizeof a);
  }
}

static void test_rules(void **state) {
  (void)state;
  hearth_mib a = {{.AllocCount = 1, .MinSize = 8, .MaxSize = 8, .TotalSize = UINT64_MAX - 1, .DataTypeId = 7}};
  hearth_mib b = {{.AllocCount = 2, .MinSize = 0, .MaxSize = 90, .TotalSize = 2, .DataTypeId = 9}};

  hearth_mib c = merged(a, b);
  assert_int_equal(c.AllocCount, 3);
  assert_int_equal(c.MinSize, 0);
  assert_int_equal(c.MaxSize, 90);
  assert_true(c.TotalSize == UINT64_MAX); /* saturates */
  assert_true(c.DataTypeId == HEARTH_MIB_MIXED);
  b.DataTypeId = 0; /* unknown gives way */
  assert_int_equal(merged(a, b).DataTypeId, 7);
  b.DataTypeId = 7;
  assert_int_equal(merged(a, b).DataTypeId, 7);
}

static hearth_mib one(uint64_t alloc_ns, uint32_t alloc_cpu, uint64_t free_ns, uint32_t free_cpu) {
  hearth_block block = {.size = 200, .alloc_ns = alloc_ns, .cpu = (uint16_t)alloc_cpu};
  hearth_access_sum accesses = {.accesses = 50, .lines = 4, .touched = 3};

  return hearth_mib_of_block(&block, accesses, (hearth_moment){free_ns, free_cpu});
}

static void test_record_of_one_block(void **state) {
  (void)state;
  hearth_mib mib = one(1000000, 2, 6000000, 3);

  assert_int_equal(mib.AllocCount, 1);
  assert_int_equal(mib.TotalSize, 200);
  assert_int_equal(mib.TotalLifetime, 5000000);
  assert_int_equal(mib.NumMigration, 1);
  assert_int_equal(mib.MinPercentUtilized, 75);
  assert_int_equal(mib.MaxAccessDensity, 25);                      /* 50 * 100 / 200 */
  assert_int_equal(mib.TotalLifetimeAccessDensity, 25 * 1000 / 5); /* 5 ms */
  assert_int_equal(mib.AllocTimestamp, 1000000);
  assert_int_equal(mib.DeallocCPU, 3);
  assert_int_equal(mib.LiveAtExit, 0);
}

static void test_empty_block_and_short_life(void **state) {
  (void)state;
  hearth_block block = {.size = 0, .alloc_ns = 10};
  hearth_access_sum accesses = {.accesses = 3, .lines = 1, .touched = 1};
  hearth_mib mib = hearth_mib_of_block(&block, accesses, (hearth_moment){20, 0});

  assert_int_equal(mib.TotalAccessDensity, 300);            /* size 0 counts as 1 */
  assert_int_equal(mib.TotalLifetimeAccessDensity, 300000); /* less than 1 ms counts as 1 ms */
  block = (hearth_block){.size = 3};
  accesses.accesses = UINT64_C(1) << 40;
  mib = hearth_mib_of_block(&block, accesses, (hearth_moment){UINT64_C(7) << 40, 0});
  assert_int_equal(mib.TotalAccessDensity, (UINT64_C(100) << 40) / 3); /* more than 32 bits */
}

static void test_follow_compares_with_the_previous_record(void **state) {
  (void)state;
  hearth_mib mib = {{0}};
  const struct {
    uint64_t alloc, free;
    uint32_t alloc_cpu, free_cpu;
    uint64_t overlaps, same_alloc, same_free;
  } steps[] = {
      {10, 20, 1, 1, 0, 0, 0}, /* the first has nothing to compare with */
      {15, 30, 1, 2, 1, 1, 0}, /* began before the previous one ended */
      {30, 40, 1, 2, 1, 2, 1}, /* began when it ended */
      {35, 50, 3, 2, 2, 2, 2},
  };

  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
    hearth_mib block = one(steps[i].alloc, steps[i].alloc_cpu, steps[i].free, steps[i].free_cpu);
    hearth_mib_follow(&mib, &block);
    assert_int_equal(mib.NumLifetimeOverlaps, steps[i].overlaps);
    assert_int_equal(mib.NumSameAllocCPU, steps[i].same_alloc);
    assert_int_equal(mib.NumSameDeallocCPU, steps[i].same_free);
    assert_int_equal(mib.AllocTimestamp, steps[i].alloc); /* most recent, not greatest */
    assert_int_equal(mib.AllocCPU, steps[i].alloc_cpu);
  }
  hearth_mib older = one(12, 1, 49, 1);
  hearth_mib_follow(&mib, &older);
  assert_int_equal(mib.AllocTimestamp, 12);
  assert_int_equal(mib.DeallocCPU, 1);
  assert_int_equal(mib.AllocCount, 5);
}

static void record(hearth_mib_table *table, uint32_t context, const hearth_mib *mib) {
  assert_true(hearth_mib_table_record(table, &(hearth_block){.context = context}, mib));
}

static void test_table(void **state) {
  (void)state;
  hearth_mib_table table;
  hearth_mib mib = one(1, 0, 2, 0);

  assert_true(hearth_mib_table_create(&table, 600));
  record(&table, 3, &mib);
  record(&table, 3, &mib);
  record(&table, 3 + HEARTH_MIB_LOCKS, &mib); /* the same lock, another record */
  assert_int_equal(hearth_mib_table_read(&table, 3).AllocCount, 2);
  assert_int_equal(hearth_mib_table_read(&table, 3 + HEARTH_MIB_LOCKS).AllocCount, 1);
  assert_int_equal(hearth_mib_table_read(&table, 4).AllocCount, 0);
  hearth_mib_table_forget(&table);
  assert_int_equal(hearth_mib_table_read(&table, 3).AllocCount, 0);
}

static void test_view(void **state) {
  (void)state;
  hearth_mib_table table;
  hearth_mib_view view;
  hearth_mib mib = one(1, 0, 2, 0);

  assert_true(hearth_mib_table_create(&table, 600));
  record(&table, 3, &mib);
  record(&table, 5, &mib);
  assert_true(hearth_mib_view_create(&view, &table, 600));
  hearth_mib_follow(hearth_mib_view_change(&view, 3), &mib);
  hearth_mib_follow(hearth_mib_view_change(&view, 3), &mib);
  hearth_mib_follow(hearth_mib_view_change(&view, 4), &mib);
  assert_int_equal(hearth_mib_view_read(&view, 3).AllocCount, 3);
  assert_int_equal(hearth_mib_view_read(&view, 4).AllocCount, 1);
  assert_int_equal(hearth_mib_view_read(&view, 5).AllocCount, 1); /* not copied */
  assert_int_equal(hearth_mib_view_read(&view, 599).AllocCount, 0);
  assert_int_equal(hearth_mib_table_read(&table, 3).AllocCount, 1);
  hearth_mib_view_destroy(&view);
}

static void assert_same(hearth_mib mib, const hearth_mib *expected) { assert_memory_equal(&mib, expected, sizeof mib); }

/* Blocks that a thread's cache takes, evicts to the table, and is copied from make the record that they make alone. */
static void check_cache(uint64_t mean_bytes) {
  static hearth_mib_cache cache; /* large for a stack */
  hearth_mib_table table;
  hearth_mib expected[600] = {0};
  hearth_mib_view view;

  hearth_rt.options.sample = mean_bytes;
  assert_true(hearth_mib_table_create(&table, 600));
  for (uint64_t i = 0; i < 3000; ++i) {
    uint32_t context = next_random() % 2 ? 3 : 3 + HEARTH_MIB_CACHE_SLOTS; /* one slot */
    hearth_header header = HEARTH_BLOCK_ENDING;
    hearth_block block = {.header = &header,
                          .size = next_random() % 500,
                          .alloc_ns = 1000 * i - next_random() % 5000 * (i > 5),
                          .cpu = (uint32_t)(next_random() % 3),
                          .context = context,
                          .data_type_id = next_random() % 2};
    hearth_access_sum accesses = {.accesses = next_random() % 4 * 1000, .lines = 9, .touched = next_random() % 9};
    hearth_moment end = {(1000 * i + next_random() % 100) | HEARTH_CLOCK_KNOWN, (uint32_t)(next_random() % 3)};
    hearth_mib alone = hearth_mib_of_block(&block, accesses, end);
    hearth_mib_follow(&expected[context], &alone);
    assert_true(hearth_mib_cache_record(&cache, &table, &block, accesses, end));
    assert_int_equal(hearth_header_state(&header), HEARTH_BLOCK_FREE);
  }
  assert_true(hearth_mib_view_create(&view, &table, 600));
  hearth_mib_cache_show(&cache, &view);
  for (uint32_t context = 0; context < 600; ++context)
    assert_same(hearth_mib_view_read(&view, context), &expected[context]);
  hearth_mib_view_destroy(&view);
  hearth_mib_cache_flush(&cache, &table);
  for (uint32_t context = 0; context < 600; ++context)
    assert_same(hearth_mib_table_read(&table, context), &expected[context]);
  assert_true(hearth_mib_view_create(&view, &table, 600));
  hearth_mib_cache_show(&cache, &view); /* it is empty */
  assert_same(hearth_mib_view_read(&view, 3), &expected[3]);
  hearth_mib_view_destroy(&view);
  hearth_rt.options.sample = 0;
}

static void test_cache(void **state) { (void)state, check_cache(0); }

static void test_cache_of_sampled_blocks(void **state) { (void)state, check_cache(300); }

/* What a signal handler does that interrupted its thread within the change of a record. */
static void test_interrupted(void **state) {
  (void)state;
  hearth_mib_table table;
  hearth_mib mib = one(1, 0, 2, 0);

  hearth_threads_known = true; /* the runtime's start is not part of this program */
  assert_true(hearth_mib_table_create(&table, 600));
  hearth_lock_take(&table.locks[3]);
  hearth_this_thread.depth = 2; /* the handler's critical section within the interrupted one */
  assert_false(hearth_mib_table_record(&table, &(hearth_block){.context = 3}, &mib));
  record(&table, 4, &mib);
  for (int dumps = 0; dumps < 2; ++dumps) {
    hearth_mib_table_lock(&table);
    assert_int_equal(hearth_mib_table_read(&table, 3).AllocCount, 0);
    hearth_mib_table_unlock(&table);
    assert_true(hearth_lock_is_mine(&table.locks[3]));
    assert_false(hearth_lock_is_mine(&table.locks[4]));
  }
  hearth_this_thread.depth = 0;
  hearth_lock_give(&table.locks[3]);
}

/* Of blocks whose end did not read the clock, the lifetime is that of the last one that stands for others; before there is one, it
 * is the difference of the times. */
static void test_lifetime_of_others(void **state) {
  (void)state;
  static hearth_mib_table table;
  static hearth_mib_cache cache;
  const uint64_t ends[] = {40, 1000 | HEARTH_CLOCK_KNOWN | HEARTH_CLOCK_SAMPLE, 1004, 9000 | HEARTH_CLOCK_KNOWN, 9004};

  assert_true(hearth_mib_table_create(&table, 600));
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i) {
    hearth_header header = HEARTH_BLOCK_ENDING;
    hearth_block block = {.header = &header, .size = 8, .alloc_ns = 0, .context = 3};
    assert_true(
        hearth_mib_cache_record(&cache, &table, &block, (hearth_access_sum){.lines = 1}, (hearth_moment){ends[i], 0}));
  }
  hearth_mib_cache_flush(&cache, &table);
  assert_int_equal(hearth_mib_table_read(&table, 3).AllocCount, 5);
  assert_int_equal(hearth_mib_table_read(&table, 3).TotalLifetime, 40 + 1003 + 1003 + 9001 + 1003);
  assert_int_equal(hearth_mib_table_read(&table, 3).MaxLifetime, 9001);
}

int main(void) {
  print_message("seed %llu\n", (unsigned long long)seed);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lifetime_of_others),
      cmocka_unit_test(test_merge_is_associative),
      cmocka_unit_test(test_merge_is_commutative),
      cmocka_unit_test(test_repeating_is_merging_so_often),
      cmocka_unit_test(test_empty_record_is_neutral),
      cmocka_unit_test(test_rules),
      cmocka_unit_test(test_record_of_one_block),
      cmocka_unit_test(test_empty_block_and_short_life),
      cmocka_unit_test(test_follow_compares_with_the_previous_record),
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_view),
      cmocka_unit_test(test_cache),
      cmocka_unit_test(test_cache_of_sampled_blocks),
      cmocka_unit_test(test_interrupted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
