/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A byte of each section that globals.ld places others beside. lld refuses to place one beside a section that is
 * empty, as if all data is hot, or a library has no constants. */
#define KEPT(name) __attribute__((used, retain, section(name)))

static KEPT(".rodata") const char hearth_rodata = 1;
static KEPT(".data") char hearth_data = 1;
static KEPT(".bss") char hearth_bss;
