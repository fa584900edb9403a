/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stacks that signal handlers run on. */
#ifndef HEARTH_RUNTIME_SIGNAL_STACK_H
#define HEARTH_RUNTIME_SIGNAL_STACK_H

/* Give this thread a signal stack, so that the profile survives the overflow of its own; the main thread has one from the
 * start. At the thread's end it is taken back. */
void hearth_signal_stack_begin(void);
void hearth_signal_stack_end(void);

#endif
