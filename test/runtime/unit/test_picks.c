/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Picks: what was accessed, what was not any more, and what tells nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap.h"
#include "os.h"
#include "own_thread.h"
#include "shadow.h"

enum { CONTEXT = 50, BIRTH = 4000, PAGE = 4096 };
static const uint64_t second = 1000000000;

static hearth_picks picks;
static hearth_pick_rows sums;
static hearth_sampler lots;
static uint64_t now_ns;

static void begin(void) {
  picks.waiting.count = picks.waiting.halvings = 0;
  picks.followed.count = picks.followed.halvings = 0;
  now_ns = 0;
  hearth_pick_rows_forget(&sums);
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

static void take_of(const hearth_header *block, uint64_t weight) {
  hearth_picks_take(&picks, (const char *)(block + 1) + 10, weight, now_ns, &lots);
}

static void take(const hearth_header *block) { take_of(block, 1000); }

static void access_it(const hearth_header *block) { hearth_shadow_count((uintptr_t)(block + 1) + 40, 1); }

static void look(void) { hearth_picks_look(&picks, now_ns, now_ns, &lots, &sums); }

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
  assert_int_equal(picks.waiting.count, 0);
  take_byte(block, 0);
  take_byte(block, 999);
  assert_int_equal(picks.waiting.count, 2);
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
    assert_int_equal(picks.waiting.count, 1);
    assert_ptr_equal(picks.waiting.rows[0].begin, memory + at);
    covered = at + picks.waiting.rows[0].size;
    assert_int_equal(((uintptr_t)memory + covered - 1) / 4096, ((uintptr_t)memory + at) / 4096);
    picks.waiting.count = 0;
  }
  assert_int_equal(covered, SIZE);
}

/* Of a block that is picked at `picked`, accessed at `accessed` unless 0, and ends at second 100: is it late, or does it tell nothing? */
static void expect_life(unsigned picked, unsigned accessed, bool tells, bool late) {
  begin();
  hearth_header *block = make(CONTEXT, BIRTH);
  for (unsigned at = 1; at <= 100; at++) {
    now_ns = at * second;
    if (at == picked)
      take(block);
    if (at == accessed)
      access_it(block);
    if (at == 100)
      hearth_header_set_state(block, HEARTH_BLOCK_FREE);
    look();
  }
  expect(tells, late);
  assert_int_equal(picks.followed.count, 0);
}

static void what_is_not_accessed_in_the_last_half_is_late(void **state) {
  (void)state;
  expect_life(10, 0, true, true);
  expect_life(10, 20, true, true);
  expect_life(10, 49, true, true);
  expect_life(10, 52, true, false);
  expect_life(10, 98, true, false);
}

static void what_the_last_look_saw_is_of_the_end(void **state) {
  (void)state;
  expect_life(10, 99, true, true);
}

/* Its accesses between the half and the pick are not known. */
static void a_pick_of_the_last_half_tells_nothing(void **state) {
  (void)state;
  expect_life(49, 0, true, true);
  expect_life(52, 0, false, false);
  expect_life(52, 80, false, false);
}

static void what_ends_before_the_second_look_tells_nothing(void **state) {
  (void)state;
  for (unsigned looks = 0; looks < 4; looks++) {
    begin();
    hearth_header *block = make(CONTEXT, BIRTH);
    take(block);
    now_ns = 80 * second;
    for (unsigned i = 0; i < looks; i++)
      look();
    hearth_header_set_state(block, HEARTH_BLOCK_FREE);
    look();
    expect(looks >= 2, looks >= 2);
    assert_int_equal(picks.followed.count, 0);
  }
}

/* One with another context or age is another one. */
static void a_block_that_is_used_again_has_ended(void **state) {
  (void)state;
  begin();
  hearth_header *reused = make(CONTEXT, BIRTH), *other = make(CONTEXT, BIRTH);
  take(reused);
  take(other);
  now_ns = 80 * second;
  look();
  look();
  publish(reused, CONTEXT, 2 * BIRTH);
  publish(other, CONTEXT + 1, BIRTH);
  look();
  expect(2, 2);
  assert_int_equal(sums.rows[CONTEXT + 1].picked.picks, 0);
}

/* As if they ended then. */
static void a_dump_shows_those_of_live_blocks(void **state) {
  (void)state;
  begin();
  hearth_header *block = make(CONTEXT, BIRTH);
  take(block);
  take(block);
  now_ns = 80 * second;
  look();
  hearth_picks_show(&picks, now_ns, 1, &sums);
  expect_at(1, 0, 0);
  look();
  for (uint64_t dump = 2; dump < 4; dump++) {
    hearth_picks_show(&picks, now_ns, dump, &sums);
    expect_at(dump, 2, 2);
    expect_at(dump + 1, 0, 0);
  }
  access_it(block);
  look();
  hearth_picks_show(&picks, now_ns, 4, &sums);
  expect_at(4, 2, 2); /* seen by the last look alone */
  now_ns += second;
  look();
  hearth_picks_show(&picks, now_ns, 5, &sums);
  expect_at(5, 2, 0);
  expect(0, 0);
}

/* Where the heap is large, few of a context's picks are of its memory; each stands for more. */
static void picks_count_by_the_size_of_the_heap(void **state) {
  (void)state;
  begin();
  hearth_header *used = make(CONTEXT, BIRTH), *late = make(CONTEXT, BIRTH);
  for (unsigned i = 0; i < 4; i++) {
    take_of(used, 9000);
    take_of(late, 3000);
  }
  now_ns = 80 * second;
  look();
  access_it(used);
  look();
  now_ns += second;
  look();
  hearth_header_set_state(used, HEARTH_BLOCK_FREE);
  hearth_header_set_state(late, HEARTH_BLOCK_FREE);
  look();
  expect(8, 2);
}

static hearth_mib mib_of(uint32_t context) {
  hearth_mib mib;
  hearth_picks_set(&sums.rows[context], 99, &mib);
  return mib;
}

static void expect_moments(uint32_t context, uint64_t used_bytes, uint64_t idle_bytes) {
  hearth_mib mib = mib_of(context);
  assert_int_equal(mib.UsedPageBytes, used_bytes);
  assert_int_equal(mib.IdlePageBytes, idle_bytes);
}

static double used_share(void) {
  hearth_mib mib = mib_of(CONTEXT);
  return (double)mib.UsedPageBytes / (double)(mib.UsedPageBytes + mib.IdlePageBytes);
}

static void expect_share(double from, double to) {
  double share = used_share();
  if (share < from || share > to)
    fail_msg("%.3f of the moments are followed by use, not %.3f to %.3f", share, from, to);
}

/* The bytes of a new pick. */
static uint64_t take_piece(const hearth_header *block) {
  take(block);
  return picks.waiting.rows[picks.waiting.count - 1].size;
}

/* Idle is an eighth of the run so far, up to 30 s. */
static void what_is_not_soon_used_again_is_idle(void **state) {
  const uint64_t starts[] = {80 * second, 80000 * second}, idle[] = {11 * second, 30 * second};
  (void)state;
  for (int i = 0; i < 2; i++) {
    begin();
    hearth_header *rests = make(CONTEXT, BIRTH), *ends = make(CONTEXT, BIRTH), *used = make(CONTEXT + 1, BIRTH);
    now_ns = starts[i];
    uint64_t idle_bytes = take_piece(rests);
    take(used);
    take(ends);
    now_ns += idle[i] - second;
    look();
    expect_moments(CONTEXT, 0, 0);
    access_it(used);
    hearth_header_set_state(ends, HEARTH_BLOCK_FREE); /* too early to tell something */
    look();
    expect_moments(CONTEXT + 1, PAGE, 0);
    now_ns += 2 * second;
    look();
    expect_moments(CONTEXT, 0, idle_bytes);
    access_it(rests); /* it has been idle, which counts once */
    look();
    expect_moments(CONTEXT, 0, idle_bytes);
    assert_int_equal(picks.waiting.count, 0);
  }
}

/* As many blocks of a context as fill some pages. None lies in two. */
enum { PIECES = 512, PIECE = 120 };
static hearth_header *pieces[PIECES];

static void make_pieces(void) {
  for (unsigned i = 0; i < PIECES;) {
    pieces[i] = make_of(PIECE, CONTEXT, BIRTH);
    i += (uintptr_t)(pieces[i] + 1) % PAGE <= PAGE - PIECE;
  }
}

static uint64_t take_pieces(void) {
  for (unsigned i = 0; i < PIECES; i++)
    take(pieces[i]);
  return PIECES * PIECE;
}

/* A walk uses the bytes that waited, in however many looks it is seen. */
static void a_walk_uses_what_waits(void **state) {
  (void)state;
  for (unsigned looks = 1; looks <= 12; looks++) {
    begin();
    now_ns = 80 * second;
    uint64_t bytes = take_pieces();
    look();
    for (unsigned i = 0, part = 1; part <= looks; part++) {
      for (; i < part * PIECES / looks; i++)
        access_it(pieces[i]);
      look();
    }
    expect_moments(CONTEXT, bytes, 0);
    assert_int_equal(picks.waiting.count, 0);
  }
}

/* An access is seen by the next look, before which the time may have ended. */
static void an_access_that_is_seen_late_may_have_been_in_time(void **state) {
  (void)state;
  begin();
  now_ns = 80 * second;
  uint64_t bytes = take_pieces();
  now_ns = 90 * second;
  look();
  for (unsigned i = 0; i < PIECES; i++)
    access_it(pieces[i]);
  now_ns = 93 * second; /* 10 to 13 s after they were picked, 11.6 are an eighth of the run */
  look();
  expect_share(0.45, 0.63);
  hearth_mib mib = mib_of(CONTEXT);
  assert_int_equal(mib.UsedPageBytes + mib.IdlePageBytes, bytes);
}

/* Pieces that have long been idle show that it is a walk in which a single later one was accessed. */
static void a_walk_uses_one_that_waits(void **state) {
  (void)state;
  begin();
  now_ns = 80 * second;
  uint64_t bytes = take_pieces();
  now_ns += 20 * second;
  look();
  expect_moments(CONTEXT, 0, bytes);
  uint64_t used_bytes = take_piece(pieces[0]);
  for (unsigned i = 0; i < PIECES; i++)
    access_it(pieces[i]);
  look();
  expect_moments(CONTEXT, used_bytes, bytes);
}

/* The page of an accessed piece is made up by others, which tell nothing more; by which is left to chance. */
static void an_access_uses_a_page(void **state) {
  bool claimed[PIECES] = {false};
  (void)state;
  for (unsigned round = 0; round < 200; round++) {
    begin();
    hearth_sampler_begin(&lots, 1, round);
    now_ns = 80 * second;
    uint64_t bytes = take_pieces();
    access_it(pieces[round]);
    look();
    hearth_mib mib = mib_of(CONTEXT);
    assert_in_range(mib.UsedPageBytes, PAGE, PAGE + PIECE);
    assert_int_equal(mib.IdlePageBytes, 0);
    for (unsigned i = 0; i < picks.waiting.count; i++)
      for (unsigned k = 0; k < PIECES && picks.waiting.rows[i].told; k++)
        claimed[k] |= picks.waiting.rows[i].begin == (const char *)(pieces[k] + 1);
    now_ns += 20 * second;
    look();
    mib = mib_of(CONTEXT);
    assert_in_range(mib.UsedPageBytes, PAGE, PAGE + PIECE);
    assert_in_range(mib.UsedPageBytes + mib.IdlePageBytes, bytes, bytes + PIECE);
  }
  for (unsigned k = 0; k < PIECES; k++)
    assert_true(claimed[k]);
}

/* Where too few wait, those that come are part of the page. */
static void the_rest_of_a_page_comes_later(void **state) {
  (void)state;
  begin();
  now_ns = 80 * second;
  take(pieces[0]);
  access_it(pieces[0]);
  look();
  expect_moments(CONTEXT, PAGE, 0);
  uint64_t bytes = PIECE + take_pieces();
  now_ns += 20 * second;
  look();
  hearth_mib mib = mib_of(CONTEXT);
  assert_in_range(mib.UsedPageBytes, PAGE, PAGE + PIECE);
  assert_in_range(mib.UsedPageBytes + mib.IdlePageBytes, bytes, bytes + PIECE);
}

/* A program of which each second some picks are drawn and looked at; `step` accesses blocks. */
static void run_seconds(unsigned count, unsigned picks_taken, void (*step)(unsigned at, unsigned option),
                        unsigned option) {
  begin();
  now_ns = 10000 * second;
  for (unsigned at = 0; at < count; at++, now_ns += second) {
    step(at, option);
    look();
    for (unsigned i = 0; i < picks_taken; i++)
      take(pieces[hearth_sampler_below(&lots, PIECES)]);
  }
}

enum { WALKS_APART = 120 };

/* Over all blocks, in so many seconds. */
static void walk(unsigned at, unsigned lasts) {
  unsigned begins = at % WALKS_APART;
  for (unsigned i = begins * PIECES / lasts; begins < lasts && i < (begins + 1) * PIECES / lasts; i++)
    access_it(pieces[i]);
}

static void access_some(unsigned at, unsigned per_1000_s) {
  (void)at;
  for (unsigned i = 0; i < PIECES; i++)
    if (hearth_sampler_below(&lots, 1000) < per_1000_s)
      access_it(pieces[i]);
}

/* After 30 of 120 moments, there is a walk within 30 s; while it goes on, pages are partly used. */
static void walks_are_uses_of_so_many_moments(void **state) {
  const unsigned lasts[] = {1, 2, 3, 5};
  (void)state;
  for (unsigned i = 0; i < 4; i++) {
    run_seconds(40 * WALKS_APART, 20, walk, lasts[i]);
    expect_share(0.23, 0.25 + lasts[i] / (double)WALKS_APART + 0.02);
  }
}

/* 34 blocks make a page, which is not used within 30 s with the chance (1 - per_1000_s / 1000) ^ (30 * 34). */
static void scattered_uses_are_of_pages(void **state) {
  const double used[] = {0.64, 0.87, 0.95};
  (void)state;
  for (unsigned per_1000_s = 1; per_1000_s <= 3; per_1000_s++) {
    run_seconds(12000, 20, access_some, per_1000_s);
    expect_share(used[per_1000_s - 1] - 0.04, used[per_1000_s - 1] + 0.04);
  }
}

/* Where the heap is large, or the moment stands for a long time, each stands for more. */
static void moments_count_by_their_weight(void **state) {
  (void)state;
  begin();
  now_ns = 80 * second;
  for (unsigned i = 0; i < PIECES; i++)
    take_of(pieces[i], 3000);
  for (unsigned i = 0; i < PIECES; i++)
    access_it(pieces[i]);
  look();
  take_pieces();
  now_ns += 20 * second;
  look();
  expect_moments(CONTEXT, 2 * PIECES * PIECE * 3 / 4, 2 * PIECES * PIECE / 4);
}

static void use_early(unsigned at, unsigned until) {
  for (unsigned i = 0; at < until && i < PIECES; i++)
    access_it(pieces[i]);
}

/* Though most of the picks that come after the use are left out. */
static void all_moments_of_a_run_count_alike(void **state) {
  (void)state;
  run_seconds(4000, 100, use_early, 1000);
  assert_true(picks.waiting.halvings > 4);
  expect_share(0.23, 0.29);
}

/* Though a pick that is taken out gets another one in its place. */
static void a_look_misses_none(void **state) {
  enum { PICKS = 20 };
  (void)state;
  begin();
  hearth_header *ends = make(CONTEXT, BIRTH), *stays = make(CONTEXT, BIRTH);
  for (unsigned i = 0; i < PICKS; i++)
    take(i % 3 ? stays : ends);
  now_ns = 80 * second;
  look();
  look();
  hearth_header_set_state(ends, HEARTH_BLOCK_FREE);
  look();
  expect(7, 7);
  assert_int_equal(picks.waiting.count, PICKS - 7);
  assert_int_equal(picks.followed.count, PICKS - 7);
}

/* However many there are, the sums keep their expectation: 40,000 picks of blocks that nothing accesses, of a tenth of which each
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
  assert_in_range(picks.waiting.count, HEARTH_PICKS_MOST / 3, HEARTH_PICKS_MOST);
  assert_in_range(picks.followed.count, HEARTH_PICKS_MOST / 3, HEARTH_PICKS_MOST);
  now_ns = 80 * second;
  look();
  look();
  hearth_picks_show(&picks, now_ns, 1, &sums);
  assert_in_range(sums.rows[CONTEXT].live.picks, PICKS / BLOCKS / 2, PICKS / BLOCKS * 2);
  uint64_t all = 0;
  for (uint32_t i = 0; i < BLOCKS; i++)
    all += sums.rows[CONTEXT + i].live.picks;
  assert_in_range(all, PICKS * 8 / 10, PICKS * 12 / 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(headers_and_what_is_behind_a_block_are_no_picks),
      cmocka_unit_test(a_pick_is_of_one_page),
      cmocka_unit_test(what_is_not_accessed_in_the_last_half_is_late),
      cmocka_unit_test(a_pick_of_the_last_half_tells_nothing),
      cmocka_unit_test(what_ends_before_the_second_look_tells_nothing),
      cmocka_unit_test(a_block_that_is_used_again_has_ended),
      cmocka_unit_test(a_dump_shows_those_of_live_blocks),
      cmocka_unit_test(what_the_last_look_saw_is_of_the_end),
      cmocka_unit_test(picks_count_by_the_size_of_the_heap),
      cmocka_unit_test(what_is_not_soon_used_again_is_idle),
      cmocka_unit_test(a_walk_uses_what_waits),
      cmocka_unit_test(an_access_that_is_seen_late_may_have_been_in_time),
      cmocka_unit_test(a_walk_uses_one_that_waits),
      cmocka_unit_test(an_access_uses_a_page),
      cmocka_unit_test(the_rest_of_a_page_comes_later),
      cmocka_unit_test(walks_are_uses_of_so_many_moments),
      cmocka_unit_test(scattered_uses_are_of_pages),
      cmocka_unit_test(moments_count_by_their_weight),
      cmocka_unit_test(all_moments_of_a_run_count_alike),
      cmocka_unit_test(a_look_misses_none),
      cmocka_unit_test(too_many_picks_are_halved),
  };
  hearth_ensure_heap();
  if (!hearth_shadow_reserve() || !hearth_pick_rows_create(&sums, 100))
    return 1;
  make_pieces();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
