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
  hearth_lock locks[HEARTH_MIB_LOCKS]; /* of context id modulo their number: all can be taken for a fork */
} hearth_mib_table;

/* When and where a block's life ended, or is considered to end. */
typedef struct hearth_moment {
  uint64_t ns; /* since the start of the run */
  uint32_t cpu;
} hearth_moment;

/* Records for the contexts [0, count), all empty. False: no address space. */
bool hearth_mib_table_create(hearth_mib_table *table, uint32_t count);

/* The record of one block by itself, freed at `end`. Densities as in LLVM: accesses * 100 / size, size 0 counting as 1;
 * over life: that * 1000 / lifetime in ms, at least 1. */
hearth_mib hearth_mib_of_block(const hearth_block *block, hearth_access_sum accesses, hearth_moment end);

/* Add the record of one more block: as hearth_mib_merge, and with what depends on the order of records: "most recent"
 * fields become those of `one`, NumLifetimeOverlaps and NumSame* compare it with the record before it. */
void hearth_mib_follow(hearth_mib *into, const hearth_mib *one);

/* hearth_mib_follow on the record of `context`, under its lock; a context without record is ignored. */
void hearth_mib_table_record(hearth_mib_table *table, uint32_t context, const hearth_mib *one);

/* Copy the records [0, count) to `to`, each as a whole. */
void hearth_mib_table_copy(hearth_mib_table *table, hearth_mib *to, uint32_t count);

/* Empty the records [0, count). */
void hearth_mib_table_reset(hearth_mib_table *table, uint32_t count);

/* The same without locks, giving the memory back: in a forked child, which has one thread. */
void hearth_mib_table_forget(hearth_mib_table *table, uint32_t count);

/* Around fork. */
void hearth_mib_table_lock(hearth_mib_table *table);
void hearth_mib_table_unlock(hearth_mib_table *table);

#endif
