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

enum { CONTEXT = 50, BIRTH = 4000 };

static hearth_picks picks;
static hearth_touched_sums sums;
static hearth_sampler lots;
static uint64_t now_ns;

static void begin(void) {
  picks = (hearth_picks){.count = 0};
  now_ns = 0;
  hearth_touched_sums_forget(&sums);
  hearth_sampler_begin(&lots, 1, 42);
}

static void publish(hearth_header *block, uint32_t context, uint64_t alloc_ns) {
  hearth_header_publish(block, hearth_header_life(context, 0, alloc_ns));
}

static hearth_header *make_of(size_t size, uint32_t context, uint64_t alloc_ns) {
  bool zeroed;
  hearth_header *block = hearth_heap_take(size, 32, 0, NULL, &zeroed);
  assert_non_null(block);
  publish(block, context, alloc_ns);
  return block;
}

static hearth_header *make(uint32_t context, uint64_t alloc_ns) { return make_of(1000, context, alloc_ns); }

static void take_of(const hearth_header *block, uint64_t pages) {
  hearth_picks_take(&picks, (const char *)(block + 1) + 10, pages, now_ns, &lots);
}

static void take(const hearth_header *block) { take_of(block, 1000); }

static void access_it(const hearth_header *block) { hearth_shadow_count((uintptr_t)(block + 1) + 40, 1); }

static void look(void) { hearth_picks_look(&picks, now_ns, now_ns, &sums); }

static void expect_at(uint64_t dump, uint64_t count, uint64_t late) {
  hearth_mib mib;
  hearth_picks_set(&sums.rows[CONTEXT], dump, &mib);
  assert_int_equal(mib.Picks, count);
  assert_int_equal(mib.LatePicks, late);
}

static void expect(uint64_t count, uint64_t late) { expect_at(99, count, late); }

static void take_byte(const hearth_header *block, ptrdiff_t at) {
  hearth_picks_take(&picks, (const char *)(block + 1) + at, 1000, now_ns, &lots);
}

static void headers_and_what_is_behind_a_block_are_no_picks(void **state) {
  (void)state;
  begin();
  hearth_header *block = make(CONTEXT, BIRTH);
  take_byte(block, -1);
  take_byte(block, -(ptrdiff_t)sizeof *block);
  take_byte(block, 1000);
  assert_int_equal(picks.count, 0);
  take_byte(block, 0);
  take_byte(block, 999);
  assert_int_equal(picks.count, 2);
}

static void a_pick_is_of_one_page(void **state) {
  enum { SIZE = 300000 };
  (void)state;
  begin();
  hearth_header *block = make_of(SIZE, CONTEXT, BIRTH);
  const char *memory = (const char *)(block + 1);
  size_t covered = 0;
  for (size_t at = 0; at < SIZE; at = covered) {
    take_byte(block, (ptrdiff_t)at);
    assert_int_equal(picks.count, 1);
    assert_ptr_equal(picks.rows[0].begin, memory + at);
    covered = at + picks.rows[0].size;
    assert_int_equal(((uintptr_t)memory + covered - 1) / 4096, ((uintptr_t)memory + at) / 4096);
    picks.count = 0;
  }
  assert_int_equal(covered, SIZE);
}

static void what_is_accessed_is_not_late(void **state) {
  (void)state;
  begin();
  hearth_header *block = make(CONTEXT, BIRTH);
  take(block);
  look();
  expect(0, 0);
  assert_int_equal(picks.count, 1);
  access_it(block);
  look();
  expect(1, 0);
  assert_int_equal(picks.count, 0);
}

static void what_ends_without_an_access_is_late(void **state) {
  (void)state;
  begin();
  hearth_header *freed = make(CONTEXT, BIRTH), *reused = make(CONTEXT, BIRTH), *other = make(CONTEXT, BIRTH);
  take(freed);
  take(reused);
  take(other);
  look();
  look();
  hearth_header_set_state(freed, HEARTH_BLOCK_FREE);
  publish(reused, CONTEXT, 2 * BIRTH);
  publish(other, CONTEXT + 1, BIRTH);
  look();
  expect(3, 3);
  assert_int_equal(sums.rows[CONTEXT + 1].picked.picks, 0);
}

/* It may have been accessed in between. */
static void what_ends_before_the_second_look_tells_nothing(void **state) {
  (void)state;
  for (unsigned looks = 0; looks < 4; looks++) {
    begin();
    hearth_header *block = make(CONTEXT, BIRTH);
    take(block);
    for (unsigned i = 0; i < looks; i++)
      look();
    hearth_header_set_state(block, HEARTH_BLOCK_FREE);
    look();
    expect(looks >= 2, looks >= 2);
    assert_int_equal(picks.count, 0);
  }
}

static void a_dump_shows_those_that_wait(void **state) {
  (void)state;
  begin();
  hearth_header *block = make(CONTEXT, BIRTH);
  take(block);
  take(block);
  hearth_picks_show(&picks, 1, &sums);
  expect_at(1, 0, 0);
  look();
  for (uint64_t dump = 2; dump < 4; dump++) {
    hearth_picks_show(&picks, dump, &sums);
    expect_at(dump, 2, 2);
    expect_at(dump + 1, 0, 0);
  }
  access_it(block);
  look();
  expect_at(3, 4, 2);
  expect(2, 0);
}

/* Where the heap is large, few of a context's picks are of its memory; each stands for more. */
static void picks_count_by_the_size_of_the_heap(void **state) {
  (void)state;
  begin();
  hearth_header *early = make(CONTEXT, BIRTH), *late = make(CONTEXT, BIRTH);
  for (unsigned i = 0; i < 4; i++)
    take_of(early, 9000);
  look();
  access_it(early);
  look();
  for (unsigned i = 0; i < 4; i++)
    take_of(late, 3000);
  look();
  look();
  hearth_header_set_state(late, HEARTH_BLOCK_FREE);
  look();
  expect(8, 2);
}

static void expect_pages(uint64_t used, uint64_t idle_bytes) {
  hearth_mib mib;
  hearth_picks_set(&sums.rows[CONTEXT], 99, &mib);
  assert_int_equal(mib.UsedPageBytes, 4096 * used);
  assert_int_equal(mib.IdlePageBytes, idle_bytes);
}

/* The bytes of a new pick. */
static uint64_t take_piece(const hearth_header *block) {
  take(block);
  return picks.rows[picks.count - 1].size;
}

/* Idle is an eighth of the run so far, up to 30 s. */
static void what_is_not_soon_used_again_is_idle(void **state) {
  const uint64_t second = 1000000000, starts[] = {80 * second, 80000 * second}, idle[] = {11 * second, 30 * second};
  (void)state;
  for (int i = 0; i < 2; i++) {
    begin();
    hearth_header *rests = make(CONTEXT, BIRTH), *used = make(CONTEXT, BIRTH), *ends = make(CONTEXT, BIRTH);
    now_ns = starts[i];
    uint64_t idle_bytes = take_piece(rests);
    take(used);
    take(ends);
    now_ns += idle[i] - second;
    look();
    expect_pages(0, 0);
    access_it(used);
    hearth_header_set_state(ends, HEARTH_BLOCK_FREE); /* too early to tell something */
    look();
    expect_pages(1, 0);
    now_ns += 2 * second;
    look();
    expect_pages(1, idle_bytes);
    access_it(rests); /* it has been idle, which counts once */
    look();
    expect_pages(1, idle_bytes);
    assert_int_equal(picks.count, 0);
  }
}

/* A walk over all of the memory uses each page once; single accesses at different times use one page each. */
static void a_walk_uses_each_page_once(void **state) {
  enum { BLOCKS = 40 };
  uint64_t bytes = 0;
  hearth_header *blocks[BLOCKS];
  (void)state;
  begin();
  now_ns = 80000000000;
  for (unsigned i = 0; i < BLOCKS; i++)
    bytes += take_piece(blocks[i] = make(CONTEXT, BIRTH));
  const uint64_t pages = (bytes + 4095) / 4096;
  look();
  for (unsigned i = 0; i < BLOCKS; i++)
    access_it(blocks[i]);
  look();
  expect_pages(pages, 0);
  for (unsigned i = 0; i < BLOCKS; i++)
    take(blocks[i]);
  for (unsigned i = 0; i < BLOCKS; i++) {
    access_it(blocks[i]);
    look();
  }
  expect_pages(pages + BLOCKS, 0);
}

/* Though a pick that is taken out gets another one in its place. */
static void a_look_misses_none(void **state) {
  enum { PICKS = 20 };
  (void)state;
  begin();
  hearth_header *ends = make(CONTEXT, BIRTH), *stays = make(CONTEXT, BIRTH);
  for (unsigned i = 0; i < PICKS; i++)
    take(i % 3 ? stays : ends);
  look();
  look();
  hearth_header_set_state(ends, HEARTH_BLOCK_FREE);
  look();
  expect(7, 7);
  assert_int_equal(picks.count, PICKS - 7);
}

/* However many wait, the sums keep their expectation: 40,000 picks of blocks that nothing accesses, of a tenth of which each
 * belongs to the context. */
static void too_many_picks_are_halved(void **state) {
  enum { BLOCKS = 10, PICKS = 40000 };
  hearth_header *blocks[BLOCKS];
  (void)state;
  begin();
  for (uint32_t i = 0; i < BLOCKS; i++)
    blocks[i] = make(CONTEXT + i, BIRTH);
  for (uint32_t i = 0; i < PICKS; i++) {
    take(blocks[i % BLOCKS]);
    if (i % 200 == 0)
      look();
  }
  assert_in_range(picks.count, HEARTH_PICKS_MOST / 3, HEARTH_PICKS_MOST);
  look();
  hearth_picks_show(&picks, 1, &sums);
  assert_in_range(sums.rows[CONTEXT].waiting.picks, PICKS / BLOCKS / 2, PICKS / BLOCKS * 2);
  uint64_t all = 0;
  for (uint32_t i = 0; i < BLOCKS; i++)
    all += sums.rows[CONTEXT + i].waiting.picks;
  assert_in_range(all, PICKS * 8 / 10, PICKS * 12 / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(headers_and_what_is_behind_a_block_are_no_picks),
      cmocka_unit_test(a_pick_is_of_one_page),
      cmocka_unit_test(what_is_accessed_is_not_late),
      cmocka_unit_test(what_ends_without_an_access_is_late),
      cmocka_unit_test(what_ends_before_the_second_look_tells_nothing),
      cmocka_unit_test(a_dump_shows_those_that_wait),
      cmocka_unit_test(picks_count_by_the_size_of_the_heap),
      cmocka_unit_test(what_is_not_soon_used_again_is_idle),
      cmocka_unit_test(a_walk_uses_each_page_once),
      cmocka_unit_test(a_look_misses_none),
      cmocka_unit_test(too_many_picks_are_halved),
  };
  hearth_ensure_heap();
  if (!hearth_shadow_reserve() || !hearth_touched_sums_create(&sums, 100, 10))
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
