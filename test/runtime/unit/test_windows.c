/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums over windows, by context and by pair; and what a thread sees of a page of the heap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap.h"
#include "looks.h"
#include "os.h"
#include "pair_sums.h"
#include "shadow.h"

static void see(hearth_touched_sums *sums, uint32_t context, uint32_t lines) {
  hearth_touched_row *row = hearth_touched_sums_see(sums, context);
  assert_non_null(row);
  row->lines += lines;
  row->pages += lines > 0;
  row->blocks += lines * HEARTH_SHARE;
  row->live += 2 * HEARTH_SHARE;
}

static void sums_are_scaled(void **state) {
  hearth_touched_sums sums;
  (void)state;
  assert_true(hearth_touched_sums_create(&sums, 100, 10));
  hearth_touched_sums_begin_window(&sums);
  see(&sums, 7, 3);
  see(&sums, 7, 1);
  see(&sums, 9, 0);
  assert_null(hearth_touched_sums_see(&sums, 100));
  assert_int_equal(sums.seen_count, 2);
  hearth_touched_sums_end_window(&sums, 1000, 8, 1);
  hearth_touched_sums_begin_window(&sums);
  see(&sums, 9, 1);
  hearth_touched_sums_end_window(&sums, 3, 3, 4);
  const uint64_t *seven = sums.rows[7].sums, *nine = sums.rows[9].sums, one = UINT64_C(1) << HEARTH_SUMS_FRACTION;
  assert_int_equal(seven[HEARTH_RAW_TOUCHED_WINDOWS], 1);
  assert_int_equal(seven[HEARTH_RAW_TOUCHED_LINES], 500 * one);
  assert_int_equal(seven[HEARTH_RAW_TOUCHED_PAGES], 250 * one);
  assert_int_equal(seven[HEARTH_RAW_TOUCHED_BLOCKS], 500 * one);
  assert_int_equal(seven[HEARTH_RAW_TOUCHED_LIVE], 500 * one);
  assert_int_equal(nine[HEARTH_RAW_TOUCHED_WINDOWS], 4);
  assert_int_equal(nine[HEARTH_RAW_TOUCHED_LINES], 4 * one);
  assert_int_equal(nine[HEARTH_RAW_TOUCHED_LIVE], 258 * one);
  hearth_touched_sums_forget(&sums);
  assert_int_equal(nine[HEARTH_RAW_TOUCHED_LIVE], 0);
}

static const hearth_pair_slot *pair_of(const hearth_pair_sums *sums, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < sums->size; ++i)
    if (sums->slots[i].a == a && sums->slots[i].b == b)
      return &sums->slots[i];
  return NULL;
}

/* Of 70 contexts, the six with the fewest lines make no pairs; those that were not touched neither. */
static void the_most_touched_make_pairs(void **state) {
  enum { CONTEXTS = 70 };
  hearth_touched_sums touched;
  hearth_pair_sums pairs;
  (void)state;
  assert_true(hearth_touched_sums_create(&touched, CONTEXTS + 10, CONTEXTS + 10));
  assert_true(hearth_pair_sums_create(&pairs));
  hearth_touched_sums_begin_window(&touched);
  for (uint32_t i = 0; i < CONTEXTS; ++i)
    see(&touched, 1 + i * 37 % CONTEXTS, 1 + i * 37 % CONTEXTS);
  see(&touched, CONTEXTS + 5, 0);
  hearth_pair_sums_add_window(&pairs, &touched, 2, 1, 1);
  assert_int_equal(pairs.count, HEARTH_PAIR_CONTEXTS * (HEARTH_PAIR_CONTEXTS - 1) / 2);
  assert_null(pair_of(&pairs, 6, 7));
  assert_non_null(pair_of(&pairs, 7, 8));
  assert_int_equal(pair_of(&pairs, 40, 70)->windows, 1);
  assert_int_equal(pair_of(&pairs, 40, 70)->lines, UINT64_C(80) << HEARTH_SUMS_FRACTION);
  hearth_pair_sums_add_window(&pairs, &touched, 1, 1, 2);
  assert_int_equal(pair_of(&pairs, 40, 70)->windows, 3);
  assert_int_equal(pair_of(&pairs, 40, 70)->lines, UINT64_C(160) << HEARTH_SUMS_FRACTION);
}

/* The table grows up to its limit; no pair is lost silently. */
static void pairs_without_room_are_counted(void **state) {
  enum { WINDOWS = 100 };
  hearth_touched_sums touched;
  hearth_pair_sums pairs;
  const uint64_t each = HEARTH_PAIR_CONTEXTS * (HEARTH_PAIR_CONTEXTS - 1) / 2;
  (void)state;
  assert_true(hearth_touched_sums_create(&touched, WINDOWS * HEARTH_PAIR_CONTEXTS, HEARTH_PAIR_CONTEXTS));
  assert_true(hearth_pair_sums_create(&pairs));
  for (uint32_t w = 0; w < WINDOWS; ++w) {
    hearth_pair_sums_reserve(&pairs);
    hearth_touched_sums_begin_window(&touched);
    for (uint32_t i = 0; i < HEARTH_PAIR_CONTEXTS; ++i)
      see(&touched, w * HEARTH_PAIR_CONTEXTS + i, 1);
    hearth_pair_sums_add_window(&pairs, &touched, 1, 1, 1);
  }
  assert_true(pairs.lost > 0);
  assert_int_equal(pairs.count + pairs.lost, WINDOWS * each);
  assert_int_equal(pairs.count, pairs.size / 4 * 3);
  hearth_pair_sums_forget(&pairs);
  assert_int_equal(pairs.count + pairs.lost, 0);
}

static hearth_header *make(size_t size, size_t alignment, uint32_t context) {
  bool zeroed;
  hearth_header *header = hearth_heap_take(size, alignment, 0, NULL, &zeroed);
  assert_non_null(header);
  hearth_header_publish(header, hearth_header_life(context, 0, 0));
  return header;
}

static const char *page_of(const void *address) {
  return (const char *)((uintptr_t)address & ~(uintptr_t)(HEARTH_OS_PAGE - 1));
}

static const hearth_seen_block *find(const hearth_seen_block *seen, uint32_t count, uint32_t context) {
  for (uint32_t i = 0; i < count; ++i)
    if (seen[i].context == context)
      return &seen[i];
  return NULL;
}

static const hearth_page_bits all = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};

static unsigned count_bits(const hearth_page_bits *bits) {
  unsigned count = 0;

  for (size_t i = 0; i < HEARTH_PAGE_WORDS; ++i)
    count += (unsigned)__builtin_popcountll(bits->words[i]);
  return count;
}

static hearth_page_bits all_but(const hearth_page_bits *bits) {
  hearth_page_bits others;

  for (size_t i = 0; i < HEARTH_PAGE_WORDS; ++i)
    others.words[i] = ~bits->words[i];
  return others;
}

static void blocks_of_a_page_are_seen(void **state) {
  hearth_seen_block seen[HEARTH_SEEN_MOST];
  (void)state;
  hearth_ensure_heap();
  hearth_header *small = make(100, 16, 1001), *aligned = make(100, 256, 1002), *large = make(100000, 16, 1003);
  size_t granule = (uintptr_t)(small + 1) % HEARTH_OS_PAGE / HEARTH_GRANULE;
  hearth_page_bits own = {{0}}, first = {{1}};
  own.words[granule / 64] = UINT64_C(1) << granule % 64;

  const char *page = page_of(small + 1);
  uint32_t count = hearth_heap_see(page, &all, seen);
  const hearth_seen_block *block = find(seen, count, 1001);
  assert_non_null(block);
  assert_true(block->is_live && block->granules.words[granule / 64] & own.words[granule / 64]);
  assert_in_range(count_bits(&block->granules), 1, 7);
  assert_in_range(block->pages, 1, 2);
  hearth_page_bits others = all_but(&block->granules);
  assert_non_null(find(seen, hearth_heap_see(page, &own, seen), 1001));
  assert_null(find(seen, hearth_heap_see(page, &others, seen), 1001));
  count = hearth_heap_see(page_of(hearth_header_memory(aligned)), &all, seen);
  assert_non_null(find(seen, count, 1002));

  const char *inside = page_of((char *)large + 50000);
  assert_int_equal(hearth_heap_see(inside, &first, seen), 1);
  assert_int_equal(seen[0].context, 1003);
  assert_int_equal(seen[0].pages, (100000 + 16 + HEARTH_OS_PAGE - 1) / HEARTH_OS_PAGE);
  assert_int_equal(count_bits(&seen[0].granules), 256);
  assert_int_equal(hearth_heap_see(page_of((char *)large + 110000), &all, seen), 0);

  hearth_header_set_state(small, HEARTH_BLOCK_FREE);
  block = find(seen, hearth_heap_see(page, &all, seen), 1001);
  assert_true(block && !block->is_live);
  hearth_header_set_state(small, HEARTH_BLOCK_LIVE);
  assert_int_equal(hearth_heap_see(page_of(&seen), &all, seen), 0); /* not of the heap */
}

/* As many of the least blocks as lie in a page, and one at each end. */
static void a_page_of_least_blocks_is_seen(void **state) {
  enum { BLOCKS = 512 };
  hearth_seen_block seen[HEARTH_SEEN_MOST];
  hearth_header *blocks[BLOCKS];
  (void)state;
  for (unsigned i = 0; i < BLOCKS; ++i)
    blocks[i] = make(24, 16, 2000);
  assert_in_range(hearth_heap_see(page_of(blocks[BLOCKS / 2]), &all, seen), 127, 129);
}

static void a_sample_is_of_the_heap(void **state) {
  static hearth_looks looks;
  hearth_sampler random = {0};
  (void)state;
  hearth_sampler_begin(&random, 1, 42);
  make(100, 32, 1004);
  make(5 << 20, 32, 1005);
  hearth_looks_choose(&looks, HEARTH_LOOKS_MOST, &random);
  assert_in_range(looks.count, 100, HEARTH_LOOKS_MOST);
  assert_true(looks.sampled == HEARTH_LOOKS_MOST && looks.pages > looks.sampled);
  for (uint32_t i = 1; i < looks.count; ++i)
    assert_true(looks.page[i] > looks.page[i - 1]);
  hearth_looks_choose(&looks, 16, &random);
  assert_true(looks.sampled == 16 && looks.count <= 16);
}

static bool is_seen(hearth_looks *looks, uint64_t granule, uint64_t expected) {
  return hearth_looks_second(looks) && looks->touched[0].words[granule / 64] == expected;
}

/* In a coarse heap, also of each byte of the counter that a line has there. */
static void a_change_of_any_counter_is_seen(void **state) {
  static hearth_looks looks;
  (void)state;
  assert_true(hearth_shadow_reserve());
  char *page = (char *)(uintptr_t)page_of((char *)make(100000, 16, 1006) + 50000);
  looks.count = 1;
  looks.page[0] = page;
  for (unsigned coarse = 0; coarse < 2; ++coarse) {
    hearth_shadow_is_coarse = coarse;
    for (uint64_t i = 0; i < HEARTH_OS_PAGE / HEARTH_GRANULE; ++i) {
      hearth_looks_first(&looks);
      assert_false(hearth_looks_second(&looks));
      hearth_shadow_count((uintptr_t)page + i * HEARTH_GRANULE, 1);
      assert_true(is_seen(&looks, i, coarse ? UINT64_C(15) << (i & 60) : UINT64_C(1) << i % 64));
    }
  }
  for (uint64_t i = 0; i < HEARTH_OS_PAGE / 8; ++i) {
    hearth_looks_first(&looks);
    ++*hearth_shadow_byte((uintptr_t)page + i * 8);
    assert_true(is_seen(&looks, i / 2, UINT64_C(15) << (i / 2 & 60)));
  }
  hearth_shadow_is_coarse = false;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_scaled),
      cmocka_unit_test(the_most_touched_make_pairs),
      cmocka_unit_test(pairs_without_room_are_counted),
      cmocka_unit_test(blocks_of_a_page_are_seen),
      cmocka_unit_test(a_page_of_least_blocks_is_seen),
      cmocka_unit_test(a_sample_is_of_the_heap),
      cmocka_unit_test(a_change_of_any_counter_is_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
