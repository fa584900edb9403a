/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process does not end before its last thread: this one asks often enough whether it is to end. */
#include "own_thread.h"

#include "clock.h"
#include "counter_laps.h"
#include "os.h"
#include "running_profile.h"

#define LONGEST_SLEEP UINT64_C(20000000) /* an end of the program is noticed after that, in ns */
#define BEAT          UINT64_C(4000000)  /* an epoch of the clock is no longer, in ns */
#define THREAD_MEMORY ((size_t)256 << 10)

static bool beats;         /* the clock is to have epochs */
static uint32_t process;   /* that the thread is of */
static void (*work)(void); /* of the thread */

static bool goes_on(void) { return hearth_rt.recording && !hearth_rt.ended && hearth_os_is_main_alive(); }

static void sleep_and_beat(uint64_t ns) {
  bool is_busy = beats && hearth_clock_beat();

  for (; is_busy && ns > BEAT; ns -= BEAT) {
    hearth_os_sleep(BEAT);
    is_busy = hearth_clock_beat();
  }
  hearth_os_sleep(ns);
  if (is_busy)
    hearth_clock_beat();
  hearth_os_take_noted_rights();
}

bool hearth_own_thread_wait(uint64_t ns) {
  hearth_counter_laps_step();
  for (; ns > LONGEST_SLEEP && goes_on(); ns -= LONGEST_SLEEP)
    sleep_and_beat(LONGEST_SLEEP);
  sleep_and_beat(ns < LONGEST_SLEEP ? ns : LONGEST_SLEEP);
  if (goes_on())
    return true;
  if (beats)
    hearth_clock_end_beats();
  return false;
}

bool hearth_own_thread_runs(void (*run)(void)) { return process == hearth_rt.pid && (!run || run == work); }

bool hearth_own_thread_begin(void (*run)(void), bool with_beats) {
  void *memory = hearth_os_map(THREAD_MEMORY);

  beats = with_beats && hearth_clock_prepare_beats();
  if (!memory || !hearth_os_begin_thread(run, memory, THREAD_MEMORY))
    return false;
  process = hearth_rt.pid;
  work = run;
  return true;
}
