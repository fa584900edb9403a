/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hints of allocations by class, where nothing else was asked for: one byte, 0 coldest to 255 hottest. Of tcmalloc's scale;
 * stock tcmalloc takes 0 alone for cold. */
#ifndef HEARTH_HINTS_H
#define HEARTH_HINTS_H

enum { HEARTH_HINT_COLD = 0, HEARTH_HINT_NOTCOLD = 128, HEARTH_HINT_AMBIGUOUS = 222, HEARTH_HINT_HOT = 254 };

#endif
