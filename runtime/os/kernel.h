/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where Linux differs from processor to processor, for os_linux.c. */
#ifndef HEARTH_RUNTIME_KERNEL_H
#define HEARTH_RUNTIME_KERNEL_H

#include "os.h"

#define HEARTH_SA_RESTORER 0x04000000ul /* not in the C library's headers */

/* Of rt_sigaction. */
typedef struct hearth_kernel_action {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void); /* where handlers return to, if flags have HEARTH_SA_RESTORER */
  uint64_t mask;
} hearth_kernel_action;

/* Add a restorer, if the kernel has none of its own. */
void hearth_kernel_add_restorer(hearth_kernel_action *action);

/* Begin a thread: `run` on `stack`, with flags of clone. The thread ends with what it returns. Returns the thread's
 * number, or a negated error number. */
long hearth_kernel_begin_thread(unsigned long flags, void *stack, void *thread_pointer, int (*run)(void));

#endif
