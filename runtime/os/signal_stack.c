/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A mapping for each thread, taken back when the thread ends. */
#include "signal_stack.h"

#include "os.h"
#include "thread_state.h"

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
