/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Searches among runs whose time is noise: how often is a layout chosen that gains nothing, how often is one found that does? */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tune_search.h"

enum { SEARCHES = 2000, RUNS = 29 };

typedef struct program {
  uint64_t random;
  double noise, gain, memory_gain; /* of a run's logarithm: standard deviation; what id 1 in a pool of its own saves */
  double disturbed;                /* share of runs that take half as long again */
  uint32_t runs;
} program;

static double uniform(program *p) {
  p->random = p->random * 6364136223846793005u + 1442695040888963407u;
  return ((double)(p->random >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(program *p) {
  double radius = sqrt(-2 * log(uniform(p)));
  return radius * cos(6.283185307179586 * uniform(p));
}

static bool run(void *state, const uint8_t *pools, tune_measurement *ret) {
  program *p = state;
  p->runs++;
  double disturbance = p->disturbed > 0 && uniform(p) < p->disturbed ? 0.4 : 0;
  *ret = (tune_measurement){.cpu_s = exp(p->noise * normal(p) + disturbance - (pools[0] ? p->gain : 0)),
                            .peak_bytes = (uint64_t)(1e9 * exp(-(pools[0] ? p->memory_gain : 0)))};
  return true;
}

/* Three ideas, of which the first has id 1 apart, and no other: how many searches of a thousand choose it, and another? */
static void search(program p, uint32_t *ret_first, uint32_t *ret_other) {
  uint32_t first = 0, other = 0;
  for (uint32_t i = 0; i < SEARCHES; i++) {
    tune_layout ideas[TUNE_IDEAS] = {{.pools = {1}}, {.pools = {0, 1}}, {.pools = {0, 1, 2}}}, found;
    tune_search s = {.measure = run, .state = &p, .runs_left = RUNS};
    p.runs = 0;
    if (hearth_tune_find(&s, ideas, TUNE_IDEAS, &found))
      *(found.pools[0] ? &first : &other) += 1;
    assert_true(p.runs <= RUNS);
  }
  *ret_first = first * 1000 / SEARCHES;
  *ret_other = other * 1000 / SEARCHES;
}

static void test_noise_is_seldom_chosen(void **state) {
  (void)state;
  uint32_t first, other;
  for (double noise = 0.001; noise < 0.2; noise *= 10) {
    search((program){.random = 1, .noise = noise}, &first, &other);
    assert_in_range(first + other, 1, 60);
  }
}

static void test_a_gain_above_the_noise_is_found(void **state) {
  (void)state;
  uint32_t first, other;
  search((program){.random = 2, .noise = 0.02, .gain = 0.05}, &first, &other);
  assert_in_range(first, 750, 1000);
  assert_in_range(other, 0, 40);
  search((program){.random = 3, .noise = 0.02, .gain = 0.10}, &first, &other);
  assert_in_range(first, 980, 1000);
}

static void test_a_run_that_was_disturbed_hides_no_gain(void **state) {
  (void)state;
  uint32_t first, other;
  search((program){.random = 9, .noise = 0.02, .gain = 0.10, .disturbed = 0.1}, &first, &other);
  assert_in_range(first, 700, 1000);
  assert_in_range(other, 0, 40);
  search((program){.random = 10, .noise = 0.02, .disturbed = 0.1}, &first, &other);
  assert_in_range(first + other, 0, 60);
}

static void test_halves_find_the_id_that_gains(void **state) {
  (void)state;
  uint32_t alone = 0;
  program p = {.random = 8, .noise = 0.01, .gain = 0.1};
  for (uint32_t i = 0; i < SEARCHES; i++) {
    tune_layout all = {.pools = {1, 2, 3, 4}}, found;
    tune_search s = {.measure = run, .state = &p, .runs_left = 100};
    if (hearth_tune_find(&s, &all, 1, &found))
      alone += memcmp(found.pools, (uint8_t[HEARTH_POOLS_MAX + 1]){1}, sizeof found.pools) == 0;
  }
  assert_in_range(alone * 1000 / SEARCHES, 970, 1000);
}

static void test_few_runs_are_for_few_layouts(void **state) {
  (void)state;
  tune_layout ideas[TUNE_IDEAS] = {{.pools = {1}}, {.pools = {0, 1}}, {.pools = {0, 1, 2}}}, found;
  program p = {.random = 7, .noise = 0.001, .gain = 0.1};
  tune_search s = {.measure = run, .state = &p, .runs_left = TUNE_RUNS_LEAST - 1};
  assert_true(hearth_tune_find(&s, ideas, TUNE_IDEAS, &found));
  assert_int_equal(p.runs, 2 * TUNE_ROUNDS_LEAST);
  assert_int_equal(found.rounds, TUNE_ROUNDS_LEAST);
}

static void test_memory_counts_where_time_is_sure_to_lose_less(void **state) {
  (void)state;
  uint32_t first, other;
  search((program){.random = 4, .noise = 0.01, .memory_gain = 0.10}, &first, &other);
  assert_in_range(first, 900, 1000);
  search((program){.random = 5, .noise = 0.01, .gain = -0.10, .memory_gain = 0.20}, &first, &other);
  assert_in_range(first, 0, 10); /* time is lost */
  search((program){.random = 6, .noise = 0.2, .memory_gain = 0.01}, &first, &other);
  assert_in_range(first, 0, 60); /* time may be lost */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_noise_is_seldom_chosen),
                                     cmocka_unit_test(test_a_gain_above_the_noise_is_found),
                                     cmocka_unit_test(test_a_run_that_was_disturbed_hides_no_gain),
                                     cmocka_unit_test(test_halves_find_the_id_that_gains),
                                     cmocka_unit_test(test_few_runs_are_for_few_layouts),
                                     cmocka_unit_test(test_memory_counts_where_time_is_sure_to_lose_less)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
