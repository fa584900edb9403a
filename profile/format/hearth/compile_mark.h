/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the plugin writes into the section .comment of each object that it compiles: which build the object is of. */
#ifndef HEARTH_COMPILE_MARK_H
#define HEARTH_COMPILE_MARK_H

#define HEARTH_MARK_START      "hearth "
#define HEARTH_MARK_INSTRUMENT HEARTH_MARK_START "instrument"
#define HEARTH_MARK_USE        HEARTH_MARK_START "use %016" PRIx64 /* the profile's id */

#endif
