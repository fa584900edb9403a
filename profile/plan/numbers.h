/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Exponential and logarithm for the cost model. Those of the C library may differ in the last bit from machine to machine,
 * and so would plans. */
#ifndef HEARTH_PLAN_NUMBERS_H
#define HEARTH_PLAN_NUMBERS_H

#include <math.h>

/* 1 - exp(-x), x >= 0: a Taylor series near 0, then doublings of x. */
static inline double plan_covered(double x) {
  int doublings = 0;
  if (x > 40)
    return 1;
  for (; x > 0.125; x /= 2)
    doublings++;
  double c = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5))));
  for (; doublings > 0; doublings--)
    c = c * (2 - c);
  return c;
}

/* ln x, x > 0: of the mantissa by the series of atanh. */
static inline double plan_ln(double x) {
  int exponent;
  double m = frexp(x, &exponent); /* in [1/2, 1) */
  if (m < 0.70710678118654752) {
    m *= 2;
    exponent--;
  }
  double z = (m - 1) / (m + 1), z2 = z * z, sum = 0;
  for (int i = 13; i > 0; i -= 2)
    sum = sum * z2 + 1.0 / i;
  return 2 * z * sum + exponent * 0.69314718055994531;
}

/* exp x, for x up to 700. */
static inline double plan_exp(double x) { return x > 0 ? 1 / (1 - plan_covered(x)) : 1 - plan_covered(-x); }

#endif
