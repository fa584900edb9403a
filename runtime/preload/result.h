/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The message of `hearth record` when the program ends: where the result is, and which command shows it. */
#ifndef HEARTH_RUNTIME_RESULT_H
#define HEARTH_RUNTIME_RESULT_H

/* The last profile, trace or heap dump was written. It says nothing in processes other than options.tell_pid, the
 * process that `hearth record` began. */
void hearth_result_tell(void);

#endif
