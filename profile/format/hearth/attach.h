/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `hearth record --pid` and the library that it loads into a program agree on: two functions of the library, which a
 * thread of the program is made to call.
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

#endif
