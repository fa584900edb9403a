/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random calls, the same in each run, for tests of call stacks: the including test says what is done at their leaves. */
#ifndef HEARTH_TEST_RANDOM_CALLS_H
#define HEARTH_TEST_RANDOM_CALLS_H

#include <stdint.h>

static void capture(void);

static uint64_t random_state;

static unsigned draw(unsigned below) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (unsigned)(random_state >> 33) % below;
}

static int two(unsigned depth);

/* Calls from several places, so that frames stay where they are while return addresses change. */
__attribute__((noinline)) static int one(unsigned depth) {
  int sum = 1;

  for (unsigned i = 0; depth > 0 && i < 3; i++)
    switch (draw(8)) {
    case 0:
      sum += one(depth - 1);
      break;
    case 1:
      sum += two(depth - 1);
      break;
    case 2:
      sum += one(depth - 1) * 2;
      break;
    default:
      capture();
    }
  return sum;
}

__attribute__((noinline)) static int two(unsigned depth) {
  volatile char room[200];
  int sum = 0;

  room[depth] = (char)depth;
  for (unsigned i = 0; depth > 0 && i < 2; i++)
    if (draw(2) == 0)
      capture();
    else
      sum += one(depth - 1) + room[depth];
  return sum;
}

#endif
