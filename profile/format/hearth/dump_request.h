/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How `hearth dump` asks a running program for its profile, or to stop and start sampling: a queued signal with a value, which
 * the runtime answers with the same signal and 0 (done) or 1 (not done). The signal sent otherwise asks for the profile, too,
 * without answer. */
#ifndef HEARTH_DUMP_REQUEST_H
#define HEARTH_DUMP_REQUEST_H

#define HEARTH_DUMP_SIGNAL 61         /* real-time, which few programs use; runtime option dump_signal */
#define HEARTH_DUMP_ASK    0x48525448 /* "HTRH": for the profile */
#define HEARTH_DUMP_PAUSE  0x48525449 /* take no sample from now on */
#define HEARTH_DUMP_RESUME 0x4852544a /* take one again */

#endif
