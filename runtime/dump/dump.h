/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writing the profile. */
#ifndef HEARTH_RUNTIME_DUMP_H
#define HEARTH_RUNTIME_DUMP_H

#include "file_output.h"
#include "snapshot.h"

/* Write a snapshot and the mappings in one of the layouts; docs/formats/raw.md. Returns 0 or an error number (other than
 * those of the output, which the output keeps). */
int hearth_dump_hearth(hearth_file_output *output, const hearth_snapshot *snapshot);
int hearth_dump_llvm(hearth_file_output *output, const hearth_snapshot *snapshot);

/* The same in the layout that the options ask for. */
int hearth_dump_write(hearth_file_output *output, const hearth_snapshot *snapshot);

/* Is this the process that records, and not a child that shares its memory (vfork) or was made behind the C library's
 * back? */
bool hearth_is_recording(void);

/* Write the complete profile so far to its file, live blocks included; a message names the error. With the option parts, what
 * came since the last part, to a file of its own, without live blocks. Returns whether it was written. A child of vfork, which
 * runs in its parent's memory, writes none. Also in signal handlers. */
bool hearth_dump(void);

/* The same when the program ends, or may end, unless that is switched off. A forked child that recorded nothing writes
 * none. */
void hearth_dump_at_end(void);

/* Write the dumps that are due now, in ns since the start; one thread does them. Outside of
 * critical sections. */
void hearth_dump_due(uint64_t now_ns);

/* Let the intervals begin now. */
void hearth_dump_schedule(uint64_t now_ns);

/* Of the profile that was written last. */
typedef struct hearth_dump_totals {
  uint64_t blocks, live_blocks;
  bool is_whole; /* no records of the run are in other files */
} hearth_dump_totals;
hearth_dump_totals hearth_dump_last_totals(void);

/* Take no sample, or take one again: of a profile that is sampled; else a message, and false. Also in signal handlers. */
bool hearth_dump_pause(bool paused);

/* The program has given up rights or changed its root: a message says if its profile cannot be written any more. */
void hearth_dump_check_place(void);

/* Forget all records so far, including the parts in files. */
void hearth_dump_reset(void);

/* A forked child's profile has a name of its own. */
void hearth_dump_forget_file(void);

/* Keep dumps out while the process forks; with signals blocked. */
void hearth_dump_lock(void);
void hearth_dump_unlock(void);

#endif
