/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Picks (picks.h) of the memory that the program has: drawn and looked at by a thread of the runtime's own, summed up by
 * context, and read by dumps. */
#ifndef HEARTH_RUNTIME_PICK_THREAD_H
#define HEARTH_RUNTIME_PICK_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "hearth/mib.h"

/* Begin to draw picks, if the options and the way of recording allow it. At the start, once: the process has one thread. Where
 * the system refuses a thread, there are no picks. A forked child has no such thread, and no picks. */
void hearth_pick_thread_begin(void);
bool hearth_pick_thread_runs(void);

/* The thread also does this again and again, some milliseconds apart: the process has one such thread. It is told whether there is
 * something to look at: counters that count, and a heap of some MiB. */
void hearth_pick_thread_run_beside(void (*step)(bool is_worth_it));

/* Forget all sums: of a profile that is reset, with signals blocked. */
void hearth_pick_thread_forget(void);

/* For a dump: hold the sums still. False: there are none. With signals blocked. */
bool hearth_pick_thread_hold(void);
void hearth_pick_thread_let_go(void);

/* While they are held: the fields of a context's record that picks make. */
void hearth_pick_thread_set(uint32_t context, hearth_mib *mib);

#endif
