/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Remembered call stacks: found again as long as every word is as it was, whichever it is that changes. Folded ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "known_stacks.h"

#include <string.h>

#define DEPTH 12

static hearth_stack_cache cache;

static hearth_frame leaf;
static uintptr_t stack[DEPTH];
static hearth_stack_word words[DEPTH];

/* The trail of a stack that all of `stack` led through. */
static hearth_trail trail_of_words(void) {
  for (size_t i = 0; i < DEPTH; ++i) {
    stack[i] = 0x1000 + i;
    words[i] = (hearth_stack_word){&stack[i], stack[i]};
  }
  return (hearth_trail){.lasts = true, .word_count = DEPTH, .words = words};
}

static void test_found_until_a_word_changes(void **state) {
  (void)state;
  hearth_trail trail = trail_of_words();
  uint32_t context = 0;

  assert_false(hearth_stack_cache_find(&cache, &leaf, &context));
  hearth_stack_cache_add(&cache, &leaf, &trail, 7);
  assert_true(hearth_stack_cache_find(&cache, &leaf, &context));
  assert_int_equal(context, 7);
  for (size_t i = 0; i < DEPTH; ++i) {
    stack[i] ^= 0x100;
    assert_false(hearth_stack_cache_find(&cache, &leaf, &context));
    stack[i] ^= 0x100;
  }
  assert_true(hearth_stack_cache_find(&cache, &leaf, &context));
  trail.lasts = false;
  hearth_stack_cache_add(&cache, &leaf, &trail, 9);
  assert_true(hearth_stack_cache_find(&cache, &leaf, &context));
  assert_int_equal(context, 7);
}

static void test_linked_or_too_long_is_not_remembered(void **state) {
  (void)state;
  hearth_trail trail = trail_of_words();
  uint32_t context;

  memset(&cache, 0, sizeof cache);
  trail.frame_count = DEPTH;
  hearth_stack_cache_add(&cache, &leaf, &trail, 7);
  assert_false(hearth_stack_cache_find(&cache, &leaf, &context));
  trail = (hearth_trail){.lasts = true, .word_count = HEARTH_STACK_CACHE_WORDS + 1};
  hearth_stack_cache_add(&cache, &leaf, &trail, 7);
  assert_false(hearth_stack_cache_find(&cache, &leaf, &context));
}

/* Make it another stack with the same innermost frame. */
static void change_stack(uintptr_t value) { stack[DEPTH - 1] = words[DEPTH - 1].value = value; }

/* Two stacks of one slot: the one that is not found again gives way, but not at once. */
static void test_stack_not_found_again_gives_way(void **state) {
  (void)state;
  hearth_trail trail = trail_of_words();
  uint32_t context;

  memset(&cache, 0, sizeof cache);
  hearth_stack_cache_add(&cache, &leaf, &trail, 7);
  change_stack(0x5000);
  for (int i = 0; i < HEARTH_STACK_CACHE_STAY; ++i) {
    assert_false(hearth_stack_cache_find(&cache, &leaf, &context));
    hearth_stack_cache_add(&cache, &leaf, &trail, 8);
  }
  assert_true(hearth_stack_cache_find(&cache, &leaf, &context));
  assert_int_equal(context, 8);
  change_stack(0x6000);
  hearth_stack_cache_add(&cache, &leaf, &trail, 9); /* the one before was found since: what came last counts */
  assert_true(hearth_stack_cache_find(&cache, &leaf, &context));
  assert_int_equal(context, 9);
}

static bool was_left_out(uint64_t address) {
  for (const uint64_t *pc = NULL; (pc = hearth_folded_pcs_next(pc));)
    if (*pc == address)
      return true;
  return false;
}

/* Of a cycle, not what is the same call again. */
static void test_what_folding_leaves_out_is_noted(void **state) {
  (void)state;
  uint64_t pcs[] = {109, 104, 103, 102, 107, 106, 106, 102, 101};

  assert_int_equal(hearth_fold_recursion(pcs, sizeof pcs / sizeof *pcs), 5);
  for (uint64_t pc = 101; pc < 110; ++pc)
    assert_int_equal(was_left_out(pc), pc == 106 || pc == 107);
}

static void test_addresses_left_out_are_kept_once(void **state) {
  (void)state;
  size_t count = 0;

  for (int round = 0; round < 2; ++round)
    for (uint64_t pc = 1; pc <= 2 * HEARTH_FOLDED_PCS_MOST; ++pc)
      hearth_folded_pcs_add(pc << 4);
  for (const uint64_t *pc = NULL; (pc = hearth_folded_pcs_next(pc));)
    ++count;
  assert_int_equal(count, HEARTH_FOLDED_PCS_MOST);
  assert_true(was_left_out(16));
}

static void test_folding(void **state) {
  (void)state;
  static const struct {
    uint64_t stack[8];
    size_t depth;
    uint64_t folded[8];
    size_t folded_depth;
  } cases[] = {
      {{0}, 0, {0}, 0},
      {{1, 2, 3}, 3, {1, 2, 3}, 3},
      {{9, 2, 2, 2, 1}, 5, {9, 2, 1}, 3},       /* direct */
      {{9, 3, 2, 3, 2, 1}, 6, {9, 3, 2, 1}, 4}, /* mutual */
      {{9, 2, 4, 3, 2, 1}, 6, {9, 2, 1}, 3},    /* what lies between is left out */
      {{2, 3, 2, 4, 3, 1}, 6, {2, 3, 1}, 3},    /* cycles in each other, from the root on */
      {{1, 1, 1, 1}, 4, {1}, 1},
  };

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    uint64_t pcs[8];
    memcpy(pcs, cases[i].stack, sizeof pcs);
    assert_int_equal(hearth_fold_recursion(pcs, cases[i].depth), cases[i].folded_depth);
    assert_memory_equal(pcs, cases[i].folded, cases[i].folded_depth * sizeof *pcs);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_found_until_a_word_changes),
      cmocka_unit_test(test_linked_or_too_long_is_not_remembered),
      cmocka_unit_test(test_stack_not_found_again_gives_way),
      cmocka_unit_test(test_folding),
      cmocka_unit_test(test_what_folding_leaves_out_is_noted),
      cmocka_unit_test(test_addresses_left_out_are_kept_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
