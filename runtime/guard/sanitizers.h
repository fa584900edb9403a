/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sanitizers that have a malloc of their own. It comes before all others, whatever is linked or preloaded. */
#ifndef HEARTH_RUNTIME_SANITIZERS_H
#define HEARTH_RUNTIME_SANITIZERS_H

#include <stddef.h>

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
