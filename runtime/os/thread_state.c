/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread's state, and whether it can be used yet. */
#include "lock.h"
#include "os.h"

_Thread_local hearth_thread_state hearth_this_thread;
bool hearth_threads_known;

/* The end of a critical section in which signals came: the thread raises them again, and their handlers run now. */

#define SIGNALS 64

void hearth_signals_resume(void) {
  uint64_t deferred = hearth_this_thread.deferred;

  hearth_this_thread.deferred &= ~deferred;
  for (int signal = 1; signal <= SIGNALS; ++signal)
    if (deferred >> (signal - 1) & 1)
      hearth_os_raise(signal);
}

/* A mapping for each thread, taken back when the thread ends. */

#define SIGNAL_STACK_SIZE ((size_t)65536)

void hearth_signal_stack_begin(void) {
  void *stack = hearth_os_map(SIGNAL_STACK_SIZE);

  if (stack && !hearth_os_signal_stack(stack, SIGNAL_STACK_SIZE)) {
    hearth_os_unmap(stack, SIGNAL_STACK_SIZE);
    stack = NULL;
  }
  hearth_this_thread.signal_stack = stack;
}

void hearth_signal_stack_end(void) {
  void *stack = hearth_this_thread.signal_stack;

  hearth_this_thread.signal_stack = NULL;
  if (stack && hearth_os_forget_signal_stack(stack))
    hearth_os_unmap(stack, SIGNAL_STACK_SIZE);
}
