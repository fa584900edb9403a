/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hot bss lies in huge pages where it fills some (`hearth flags use --globals --huge-globals`), which the system is
 * asked for before the first touch. It has none for pages of a file, in which constants and initialised variables
 * lie. */
#define _DEFAULT_SOURCE /* madvise */
#include <stdint.h>
#include <sys/mman.h>

enum { HUGE = 2 << 20 };

/* From globals.ld. */
extern char __hearth_hot_bss[] __attribute__((visibility("hidden")));
extern char __hearth_hot_bss_end[] __attribute__((visibility("hidden")));

__attribute__((constructor(101))) static void hearth_make_globals_huge(void) {
  char *start = __hearth_hot_bss + (-(uintptr_t)__hearth_hot_bss & (HUGE - 1));
  if (start < __hearth_hot_bss_end)
    madvise(start, (size_t)(__hearth_hot_bss_end - start) & ~(size_t)(HUGE - 1), MADV_HUGEPAGE);
}
