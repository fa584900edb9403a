/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Signals: handlers of the runtime's, and the functions by which programs set theirs.
 *
 * Handlers stand where the disposition is the default, and only there: a handler of the program is never displaced, and
 * an ignored signal stays ignored. When the program goes back to the default (many crash handlers do, and raise the
 * signal again), the runtime's handler comes back.
 *
 * SIGABRT is special: abort() inside the C library kills the program when its handler returns. So the profile is
 * written before the program's handler runs. */
#define _GNU_SOURCE /* sigset, sighandler_t */
#include "dump.h"
#include "process.h"
#include "running_profile.h"
#include "thread_state.h"

#include "hearth/running_program.h"

#include <errno.h>
#include <string.h>

#define SIGNALS 64

/* Of the C library; the real-time ones of programs are behind them. */
#define LIBRARY_SIGNAL_FIRST 32
#define LIBRARY_SIGNAL_LAST  33

/* Signals whose default action ends the program, besides all real-time ones that the C library leaves. */
static const uint8_t ending[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,    SIGTRAP, SIGABRT,  SIGBUS,  SIGFPE,
                                 SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,   SIGALRM, SIGTERM,  SIGXCPU, SIGXFSZ,
                                 SIGPROF, SIGPOLL, SIGSYS,  SIGVTALRM, SIGPWR,  SIGSTKFLT};

static hearth_os_action program_abort; /* the program's handler of SIGABRT; SIG_DFL: it has none */

static bool is_default(const hearth_os_action *action) { return (void (*)(int))(void *)action->handler == SIG_DFL; }

static bool is_ignored(const hearth_os_action *action) { return (void (*)(int))(void *)action->handler == SIG_IGN; }

/* An instruction that faulted is repeated when its handler returns, and faults again: with the default action then, and
 * with the registers that belong in a core file. */
static bool will_repeat(int signal, const siginfo_t *info) {
  return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL);
}

/* Did the running code itself cause the signal, rather than someone else at any time? */
static bool is_own_doing(int signal, const siginfo_t *info) {
  return will_repeat(signal, info) || ((signal == SIGTRAP || signal == SIGSYS) && info->si_code > 0) ||
         (info->si_code == SI_TKILL && (uint32_t)info->si_pid == hearth_os_pid());
}

/* Put a signal off until the thread has left the critical section that it is in. */
static bool defer_signal(int signal, const siginfo_t *info) {
  if (hearth_this_thread.depth == 0 || is_own_doing(signal, info))
    return false;
  hearth_this_thread.deferred |= UINT64_C(1) << (signal - 1);
  return true;
}

static void end_by_signal(int signal, siginfo_t *info, void *context) {
  const hearth_os_action standard = {0};

  (void)context;
  if (defer_signal(signal, info))
    return;
  hearth_dump_at_end();
  hearth_os_sigaction(signal, &standard, NULL);
  if (!will_repeat(signal, info))
    hearth_os_raise(signal); /* it is blocked until this handler returns */
}

static void abort_program(int signal, siginfo_t *info, void *context) {
  hearth_dump_at_end();
  program_abort.handler(signal, info, context);
}

/* Only the number of a deferred signal is raised again. */
static uint32_t asker;
static int asked; /* HEARTH_DUMP_*, by the asker */

static bool is_request(int value) {
  return value == HEARTH_DUMP_ASK || value == HEARTH_DUMP_PAUSE || value == HEARTH_DUMP_RESUME;
}

static void dump_by_signal(int signal, siginfo_t *info, void *context) {
  (void)context;
  if (info->si_code == SI_QUEUE && is_request(info->si_value.sival_int)) {
    __atomic_store_n(&asked, info->si_value.sival_int, __ATOMIC_RELAXED);
    __atomic_store_n(&asker, (uint32_t)info->si_pid, __ATOMIC_RELEASE);
  }
  if (defer_signal(signal, info))
    return;
  uint32_t answered = __atomic_exchange_n(&asker, 0, __ATOMIC_ACQUIRE);
  int request = answered ? __atomic_load_n(&asked, __ATOMIC_RELAXED) : HEARTH_DUMP_ASK;
  bool done = request == HEARTH_DUMP_ASK ? hearth_dump() : hearth_dump_pause(request == HEARTH_DUMP_PAUSE);
  if (answered)
    hearth_os_queue(answered, signal, done ? 0 : 1);
}

static bool is_asking(int signal) { return (uint32_t)signal == hearth_rt.options.dump_signal; }

static bool is_ending(int signal) {
  if (signal > LIBRARY_SIGNAL_LAST)
    return hearth_rt.options.handle_signals;
  for (size_t i = 0; i < sizeof ending; ++i)
    if (ending[i] == signal)
      return hearth_rt.options.handle_signals;
  return false;
}

/* The runtime's action for a signal whose default action the program wants; false if it has none. */
static bool own_action(int signal, hearth_os_action *ret_action) {
  if (!is_asking(signal) && !is_ending(signal))
    return false;
  *ret_action = (hearth_os_action){is_asking(signal) ? dump_by_signal : end_by_signal,
                                   SA_SIGINFO | SA_ONSTACK | SA_RESTART, ~UINT64_C(0)};
  return true;
}

static bool is_own_handler(const hearth_os_action *action) {
  return action->handler == end_by_signal || action->handler == dump_by_signal;
}

/* The runtime's handlers are invisible: they stand for the default action, which they take after the profile is
 * written. Either pointer may be NULL. Returns 0 or a negated error number. */
static int signals_set(int signal, const hearth_os_action *action, hearth_os_action *ret_old) {
  hearth_os_action given = action ? *action : (hearth_os_action){0}, old;
  bool wraps = signal == SIGABRT && action && is_ending(SIGABRT) && !is_default(action) && !is_ignored(action);

  if (action && hearth_rt.recording && is_default(action))
    own_action(signal, &given);
  uint64_t blocked = hearth_os_block_signals(); /* until program_abort and the kernel's action agree */
  hearth_os_action old_abort = program_abort;
  if (wraps) {
    program_abort = *action;
    given.handler = abort_program;
    given.flags |= SA_SIGINFO;
  }
  int result = hearth_os_sigaction(signal, action ? &given : NULL, &old);
  hearth_os_restore_signals(blocked);
  if (result == 0 && ret_old)
    *ret_old = old.handler == abort_program ? old_abort : is_own_handler(&old) ? (hearth_os_action){0} : old;
  return result;
}

void hearth_signals_begin(void) {
  if (hearth_rt.options.handle_signals)
    hearth_signal_stack_begin();
  for (int signal = 1; signal <= SIGNALS; ++signal) {
    hearth_os_action old, own;
    if (own_action(signal, &own) && hearth_os_sigaction(signal, NULL, &old) == 0 && is_default(&old))
      hearth_os_sigaction(signal, &own, NULL);
  }
}

/* The functions by which programs set handlers. They are the C library's in all but one thing: a program that asks for
 * the default action gets the runtime's handlers (process.h). All are async-signal-safe, as they must be. */

static uint64_t interrupting; /* mask of signals that siginterrupt was called for; atomic */

static uint64_t bit(int signal) { return UINT64_C(1) << (signal - 1); }

static bool is_settable(int signal) {
  return signal >= 1 && signal <= 64 && !(signal >= LIBRARY_SIGNAL_FIRST && signal <= LIBRARY_SIGNAL_LAST);
}

static int set_action(int signal, const hearth_os_action *action, hearth_os_action *ret_old) {
  int result = is_settable(signal) ? signals_set(signal, action, ret_old) : -EINVAL;

  if (result == 0)
    return 0;
  errno = -result;
  return -1;
}

HEARTH_EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *ret_old) {
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

HEARTH_EXPORT sighandler_t(signal)(int signal, sighandler_t handler) { return set_bsd(signal, handler); }

HEARTH_EXPORT sighandler_t bsd_signal(int signal, sighandler_t handler) { return set_bsd(signal, handler); }

HEARTH_EXPORT sighandler_t ssignal(int signal, sighandler_t handler) { return set_bsd(signal, handler); }

/* The handler runs once, and the signal is not blocked meanwhile: `signal` means this in programs compiled for strict
 * ISO C or X/Open. */
HEARTH_EXPORT sighandler_t __sysv_signal(int signal, sighandler_t handler) {
  if (handler == SIG_ERR) {
    errno = EINVAL;
    return SIG_ERR;
  }
  return set_simple(signal, handler, (unsigned)SA_RESETHAND | SA_NODEFER, 0);
}

HEARTH_EXPORT sighandler_t sysv_signal(int signal, sighandler_t handler) { return __sysv_signal(signal, handler); }

HEARTH_EXPORT int siginterrupt(int signal, int interrupts) {
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
