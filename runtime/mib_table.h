/* One memory info block (MIB) for each context, fed by deallocations. */
#ifndef HEARTH_RUNTIME_MIB_TABLE_H
#define HEARTH_RUNTIME_MIB_TABLE_H

#include "heap.h"
#include "hearth/mib.h"
#include "lock.h"
#include "shadow.h"

#define HEARTH_MIB_LOCKS 256

typedef struct hearth_mib_table {
  hearth_mib *mibs; /* by context id */
  uint32_t count;
  uint8_t *touched;                    /* pages of `mibs` that hold records; atomic */
  uint64_t touched_count, page_most;   /* such pages there are, and may be */
  bool wants_spill;                    /* there are more */
  bool closed;                         /* ... and no more are to come */
  uint64_t dropped;                    /* blocks that were not recorded for that reason; atomic */
  hearth_lock locks[HEARTH_MIB_LOCKS]; /* of context id modulo their number: all can be taken for a fork */
} hearth_mib_table;

/* When and where a block's life ended, or is considered to end. */
typedef struct hearth_moment {
  uint64_t ns; /* since the start of the run */
  uint32_t cpu;
} hearth_moment;

/* Records for the contexts [0, count), all empty; they want to be spilled when they fill more than `page_most` pages. False:
 * no address space. */
bool hearth_mib_table_create(hearth_mib_table *table, uint32_t count, uint64_t page_most);

/* The record of one block by itself, freed at `end`. Densities as in LLVM: accesses * 100 / size, size 0 counting as 1;
 * over life: that * 1000 / lifetime in ms, at least 1. */
hearth_mib hearth_mib_of_block(const hearth_block *block, hearth_access_sum accesses, hearth_moment end);

/* Make of the record of a sampled block that of all the blocks it stands for. `mean_bytes`: 0 if all blocks are recorded. */
void hearth_mib_weigh(hearth_mib *one, const hearth_block *block, uint64_t mean_bytes);

/* Add the record of one more block, or of those it stands for: as hearth_mib_merge, and with what depends on the order of
 * records: "most recent" fields become those of `one`, NumLifetimeOverlaps and NumSame* compare it with the record before
 * it. */
void hearth_mib_follow(hearth_mib *into, const hearth_mib *one);

/* End `block`: hearth_mib_follow on the record of its context, with its state set to FREE in the same moment for whoever
 * has locked the table. A context without record is ignored. False: the caller is a signal handler that must not
 * wait for the record's lock; nothing happened. */
bool hearth_mib_table_record(hearth_mib_table *table, hearth_block *block, const hearth_mib *one);

/* Copy the records [0, count) to `to`. The table is locked. */
void hearth_mib_table_copy(hearth_mib_table *table, hearth_mib *to, uint32_t count);

/* Empty all records, giving the memory back. The table is locked, or the process has one thread. */
void hearth_mib_table_forget(hearth_mib_table *table);

/* Merge records that were copied and forgotten back in. */
void hearth_mib_table_restore(hearth_mib_table *table, const hearth_mib *from, uint32_t count);

/* There can be no spill: from now on, blocks of contexts that need one page more are dropped. */
void hearth_mib_table_close(hearth_mib_table *table);

/* Keep all other threads from recording, and complete what this thread was recording when it was interrupted. With signals
 * blocked. Returns how many threads are recording and do not end it. */
unsigned hearth_mib_table_lock(hearth_mib_table *table);
void hearth_mib_table_unlock(hearth_mib_table *table);

#endif
