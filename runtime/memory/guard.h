/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Guards around foreign code: a flag that says that this thread (or this program) is within a call of a function
 * that is not ours, and that may call us again on its way, as dlsym calls free.
 *
 * The flag has to be in memory while that function runs, and no compiler sees the use of it: glibc declares dlsym,
 * pthread_setspecific, sigaction and most others `leaf`, which promises that they do not come back into the file that
 * calls them, so that to gcc a store to a static flag before the call is dead. They do come back, by the names of ours
 * that stand before libc's. So the flag is volatile, and only the code below reads and writes it. */
#ifndef HEARTH_RUNTIME_GUARD_H
#define HEARTH_RUNTIME_GUARD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct hearth_guard {
  volatile bool held; /* all zero: not held */
} hearth_guard;

static inline bool hearth_guard_is_held(const hearth_guard *guard) { return guard->held; }

/* Returns whether it was held already, which is hearth_guard_leave's second argument: guards nest. */
static inline bool hearth_guard_enter(hearth_guard *guard) {
  bool outer = guard->held;
  guard->held = true;
  return outer;
}

static inline void hearth_guard_leave(hearth_guard *guard, bool outer) { guard->held = outer; }

/* Sanitizers that have a malloc of their own. It comes before all others, whatever is linked or preloaded. */

/* Not by dlsym: for an absent symbol, it makes a message with a malloc that may not have begun. */
extern __attribute__((weak)) void __asan_init(void);
extern __attribute__((weak)) void __tsan_init(void);
extern __attribute__((weak)) void __msan_init(void);
extern __attribute__((weak)) void __hwasan_init(void);

/* "NAME: REMEDY" for the program's sanitizer; NULL: it has none. */
static inline const char *hearth_sanitizer_find(void) {
  return __asan_init     ? "AddressSanitizer: build without -fsanitize=address"
         : __tsan_init   ? "ThreadSanitizer: build without -fsanitize=thread"
         : __msan_init   ? "MemorySanitizer: build without -fsanitize=memory"
         : __hwasan_init ? "HWAddressSanitizer: build without -fsanitize=hwaddress"
                         : NULL;
}

#endif
