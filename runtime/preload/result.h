/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `hearth record` says when the program ends: where the result is, and which command shows it. */
#ifndef HEARTH_RUNTIME_RESULT_H
#define HEARTH_RUNTIME_RESULT_H

/* The last profile, trace or heap dump was written. Says nothing in processes other than that of options.tell_pid, which
 * is the one that `hearth record` began. */
void hearth_result_tell(void);

#endif
