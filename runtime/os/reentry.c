/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The end of a critical section in which signals came: the thread raises them again, and their handlers run now. */
#include "reentry.h"

#define SIGNALS 64

void hearth_signals_resume(void) {
  uint64_t deferred = hearth_this_thread.deferred;

  hearth_this_thread.deferred &= ~deferred;
  for (int signal = 1; signal <= SIGNALS; ++signal)
    if (deferred >> (signal - 1) & 1)
      hearth_os_raise(signal);
}
