/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The cost model: its own functions of numbers, and what heaps are predicted to have touched. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cost_model.h"
#include "numbers.h"

static void expect_near(double is, double wanted, double part) {
  if (fabs(is - wanted) > part * fabs(wanted))
    fail_msg("%g is not about %g", is, wanted);
}

static void numbers_are_those_of_the_c_library(void **state) {
  (void)state;
  for (double x = 1e-9; x < 1e3; x *= 1.7) {
    expect_near(hearth_covered(x), -expm1(-x), 1e-6);
    expect_near(hearth_ln(1 + x), log(1 + x), 1e-9);
    expect_near(hearth_exp(x < 30 ? x : 30), exp(x < 30 ? x : 30), 1e-2);
  }
  expect_near(hearth_ln(1e-6), log(1e-6), 1e-9);
  expect_near(hearth_exp(-3), exp(-3), 1e-5);
}

/* A million blocks of 32 bytes, of which so many are touched in each scene, one by one. */
static plan_subject scattered(double touched) {
  return (plan_subject){.scenes = UINT64_MAX,
                        .blocks = 1e6,
                        .peak_blocks = 1e6,
                        .size = 32,
                        .slots = 1e6,
                        .touched = touched,
                        .pages = touched};
}

static plan_prediction predict_one(const plan_subject *subject, enum plan_allocator allocator) {
  static plan_heap heap;
  plan_time time = {.accesses = 1e6, .windows = 1000};
  heap = (plan_heap){0};
  hearth_plan_heap_add(&heap, subject, allocator);
  return hearth_plan_predict_heap(&heap, &time);
}

static void few_blocks_touch_a_unit_each(void **state) {
  plan_subject s = scattered(100);
  plan_prediction pool = predict_one(&s, PLAN_POOLS), own = predict_one(&s, PLAN_GLIBC);
  (void)state;
  expect_near(pool.lines, 100, 0.02);
  expect_near(pool.pages, 100, 0.02);
  expect_near(pool.huge_pages, 15.3 * (1 - exp(-100 / 15.3)), 0.01);
  expect_near(pool.peak_bytes, 32e6, 1e-6);
  expect_near(own.peak_bytes, 48e6, 1e-6); /* with headers */
  expect_near(own.pages, 100, 0.02);
  expect_near(own.lines, 125, 0.02); /* of four blocks of 32 bytes at every 48, one lies on two lines */
}

/* A hundredth of the blocks, as neighbours: as many units as they take up. */
static void walks_touch_what_they_cover(void **state) {
  plan_subject s = scattered(10000);
  s.pages = 1;
  s.walk = 0.01;
  plan_prediction pool = predict_one(&s, PLAN_POOLS), own = predict_one(&s, PLAN_GLIBC);
  (void)state;
  expect_near(pool.lines, 5000, 0.05);
  expect_near(own.lines, 7500, 0.05);
  expect_near(pool.pages, 320000. / 4096 + 1, 0.05);
}

/* Blocks that are not used between those that are: the walk gets longer by them, in a heap with both. */
static void others_lie_between_in_a_shared_heap(void **state) {
  static plan_heap both, apart[2];
  plan_subject used = scattered(10000), other = {.scenes = UINT64_MAX, .blocks = 1e6, .peak_blocks = 1e6, .size = 32};
  plan_time time = {.accesses = 1e6, .windows = 1000};
  (void)state;
  used.pages = 1;
  used.walk = 0.01;
  other.slots = 1e6;
  for (uint32_t i = 0; i < PLAN_SCENES; i++)
    time.between[i] = 1 / 32e6; /* pages held as much of either */
  hearth_plan_heap_add(&apart[0], &used, PLAN_POOLS);
  hearth_plan_heap_add(&apart[1], &other, PLAN_POOLS);
  hearth_plan_heap_join(&both, &apart[0]);
  hearth_plan_heap_join(&both, &apart[1]);
  expect_near(hearth_plan_predict_heap(&apart[0], &time).pages, 79, 0.05);
  expect_near(hearth_plan_predict_heap(&both, &time).pages, 157, 0.05);
  expect_near(hearth_plan_predict_heap(&apart[0], &time).lines, 5000, 0.05);
  expect_near(hearth_plan_predict_heap(&both, &time).lines, 7500, 0.05); /* of the lines of two, any is used */
}

/* Half of what lies beside the touched lines is not touched, then: a line of two is not fetched ahead. Heaps that are alike lose
 * nothing. */
static void little_used_memory_dilutes_used_memory(void **state) {
  static plan_heap used, alike, little, none;
  plan_subject much = scattered(10000), hardly = scattered(1), never = scattered(0);
  (void)state;
  hearth_plan_heap_add(&used, &much, PLAN_POOLS);
  hearth_plan_heap_add(&alike, &much, PLAN_POOLS);
  hearth_plan_heap_add(&little, &hardly, PLAN_POOLS);
  double lost = hearth_plan_dilution(&used, &little);
  expect_near(lost, 10000.0 / 2 * 10, 0.01);
  expect_near(hearth_plan_dilution(&little, &used), lost, 1e-9);
  assert_true(hearth_plan_dilution(&used, &alike) == 0);
  assert_true(hearth_plan_dilution(&used, &none) == 0);
  little = none;
  hearth_plan_heap_add(&little, &never, PLAN_POOLS);
  expect_near(hearth_plan_dilution(&used, &little), 10000.0 / 2 * 10, 0.01);
  assert_true(hearth_plan_dilution(&little, &little) == 0);
}

/* Half of a page's blocks die: the page stays. Blocks of one lifetime leave whole pages. */
static void short_lives_leave_holes(void **state) {
  plan_subject s = scattered(0);
  (void)state;
  s.blocks = 5e5;
  expect_near(predict_one(&s, PLAN_POOLS).steady_bytes, 32e6, 0.01);
  s.size = 8192;
  expect_near(predict_one(&s, PLAN_POOLS).steady_bytes, 5e5 * 8192, 0.01);
}

/* Accesses of the heap take some cycles at least; a program that computes more takes what is left of its time, but time in which it
 * waited is none. */
static void work_is_what_is_left_of_the_time(void **state) {
  plan_time time = {.accesses = 1e6};
  (void)state;
  expect_near(hearth_plan_work(&time, 1e6), 2.5e6, 1e-9);
  time.plain_ns = 3e6;
  expect_near(hearth_plan_work(&time, 1e6), 7.1e6, 1e-9);
  expect_near(hearth_plan_work(&time, 8e6), 2.5e6, 1e-9);
  time.plain_ns = 1e9;
  expect_near(hearth_plan_work(&time, 1e6), 16e6, 1e-9);
}

static void what_fits_costs_faults_only(void **state) {
  static plan_heap none, heap;
  plan_time time = {.accesses = 1e6, .windows = 1e12};
  plan_heaps heaps = {.own = &heap, .cold = &none};
  plan_subject small = scattered(300), large = scattered(300000);
  (void)state;
  small.blocks = small.peak_blocks = small.slots = 1000;
  hearth_plan_heap_add(&heap, &small, PLAN_GLIBC);
  assert_true(hearth_plan_predict(&heaps, &time).cycles < 1);
  hearth_plan_heap_add(&heap, &large, PLAN_GLIBC);
  assert_true(hearth_plan_predict(&heaps, &time).cycles > 1e5);
}

/* What is used fits the second cache, though the heap does not, and though windows touch a sixth of it only; in the heap
 * with headers and unused blocks between, it does not fit. */
static void what_is_used_fits_once_it_lies_together(void **state) {
  static plan_heap none, mixed, used, unused;
  plan_time time = {.accesses = 6e4, .windows = 1e12};
  plan_heaps together = {.own = &mixed, .cold = &none},
             apart = {.own = &none, .cold = &unused, .pools = &used, .pool_count = 1};
  plan_subject hot = scattered(6500), cold = scattered(0);
  (void)state;
  hot.blocks = hot.peak_blocks = hot.slots = 39000;
  hot.size = 48;
  cold.scenes = 0;
  cold.blocks = cold.peak_blocks = cold.slots = 100000;
  hearth_plan_heap_add(&mixed, &hot, PLAN_GLIBC);
  hearth_plan_heap_add(&mixed, &cold, PLAN_GLIBC);
  hearth_plan_heap_add(&used, &hot, PLAN_POOLS);
  hearth_plan_heap_add(&unused, &cold, PLAN_POOLS);
  double misses = hearth_plan_predict(&together, &time).cycles, few = hearth_plan_predict(&apart, &time).cycles;
  assert_true(misses > 30 * 3000); /* cachegrind counts some 5,000 in such a program (examples/quickstart) */
  assert_true(few < misses / 10);
}

/* 500 blocks that a program looks through again and again fit the first cache, nearly, if no others lie between
 * (Ptrdist's ft takes 0.6 of the time with its vertices apart). Others, which are used as much, fit no cache wherever they are. */
static void what_is_used_much_fits_the_first_cache_once_it_lies_apart(void **state) {
  static plan_heap none, one, pools[2], alike;
  plan_time time = {.accesses = 4e6, .windows = 1e12};
  plan_heaps together = {.own = &none, .cold = &none, .pools = &one, .pool_count = 1},
             apart = {.own = &none, .cold = &none, .pools = pools, .pool_count = 2};
  plan_subject hot = scattered(500), rest = scattered(20000);
  (void)state;
  hot.blocks = hot.peak_blocks = hot.slots = 500;
  hot.size = 48;
  hot.pages = 6;
  hot.uses = 1e6;
  rest.blocks = rest.peak_blocks = rest.slots = 20000;
  rest.pages = 4000;
  rest.uses = 1e5;
  hearth_plan_heap_add(&one, &hot, PLAN_POOLS);
  hearth_plan_heap_add(&one, &rest, PLAN_POOLS);
  hearth_plan_heap_add(&pools[0], &hot, PLAN_POOLS);
  hearth_plan_heap_add(&pools[1], &rest, PLAN_POOLS);
  double mixed = hearth_plan_predict(&together, &time).cycles, parted = hearth_plan_predict(&apart, &time).cycles;
  assert_true(parted < 0.8 * mixed);
  hot.uses = hot.slots * rest.uses / rest.slots;
  hearth_plan_heap_add(&alike, &hot, PLAN_POOLS);
  hearth_plan_heap_add(&alike, &rest, PLAN_POOLS);
  pools[0] = (plan_heap){0};
  hearth_plan_heap_add(&pools[0], &hot, PLAN_POOLS);
  together.pools = &alike;
  mixed = hearth_plan_predict(&together, &time).cycles;
  parted = hearth_plan_predict(&apart, &time).cycles;
  expect_near(parted, mixed, 0.03);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_those_of_the_c_library),
      cmocka_unit_test(few_blocks_touch_a_unit_each),
      cmocka_unit_test(walks_touch_what_they_cover),
      cmocka_unit_test(others_lie_between_in_a_shared_heap),
      cmocka_unit_test(little_used_memory_dilutes_used_memory),
      cmocka_unit_test(short_lives_leave_holes),
      cmocka_unit_test(work_is_what_is_left_of_the_time),
      cmocka_unit_test(what_fits_costs_faults_only),
      cmocka_unit_test(what_is_used_fits_once_it_lies_together),
      cmocka_unit_test(what_is_used_much_fits_the_first_cache_once_it_lies_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
