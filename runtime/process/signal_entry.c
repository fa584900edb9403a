/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions by which programs set handlers. They are the C library's in all but one thing: a program that asks for
 * the default action gets the runtime's handlers (process.h). All are async-signal-safe, as they must be. */
#define _GNU_SOURCE /* sigset, sighandler_t */
#include "process.h"
#include "running_profile.h"

#include <errno.h>
#include <string.h>

HEARTH_EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *ret_old);
HEARTH_EXPORT sighandler_t signal(int signal, sighandler_t handler);
HEARTH_EXPORT sighandler_t bsd_signal(int signal, sighandler_t handler);
HEARTH_EXPORT sighandler_t ssignal(int signal, sighandler_t handler);
HEARTH_EXPORT sighandler_t sysv_signal(int signal, sighandler_t handler);
HEARTH_EXPORT sighandler_t __sysv_signal(int signal, sighandler_t handler);
HEARTH_EXPORT int siginterrupt(int signal, int interrupts);

static uint64_t interrupting; /* mask of signals that siginterrupt was called for; atomic */

static uint64_t bit(int signal) { return UINT64_C(1) << (signal - 1); }

static bool is_settable(int signal) {
  return signal >= 1 && signal <= 64 &&
         !(signal >= HEARTH_LIBRARY_SIGNAL_FIRST && signal <= HEARTH_LIBRARY_SIGNAL_LAST);
}

static int set_action(int signal, const hearth_os_action *action, hearth_os_action *ret_old) {
  int result = is_settable(signal) ? hearth_signals_set(signal, action, ret_old) : -EINVAL;

  if (result == 0)
    return 0;
  errno = -result;
  return -1;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *ret_old) {
  hearth_os_action given = {0}, old;

  if (action) {
    given.handler = action->sa_sigaction;
    given.flags = (unsigned)action->sa_flags;
    memcpy(&given.mask, &action->sa_mask, sizeof given.mask);
  }
  if (set_action(signal, action ? &given : NULL, &old) != 0)
    return -1;
  if (ret_old) {
    memset(ret_old, 0, sizeof *ret_old);
    ret_old->sa_sigaction = old.handler;
    ret_old->sa_flags = (int)old.flags;
    memcpy(&ret_old->sa_mask, &old.mask, sizeof old.mask);
  }
  return 0;
}

static sighandler_t set_simple(int signal, sighandler_t handler, unsigned long flags, uint64_t mask) {
  hearth_os_action given = {(void (*)(int, siginfo_t *, void *))(void *)handler, flags, mask}, old;

  return set_action(signal, &given, &old) == 0 ? (sighandler_t)(void *)old.handler : SIG_ERR;
}

static sighandler_t set_bsd(int signal, sighandler_t handler) {
  if (!is_settable(signal) || handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  bool interrupts = __atomic_load_n(&interrupting, __ATOMIC_RELAXED) & bit(signal);
  return set_simple(signal, handler, interrupts ? 0 : SA_RESTART, bit(signal));
}

sighandler_t(signal)(int signal, sighandler_t handler) { return set_bsd(signal, handler); }

sighandler_t bsd_signal(int signal, sighandler_t handler) { return set_bsd(signal, handler); }

sighandler_t ssignal(int signal, sighandler_t handler) { return set_bsd(signal, handler); }

/* The handler runs once, and the signal is not blocked meanwhile: `signal` means this in programs compiled for strict
 * ISO C or X/Open. */
sighandler_t __sysv_signal(int signal, sighandler_t handler) {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return set_simple(signal, handler, (unsigned)SA_RESETHAND | SA_NODEFER, 0);
}

sighandler_t sysv_signal(int signal, sighandler_t handler) { return __sysv_signal(signal, handler); }

int siginterrupt(int signal, int interrupts) {
  hearth_os_action action;

  if (set_action(signal, NULL, &action) != 0)
    return -1;
  if (interrupts) {
    __atomic_fetch_or(&interrupting, bit(signal), __ATOMIC_RELAXED);
    action.flags &= ~(unsigned long)SA_RESTART;
  } else {
    __atomic_fetch_and(&interrupting, ~bit(signal), __ATOMIC_RELAXED);
    action.flags |= SA_RESTART;
  }
  return set_action(signal, &action, NULL);
}
