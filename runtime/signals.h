/* Signals: those that end the program write the profile first, one asks for it. */
#ifndef HEARTH_RUNTIME_SIGNALS_H
#define HEARTH_RUNTIME_SIGNALS_H

#include "os.h"

#define HEARTH_LIBRARY_SIGNAL_FIRST 32 /* signals of the C library's own; the real-time ones of programs are behind them */
#define HEARTH_LIBRARY_SIGNAL_LAST  33

/* Install handlers where the disposition is the default; by the main thread. */
void hearth_signals_begin(void);

/* Give this thread a signal stack, so that the profile survives the overflow of its own; the main thread has one from the
 * start. At the thread's end it is taken back. */
void hearth_signals_begin_thread(void);
void hearth_signals_end_thread(void);

/* What the program's sigaction does. The runtime's handlers are invisible: they stand for the default action, which
 * they take after the profile is written. Either pointer may be NULL. Returns 0 or a negated error number. */
int hearth_signals_set(int signal, const hearth_os_action *action, hearth_os_action *ret_old);

#endif
