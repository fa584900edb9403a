/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers that decide what is stored: their bits, which are the same on all processors, and how near they are to the C
 * library's. On processors that multiply and add at once, a compiler that did so would change some of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "numbers.h"

#include <stdbool.h>
#include <string.h>

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* A sum over all bits of many values. */
static uint64_t sum_of(double (*function)(double), double from, double to) {
  uint64_t sum = 0;
  for (int i = 0; i < 1000; i++)
    sum = sum * UINT64_C(0x9e3779b97f4a7c15) + bits_of(function(from + (to - from) * i / 1000));
  return sum;
}

static double ln(double x) { return hearth_ln(x); }
static double exponential_2(double x) { return hearth_exp2(x); }

static void test_bits(void **state) {
  (void)state;
  assert_int_equal(sum_of(ln, 0.001, 1000), UINT64_C(0x926d634c256c3ab1));
  assert_int_equal(sum_of(exponential_2, -100, 100), UINT64_C(0x103c319f927dc8dc));
}

static bool is_near(double x, double y, double error) { return fabs(x - y) <= error * fabs(y); }

static void test_values(void **state) {
  (void)state;
  for (double x = -60.37; x < 60; x += 0.731)
    assert_true(is_near(hearth_exp2(x), exp2(x), 1e-15));
  for (double x = 0.0137; x < 1; x += 0.0171)
    assert_true(is_near(hearth_ln(x), log(x), 1e-12));
  for (int i = -1000; i < 1000; i += 7)
    assert_true(hearth_exp2(i) == ldexp(1, i));
  assert_true(isinf(hearth_exp2(1e300)) && hearth_exp2(-1e300) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits), cmocka_unit_test(test_values)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
