/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The state of a thread, the end of its critical sections, and patience, for a thread that takes all locks. */
#include "thread_state.h"

_Thread_local hearth_thread_state hearth_this_thread;
bool hearth_lock_others_are_gone;

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
  void *stack = hearth_system_map(SIGNAL_STACK_SIZE);

  if (stack && !hearth_os_signal_stack(stack, SIGNAL_STACK_SIZE)) {
    hearth_system_unmap(stack, SIGNAL_STACK_SIZE);
    stack = NULL;
  }
  hearth_this_thread.signal_stack = stack;
}

void hearth_signal_stack_end(void) {
  void *stack = hearth_this_thread.signal_stack;

  hearth_this_thread.signal_stack = NULL;
  if (stack && hearth_os_forget_signal_stack(stack))
    hearth_system_unmap(stack, SIGNAL_STACK_SIZE);
}

/* Waiting with patience. */

#define PATIENCE_NS UINT64_C(1000000000)

bool hearth_patience_left(hearth_patience *patience) {
  uint64_t now_ns = hearth_os_now_ns();

  if (!patience->start_ns)
    patience->start_ns = now_ns;
  hearth_os_yield();
  return now_ns - patience->start_ns <= PATIENCE_NS;
}

bool hearth_lock_take_or_keep(hearth_lock *lock) {
  if (hearth_lock_is_mine(lock)) {
    lock->kept = true;
    return true;
  }
  hearth_patience patience = {0};
  while (!hearth_lock_try(lock))
    if (!hearth_patience_left(&patience)) {
      lock->kept = true;
      return false;
    }
  return true;
}

void hearth_lock_give_or_keep(hearth_lock *lock) {
  bool kept = lock->kept && (hearth_lock_is_mine(lock) || !hearth_lock_others_are_gone);

  lock->kept = false;
  if (!kept)
    hearth_lock_give(lock);
}
