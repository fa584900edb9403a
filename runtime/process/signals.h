/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Signals: those that end the program write the profile first, one asks for it. */
#ifndef HEARTH_RUNTIME_SIGNALS_H
#define HEARTH_RUNTIME_SIGNALS_H

#include "os.h"

#define HEARTH_LIBRARY_SIGNAL_FIRST                                                                                    \
  32 /* signals of the C library's own; the real-time ones of programs are behind them */
#define HEARTH_LIBRARY_SIGNAL_LAST 33

/* Install handlers where the disposition is the default; by the main thread. */
void hearth_signals_begin(void);

/* The work of the program's sigaction. The runtime's handlers are invisible: they stand for the default action, which
 * they take after the profile is written. Either pointer may be NULL. Returns 0 or a negated error number. */
int hearth_signals_set(int signal, const hearth_os_action *action, hearth_os_action *ret_old);

#endif
