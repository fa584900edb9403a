/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Picks: what was accessed, what was not any more, and what tells nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap.h"
#include "os.h"
#include "picks.h"
#include "shadow.h"

enum { CONTEXT = 50 };

static hearth_picks picks;
static hearth_touched_sums sums;
static hearth_sampler lots;

static void begin(void) {
  picks = (hearth_picks){.count = 0};
  hearth_touched_sums_forget(&sums);
  hearth_sampler_begin(&lots, 1, 42);
}

static hearth_block *make(uint32_t context, uint64_t alloc_ns) {
  bool zeroed;
  hearth_block *block = hearth_heap_take(1000, 32, NULL, &zeroed);
  assert_non_null(block);
  block->context = context;
  block->alloc_ns = alloc_ns;
  hearth_block_publish(block);
  return block;
}

static void take(const hearth_block *block) { hearth_picks_take(&picks, (const char *)(block + 1) + 10, &lots); }

static void look(void) { hearth_picks_look(&picks, HEARTH_PICKS_MOST, &sums); }

static void expect(uint64_t count, uint64_t late) {
  assert_int_equal(sums.rows[CONTEXT].picks, count);
  assert_int_equal(sums.rows[CONTEXT].late_picks, late);
}

static void what_is_accessed_is_not_late(void **state) {
  (void)state;
  begin();
  hearth_block *block = make(CONTEXT, 7);
  take(block);
  look();
  expect(0, 0);
  assert_int_equal(picks.count, 1);
  hearth_shadow_count((uintptr_t)(block + 1) + 40, 1);
  look();
  expect(1, 0);
  assert_int_equal(picks.count, 0);
}

static void what_ends_without_an_access_is_late(void **state) {
  (void)state;
  begin();
  hearth_block *freed = make(CONTEXT, 7), *reused = make(CONTEXT, 7), *other = make(CONTEXT, 7);
  take(freed);
  take(reused);
  take(other);
  look();
  hearth_block_set_state(freed, HEARTH_BLOCK_FREE);
  reused->alloc_ns = 8;
  other->context = CONTEXT + 1;
  look();
  expect(3, 3);
  assert_int_equal(sums.rows[CONTEXT + 1].picks, 0);
}

/* It may have been accessed in between. */
static void what_ends_before_the_first_look_tells_nothing(void **state) {
  (void)state;
  begin();
  hearth_block *block = make(CONTEXT, 7);
  take(block);
  hearth_block_set_state(block, HEARTH_BLOCK_FREE);
  look();
  expect(0, 0);
  assert_int_equal(picks.count, 0);
}

static void a_dump_shows_those_that_wait(void **state) {
  (void)state;
  begin();
  hearth_block *block = make(CONTEXT, 7);
  take(block);
  take(block);
  hearth_picks_show(&picks, 1, &sums);
  assert_int_equal(sums.rows[CONTEXT].late_now, 0);
  look();
  for (uint64_t dump = 2; dump < 4; ++dump) {
    hearth_picks_show(&picks, dump, &sums);
    assert_int_equal(sums.rows[CONTEXT].late_now, 2);
    assert_int_equal(sums.rows[CONTEXT].late_dump, dump);
  }
  expect(0, 0);
}

/* However many wait, the sums keep their expectation: 40,000 picks of blocks that nothing accesses, of a tenth of which each
 * belongs to the context. Twenty are looked at as each is taken. */
static void too_many_picks_are_halved(void **state) {
  enum { BLOCKS = 10, PICKS = 40000 };
  hearth_block *blocks[BLOCKS];
  (void)state;
  begin();
  for (uint32_t i = 0; i < BLOCKS; ++i)
    blocks[i] = make(CONTEXT + i, 7);
  for (uint32_t i = 0; i < PICKS; ++i) {
    take(blocks[i % BLOCKS]);
    hearth_picks_look(&picks, 20, &sums);
  }
  assert_in_range(picks.count, HEARTH_PICKS_MOST / 3, HEARTH_PICKS_MOST);
  look();
  hearth_picks_show(&picks, 1, &sums);
  assert_in_range(sums.rows[CONTEXT].late_now, PICKS / BLOCKS / 2, PICKS / BLOCKS * 2);
  uint64_t all = 0;
  for (uint32_t i = 0; i < BLOCKS; ++i)
    all += sums.rows[CONTEXT + i].late_now;
  assert_in_range(all, PICKS * 8 / 10, PICKS * 12 / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_accessed_is_not_late),
      cmocka_unit_test(what_ends_without_an_access_is_late),
      cmocka_unit_test(what_ends_before_the_first_look_tells_nothing),
      cmocka_unit_test(a_dump_shows_those_that_wait),
      cmocka_unit_test(too_many_picks_are_halved),
  };
  hearth_ensure_heap();
  if (!hearth_shadow_reserve() || !hearth_touched_sums_create(&sums, 100, 10))
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
