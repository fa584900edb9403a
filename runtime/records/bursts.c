/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A burst is LENGTH stretches in a row: what it needs, its code among it, is then fetched once for all of them. The gap
 * between two is drawn uniformly from 1 to 2 * mean - 1 stretches, so that no loop of the program keeps step with them; its
 * mean makes bursts 1 / factor of all stretches. A thread comes to this at any moment: in a burst with the chance
 * 1 / factor, at any place in it, else in a gap. What is left of that is d stretches with probability proportional to
 * 2 * mean - d, as the difference of two unlike numbers below 2 * mean is. So each stretch has the same chance, from the
 * first on. */
#include "bursts.h"

#include "os.h"
#include "sample.h"

#define LENGTH 32

uint64_t hearth_burst_factor = 1;

_Thread_local int64_t __hearth_burst_left;

static _Thread_local hearth_sampler lots __attribute__((tls_model("initial-exec")));
static _Thread_local uint64_t burst_left __attribute__((tls_model("initial-exec"))); /* stretches of the burst */

void hearth_bursts_begin(uint32_t percent) { hearth_burst_factor = (100 + percent / 2) / percent; }

static uint64_t mean_gap(void) { return LENGTH * (hearth_burst_factor - 1); }

static uint64_t rest_of_gap(void) {
  uint64_t range = 2 * mean_gap();
  uint64_t a = hearth_sampler_below(&lots, range), b = hearth_sampler_below(&lots, range - 1);

  return b < a ? a - b : b + 1 - a;
}

/* Returns whether the thread's first stretch is in a burst. */
static bool begin(void) {
  hearth_sampler_begin(&lots, 1, hearth_os_now_ns() ^ hearth_os_thread_pointer());
  if (hearth_sampler_below(&lots, hearth_burst_factor) == 0) {
    burst_left = hearth_sampler_below(&lots, LENGTH) + 1;
    return true;
  }
  __hearth_burst_left = (int64_t)rest_of_gap() - 1;
  return false;
}

bool hearth_burst_turn(void) {
  __hearth_burst_left = 0; /* the next stretch takes a turn */
  if (hearth_burst_factor == 1)
    return true;
  if (__builtin_expect(lots.random == 0, false) && !begin())
    return false;
  if (burst_left == 0)
    burst_left = LENGTH;
  if (--burst_left == 0)
    __hearth_burst_left = (int64_t)hearth_sampler_below(&lots, 2 * mean_gap() - 1) + 1;
  return true;
}
