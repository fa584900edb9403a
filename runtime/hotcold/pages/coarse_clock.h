/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Milliseconds, to tell memory that was just freed from memory that nobody wants: some ten nanoseconds a reading, a few
 * milliseconds late. */
#ifndef HEARTH_COARSE_CLOCK_H
#define HEARTH_COARSE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t hearth_coarse_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#endif
