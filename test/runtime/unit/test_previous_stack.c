/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The last stack: what it makes of call stacks that differ in some of their calls is what unwinding and folding all of each
 * makes; and walks with the rules of earlier ones are as those without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "known_stacks.h"
#include "mappings.h"
#include "previous_stack_calls.h"
#include "random_calls.h"
#include "unwind.h"

#include <string.h>

#define DEPTH_MOST 40

static hearth_previous_stack last;
static size_t stack_most = HEARTH_DEPTH_MOST, found, by_place, differing;

static void compare(const uint64_t *pcs, size_t depth, const uint64_t *expected, size_t expected_depth) {
  differing += depth != expected_depth || memcmp(pcs, expected, depth * sizeof *pcs) != 0;
}

/* What all of the stack was found by, if frame pointers do not link it. */
static void compare_words(const hearth_trail *trail, const hearth_trail *expected) {
  if (expected->word_count <= HEARTH_TRAIL_MOST)
    differing += trail->word_count != expected->word_count ||
                 memcmp(trail->words, expected->words, trail->word_count * sizeof *trail->words) != 0;
}

__attribute__((noinline)) static void capture(void) {
  const hearth_frame *frame = HEARTH_THIS_FRAME;
  uint64_t pcs[HEARTH_DEPTH_MOST], expected[HEARTH_DEPTH_MOST];
  hearth_trail trail, whole;

  size_t expected_depth = hearth_unwind(frame, NULL, expected, stack_most, &whole);
  hearth_known_stack known = hearth_previous_stack_keep(&last, frame);
  size_t depth = hearth_unwind(frame, &known, pcs, stack_most, &trail);
  by_place += trail.ends_at != NULL;
  if (!hearth_previous_stack_set(&last, pcs, depth, stack_most, &trail))
    return;
  ++found;
  compare_words(&trail, &whole);
  depth = hearth_previous_stack_copy(&last, false, stack_most, pcs);
  compare(pcs, depth, expected, expected_depth);
  depth = hearth_previous_stack_copy(&last, true, stack_most, pcs);
  compare(pcs, depth, expected, hearth_fold_recursion(expected, expected_depth));
}

static void run(unsigned times) {
  capture(); /* where stacks end is known from then on */
  random_state = 1;
  found = by_place = differing = 0;
  for (unsigned i = 0; i < times; ++i) {
    one(DEPTH_MOST);
    capture();
  }
}

/* A thread's, where stacks end with the thread: frame pointers do not lead through the test library. */
static void *work(void *nothing) {
  (void)nothing;
  run(100);
  return NULL;
}

static void test_linked_stacks_are_not_kept(void **state) {
  (void)state;
  pthread_t thread;

  stack_most = HEARTH_DEPTH_MOST;
  assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_int_equal(differing, 0);
  assert_int_equal(found, 0);
  assert_int_equal(last.count, 0);
}

/* Through code without frame pointers, some of it with rbp as the frame's base, some with other numbers there. */
static void test_by_place(void **state) {
  (void)state;
  static const size_t mosts[] = {HEARTH_DEPTH_MOST, 40, 12};

  if (!HEARTH_CFI_IS_USED)
    skip();
  assert_true(hearth_mappings_create());
  hearth_unwind_begin(false);
  run(100);
  assert_int_equal(differing, 0);
  for (size_t i = 0; i < sizeof mosts / sizeof mosts[0]; ++i) {
    stack_most = mosts[i];
    random_state = 1;
    found = by_place = differing = 0;
    for (unsigned round = 0; round < 3000; ++round)
      previous_stack_calls(DEPTH_MOST, draw, capture);
    assert_int_equal(differing, 0);
    assert_true(found >= 3000 && by_place > found / 2);
  }
  last.range.high += 4096; /* those are another stack's */
  hearth_known_stack known = hearth_previous_stack_keep(&last, HEARTH_THIS_FRAME);
  assert_ptr_equal(known.places, known.end);
  assert_int_equal(last.count + last.word_count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linked_stacks_are_not_kept),
      cmocka_unit_test(test_by_place), /* with the rules from there on */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
