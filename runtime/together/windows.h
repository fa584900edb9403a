/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Windows on the memory that the program uses: taken by a thread of the runtime's own, summed up by context and by pair of
 * contexts, and read by dumps. */
#ifndef HEARTH_RUNTIME_WINDOWS_H
#define HEARTH_RUNTIME_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "hearth/raw.h"

/* Begin to take windows, if the options and the way of recording allow it. At the start, once: the process has one
 * thread. Where the system refuses a thread, there are no windows. */
void hearth_windows_begin(void);
bool hearth_windows_are_taken(void);

/* Their thread also does this again and again, some milliseconds apart: the process has one such thread. It is told whether there is
 * something to look at: counters that count, and a heap of some MiB. */
void hearth_windows_run_beside(void (*step)(bool is_worth_it));

/* Forget all sums: of a profile that is reset, with signals blocked. */
void hearth_windows_forget(void);
/* The same in a forked child, which has no such thread, and takes no windows. */
void hearth_windows_end_in_child(void);

/* For a dump: hold the sums still. False: there are none. With signals blocked. */
bool hearth_windows_hold(void);
void hearth_windows_let_go(void);

/* While they are held: sums of all windows (enum hearth_raw_together); of a context, whose record in the dump has this
 * number (enum hearth_raw_touched); and of pairs of contexts with records (enum hearth_raw_pair), once all records are
 * numbered. */
void hearth_windows_totals(uint64_t *ret);
/* False: no window saw a block of the context. */
bool hearth_windows_touched(uint32_t context, uint32_t record, uint64_t *ret);
/* The fields of a context's record that picks make (picks.h). */
void hearth_windows_set_picks(uint32_t context, hearth_mib *mib);
uint32_t hearth_windows_count_pairs(void);
/* The next pair: begin with *at = 0; false at the end. */
bool hearth_windows_next_pair(uint32_t *at, uint64_t *ret);

#endif
