/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stacks in the order of their addresses, outermost first, whatever order they come in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "depot.h"

#define MOST 20000

static uint64_t random_state = 88172645463325252;

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  return random_state ^= random_state << 17;
}

/* Is a stack behind the other, or equal? */
static int is_behind(const hearth_depot *depot, uint32_t one, uint32_t other) {
  uint32_t one_depth, other_depth;
  const uint64_t *ones = hearth_depot_stack(depot, one, &one_depth);
  const uint64_t *others = hearth_depot_stack(depot, other, &other_depth);

  for (uint32_t i = 0; i < one_depth && i < other_depth; ++i)
    if (ones[one_depth - 1 - i] != others[other_depth - 1 - i])
      return ones[one_depth - 1 - i] > others[other_depth - 1 - i];
  return one_depth >= other_depth;
}

static void check(uint64_t addresses, uint32_t stacks, uint32_t deepest) {
  static bool seen[MOST + 1];
  hearth_depot depot;
  uint64_t pcs[255];
  uint32_t count = 0;
  bool is_new;

  assert_true(hearth_depot_create(&depot, MOST, 64));
  for (uint32_t i = 0; i < stacks; ++i) {
    uint32_t depth = 1 + (uint32_t)(next_random() % deepest);
    for (uint32_t at = 0; at < depth; ++at)
      pcs[at] = 1 + next_random() % addresses;
    uint32_t context = hearth_depot_insert(&depot, pcs, depth, &is_new);
    if (is_new)
      *hearth_depot_list(&depot, count++) = context;
  }
  hearth_stack_order(&depot, count);
  for (uint32_t i = 0; i <= MOST; ++i)
    seen[i] = false;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t context = *hearth_depot_list(&depot, i);
    assert_false(seen[context]);
    seen[context] = true;
    assert_true(i == 0 || is_behind(&depot, context, *hearth_depot_list(&depot, i - 1)));
  }
}

static void test_orders(void **state) {
  (void)state;
  check(3, 20000, 12);
  check(2, 5000, 200);
  check(1, 255, 255); /* each one the caller of the next */
  check(UINT64_MAX - 1, 5000, 20);
  check(9, 2, 1);
  check(9, 1, 1);
  check(9, 0, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
