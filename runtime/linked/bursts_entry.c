/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions that code compiled with -memprof-burst calls. */
#include "access_counts.h"
#include "bursts.h"
#include "os.h"
#include "running_profile.h"

HEARTH_EXPORT bool __hearth_burst_turn(void);
HEARTH_EXPORT void __hearth_burst_init(void);

/* Called by a constructor in each such file. */
void __hearth_burst_init(void) { hearth_access_counts_begin(true); }

/* hearth_burst_turn, as code calls it that keeps its values in registers across the call (LLVM's preserve_most). */
__asm__(".pushsection .text\n"
        ".globl __hearth_burst_turn\n"
        ".type __hearth_burst_turn,%function\n"
        "__hearth_burst_turn:\n"
        ".cfi_startproc\n" HEARTH_CALL_KEEPING_MOST(
            "hearth_burst_turn") ".cfi_endproc\n"
                                 ".size __hearth_burst_turn, .-__hearth_burst_turn\n"
                                 ".popsection");
