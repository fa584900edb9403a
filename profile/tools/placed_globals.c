/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For the linker, beside globals.ld: a byte of each section that others are placed beside. lld refuses to place one
 * beside a section that is empty, as if all data is hot, or a library has no constants.
 *
 * With HEARTH_HUGE_GLOBALS (`hearth flags use --globals --huge-globals`) hot bss lies in huge pages where it fills some,
 * which the system is asked for before the first touch. It has none for pages of a file, in which constants and
 * initialised variables lie. */
#define _DEFAULT_SOURCE /* madvise */
#define KEPT(name)      __attribute__((used, retain, section(name)))

static KEPT(".rodata") const char hearth_rodata = 1;
static KEPT(".data") char hearth_data = 1;
static KEPT(".bss") char hearth_bss;

#ifdef HEARTH_HUGE_GLOBALS
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
#endif
