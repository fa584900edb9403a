/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A small deterministic random number generator (xorshift64*, Vigna 2016): the same seed gives the same run on every
 * machine, so that outputs of different builds can be compared. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

struct random {
  uint64_t state; /* never 0 */
};

static inline struct random random_seeded(uint64_t seed) {
  return (struct random){.state = seed * 0x9e3779b97f4a7c15u | 1};
}

static inline uint64_t random_next(struct random *random) {
  random->state ^= random->state >> 12;
  random->state ^= random->state << 25;
  random->state ^= random->state >> 27;
  return random->state * 0x2545f4914f6cdd1du;
}

/* A number in [0, limit); limit >= 1. */
static inline uint64_t random_below(struct random *random, uint64_t limit) {
  return (random_next(random) >> 16) % limit;
}

#endif
