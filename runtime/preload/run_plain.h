/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where there is no room to record in, the program runs as it would without `hearth record`. */
#ifndef HEARTH_RUNTIME_RUN_PLAIN_H
#define HEARTH_RUNTIME_RUN_PLAIN_H

/* At the start: execute the program anew, in an environment without the runtime; a message says why. Returns if that is
 * not possible. */
void hearth_run_plain(char **environment);

#endif
