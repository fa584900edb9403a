/* Writing the profile. */
#ifndef HEARTH_RUNTIME_DUMP_H
#define HEARTH_RUNTIME_DUMP_H

#include "output.h"
#include "snapshot.h"

/* Write a snapshot and the mappings in one of the layouts; docs/formats/raw.md. Returns 0 or an error number (other than
 * those of the output, which the output keeps). */
int hearth_dump_hearth(hearth_output *output, const hearth_snapshot *snapshot);
int hearth_dump_llvm(hearth_output *output, const hearth_snapshot *snapshot);

/* The same in the layout that the options ask for. */
int hearth_dump_write(hearth_output *output, const hearth_snapshot *snapshot);

/* Write the complete profile so far to its file, live blocks included; a message says what went wrong. Returns whether
 * it was written. A child of vfork, which runs in its parent's memory, writes none. Also in signal handlers. */
bool hearth_dump(void);

/* The same when the program ends, or may end, unless that is switched off. A forked child that recorded nothing writes
 * none. */
void hearth_dump_at_end(void);

/* The same where another program is to take this one's place, which is told if it will not be recorded. */
void hearth_leave_for(const char *program);

/* Dumps and snapshots that are due now, in ns since the start; one thread does them. Outside of sections. */
void hearth_dump_periodically(uint64_t now_ns);

/* Let the intervals begin now. */
void hearth_dump_schedule(uint64_t now_ns);

/* Write the records of ended blocks to a file of their own and forget them, so that their memory is given back. */
void hearth_dump_spill(void);

/* Forget what was recorded so far, files with spilled records included. */
void hearth_dump_reset(void);

/* A forked child's profile has a name of its own. */
void hearth_dump_forget_file(void);

/* Keep dumps out while the process forks; with signals blocked. */
void hearth_dump_lock(void);
void hearth_dump_unlock(void);

#endif
