/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Distances and weights are computed by series, as there is no libm. */
#include "sample.h"

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): neighbouring numbers become unrelated ones. */
static uint64_t sample_mix(uint64_t number) {
  number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
  return number ^ number >> 31;
}

static uint32_t random_bits(hearth_sampler *sampler) {
  sampler->random += UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(sample_mix(sampler->random) >> 32);
}

void hearth_sampler_begin(hearth_sampler *sampler, uint64_t mean_bytes, uint64_t seed) {
  sampler->random = sample_mix(seed) | 1;
  sampler->bytes_left = hearth_sampler_draw(sampler, mean_bytes);
}

uint64_t hearth_sampler_below(hearth_sampler *sampler, uint64_t limit) { return random_bits(sampler) * limit >> 32; }

/* Von Neumann's method (1951), which needs no logarithm: of uniform numbers u1, u2 ..., the descending run that
 * begins with u1 = x has odd length with probability exp(-x). Then x is the fraction; else 1 is added and all begins
 * anew. */
uint64_t hearth_sampler_draw(hearth_sampler *sampler, uint64_t mean_bytes) {
  for (uint64_t whole = 0;; ++whole) {
    uint32_t first = random_bits(sampler), last = first;
    bool odd = true;
    for (uint32_t next; (next = random_bits(sampler)) <= last; last = next)
      odd = !odd;
    if (odd)
      return whole * mean_bytes + (first * mean_bytes >> 32) + 1;
  }
}

/* 1 - exp(-x), without loss for small x: its series at x / 2^n, then n times f(2x) = f(x) (2 - f(x)). */
static double chance(double x) {
  int doublings = 0;

  if (x > 64)
    return 1;
  for (; x > 1.0 / 1024; x /= 2)
    ++doublings;
  double f = x * (1 - x / 2 * (1 - x / 3));
  while (doublings-- > 0)
    f *= 2 - f;
  return f;
}

uint64_t hearth_sample_weight(uint64_t mean_bytes, uint64_t size, uint64_t lot) {
  double exact = 1 / chance((double)(size ? size : 1) / (double)mean_bytes);
  uint64_t whole = (uint64_t)exact;
  double rest = exact - (double)whole;

  return whole + ((double)(sample_mix(lot) >> 11) * 0x1p-53 < rest);
}
