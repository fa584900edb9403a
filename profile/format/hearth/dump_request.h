/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How `hearth dump` asks a running program for its profile: a queued signal with a value, which the runtime answers with
 * the same signal and 0 (the profile is written) or 1 (it is not). The signal sent otherwise asks, too, without answer. */
#ifndef HEARTH_DUMP_REQUEST_H
#define HEARTH_DUMP_REQUEST_H

#define HEARTH_DUMP_SIGNAL 61         /* real-time, which few programs use; runtime option dump_signal */
#define HEARTH_DUMP_ASK    0x48525448 /* "HTRH" */

#endif
