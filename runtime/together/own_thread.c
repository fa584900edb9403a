/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process does not end before its last thread: this one asks often enough whether it is to end. */
#include "own_thread.h"

#include "os.h"
#include "running_profile.h"

#define LONGEST_SLEEP UINT64_C(20000000) /* an end of the program is noticed after that, in ns */
#define THREAD_MEMORY ((size_t)256 << 10)

static bool goes_on(void) { return hearth_rt.recording && !hearth_rt.ended && hearth_os_is_main_alive(); }

bool hearth_own_thread_wait(uint64_t ns) {
  while (ns > LONGEST_SLEEP && goes_on()) {
    hearth_os_sleep(LONGEST_SLEEP);
    ns -= LONGEST_SLEEP;
  }
  hearth_os_sleep(ns < LONGEST_SLEEP ? ns : LONGEST_SLEEP);
  return goes_on();
}

bool hearth_own_thread_begin(void (*run)(void)) {
  void *memory = hearth_os_map(THREAD_MEMORY);

  return memory && hearth_os_begin_thread(run, memory, THREAD_MEMORY);
}
