/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `hearth record --pid` and the library that it loads into a program agree on: two functions of the library,
 * which a thread of the program is made to call.
 *
 *   int __hearth_attach(const char *settings)   begin a trace; settings as in HEARTH_OPTIONS, with NUL
 *   int __hearth_detach(void)                   end it
 *
 * Both return a hearth_attach_result. */
#ifndef HEARTH_ATTACH_H
#define HEARTH_ATTACH_H

#define HEARTH_ATTACH_SETTINGS 8192 /* bytes of settings at most */

enum hearth_attach_result {
  HEARTH_ATTACH_OK = 0,
  HEARTH_ATTACH_AGAIN = 1,     /* it is being recorded */
  HEARTH_ATTACH_NO_MALLOC = 2, /* the loader finds no malloc there */
  HEARTH_ATTACH_NO_TRACE = 3   /* the program cannot write the trace, which it told on its standard error */
};

/* How `hearth dump` asks a running program for its profile, or to stop and start sampling: a queued signal with a
 * value, which the runtime answers with the same signal and 0 (done) or 1 (not done). The signal sent otherwise asks
 * for the profile, too, without answer. */

#define HEARTH_DUMP_SIGNAL 61         /* real-time, which few programs use; runtime option dump_signal */
#define HEARTH_DUMP_ASK    0x48525448 /* "HTRH": for the profile */
#define HEARTH_DUMP_PAUSE  0x48525449 /* take no sample from now on */
#define HEARTH_DUMP_RESUME 0x4852544a /* take one again */

#endif
