/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Division by reciprocals: exact for each divisor that has one, and where none is used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mib_table.h"

static void check(uint64_t dividend, uint64_t divisor) {
  assert_int_equal(hearth_divide(dividend, divisor), dividend / divisor);
}

/* What is nearest to a wrong quotient: multiples, and what comes before and after them. */
static void check_around(uint64_t multiple, uint64_t divisor) {
  check(multiple, divisor);
  check(multiple + 1, divisor);
  if (multiple > 0)
    check(multiple - 1, divisor);
}

static void test_quotients(void **state) {
  (void)state;
  for (uint64_t divisor = 1; divisor <= HEARTH_RECIPROCALS + 3; ++divisor) {
    uint64_t largest = UINT32_MAX / divisor;
    for (uint64_t i = 0; i <= 500; ++i) {
      check_around(i * divisor, divisor);
      check_around((largest / 2 + i) * divisor, divisor);
      if (i <= largest)
        check_around((largest - i) * divisor, divisor);
      check_around(((uint64_t)1 << 32) / divisor * divisor + i * divisor, divisor);
    }
    check(UINT32_MAX, divisor);
    check(UINT64_MAX, divisor);
  }
}

static void test_large_numbers(void **state) {
  (void)state;
  check(UINT64_MAX, UINT64_MAX);
  check(UINT64_MAX - 1, UINT64_MAX);
  check(UINT64_C(1) << 40, UINT64_C(3) << 33);
  check(5, UINT64_C(1) << 32);
}

int main(void) {
  hearth_divide_begin();
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_quotients), cmocka_unit_test(test_large_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
