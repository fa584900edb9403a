/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A block's first use: its header and all words written, and read once. Counting finds 0.3 to 3.5 times that in jq, lua, gawk and
 * sqlite (docs/decisions/touched-pages.md). */
#ifndef HEARTH_FIRST_USE_H
#define HEARTH_FIRST_USE_H

/* Accesses by the first uses of `blocks` blocks of `size` bytes on average. */
static inline double hearth_first_accesses(double blocks, double size) { return blocks * (8 + size / 4); }

#endif
