/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sampling: distances are exponential, weights are right on average, estimates are as near as docs/options.md says. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "block.h"

enum { MEAN = 4096, SEEDS = 400 };

static void test_distances(void **state) {
  (void)state;
  enum { DRAWS = 1000000 };
  hearth_sampler sampler;
  double sum = 0, beyond[3] = {0};

  hearth_sampler_begin(&sampler, MEAN, 1);
  for (int i = 0; i < DRAWS; ++i) {
    uint64_t distance = hearth_sampler_draw(&sampler, MEAN);
    assert_true(distance >= 1);
    sum += (double)distance;
    for (int k = 0; k < 3; ++k)
      beyond[k] += distance > (uint64_t)(k + 1) * MEAN;
  }
  assert_true(fabs(sum / DRAWS / MEAN - 1) < 0.005); /* 5 standard deviations */
  for (int k = 0; k < 3; ++k)
    assert_true(fabs(beyond[k] / DRAWS - exp(-k - 1)) < 0.0025);
}

static void test_weights(void **state) {
  (void)state;
  const uint64_t sizes[] = {0, 1, 8, 100, 4096, 10000, 100000, UINT64_C(1) << 40};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    enum { LOTS = 100000 };
    double size = sizes[i] ? (double)sizes[i] : 1, exact = -1 / expm1(-size / MEAN), sum = 0;
    for (uint64_t lot = 0; lot < LOTS; ++lot) {
      uint64_t weight = hearth_sample_weight(MEAN, sizes[i], lot);
      assert_true(weight >= 1 && fabs((double)weight - exact) <= 1);
      sum += (double)weight;
    }
    assert_true(fabs(sum / LOTS - exact) < 0.01);
  }
}

typedef struct estimate {
  double blocks, bytes;
} estimate;

/* A context of blocks of 16 bytes to 3 KiB and, one in 500, of 40 KiB. */
static uint64_t size_of(int i) { return i % 500 == 0 ? 40000 : 16 + (uint64_t)i * 48 % 3056; }

static estimate run(uint64_t seed, int blocks) {
  hearth_sampler sampler;
  estimate found = {0, 0};

  hearth_sampler_begin(&sampler, MEAN, seed);
  for (int i = 0; i < blocks; ++i) {
    if (!hearth_sampler_take(&sampler, MEAN, size_of(i)))
      continue;
    double weight = (double)hearth_sample_weight(MEAN, size_of(i), seed * 1000003 + (uint64_t)i);
    found.blocks += weight;
    found.bytes += weight * (double)size_of(i);
  }
  return found;
}

/* The standard deviation of a context's bytes is at most sqrt(MEAN * bytes), and no seed biases them. */
static void test_estimates(void **state) {
  (void)state;
  const int sizes[] = {100, 2000, 20000};
  for (size_t n = 0; n < sizeof sizes / sizeof *sizes; ++n) {
    double bytes = 0, sum_blocks = 0, sum = 0, squares = 0;
    int near = 0;
    for (int i = 0; i < sizes[n]; ++i)
      bytes += (double)size_of(i);
    double stated = sqrt(MEAN * bytes);
    for (uint64_t seed = 0; seed < SEEDS; ++seed) {
      estimate found = run(seed, sizes[n]);
      double error = found.bytes - bytes;
      sum_blocks += found.blocks;
      sum += error;
      squares += error * error;
      near += fabs(error) <= 2 * stated;
    }
    assert_true(fabs(sum / SEEDS) < 4 * stated / sqrt(SEEDS));
    assert_true(sqrt(squares / SEEDS) < 1.1 * stated); /* measured with an error of 4 % */
    assert_true(sqrt(squares / SEEDS) > 0.6 * stated); /* the statement is not idle either */
    assert_true(near >= SEEDS * 95 / 100);
    assert_true(fabs(sum_blocks / SEEDS / sizes[n] - 1) < 0.1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distances),
      cmocka_unit_test(test_weights),
      cmocka_unit_test(test_estimates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
