/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One memory info block (MIB) for each context, fed by deallocations, through the threads' caches (thread_cache.h). */
#ifndef HEARTH_RUNTIME_MIB_TABLE_H
#define HEARTH_RUNTIME_MIB_TABLE_H

#include "access_histogram.h"
#include "lock.h"
#include "mib_record.h"

#include <string.h>

#define HEARTH_MIB_LOCKS 256

/* What a table has of a record: the fields before LiveAtExit. A run with many contexts has hardly anything else in memory.
 * The others are of a profile's moment, and are set in views. */
typedef struct hearth_mib_row {
  uint64_t v[HEARTH_COL_LiveAtExit];
} hearth_mib_row;

_Static_assert(HEARTH_COL_LiveAtExit == HEARTH_COL_MaxLifetimeAccessDensity + 1,
               "blocks that end set all fields before");

static inline hearth_mib hearth_mib_of_row(const hearth_mib_row *row) {
  hearth_mib mib;

  memcpy(mib.v, row->v, sizeof row->v);
  memset(&mib.v[HEARTH_COL_LiveAtExit], 0, sizeof mib - sizeof row->v);
  return mib;
}

typedef struct hearth_mib_table {
  hearth_mib_row *rows; /* by context id */
  uint32_t count;
  hearth_histograms histograms;        /* of histogram mode */
  hearth_lock locks[HEARTH_MIB_LOCKS]; /* of context id modulo their number: all can be taken for a fork */
} hearth_mib_table;

/* Assignments that belong together. A signal handler that writes the profile first completes the update that it
 * interrupted; the assignments then happen twice, which does no harm. There is no assignment to NULL. */
typedef struct hearth_mib_update {
  hearth_mib_row *record;
  const hearth_mib *sum; /* the record's new value */
  uint64_t *word;
  uint64_t value;                        /* the word's */
  hearth_header *header;                 /* of the block that ends with the update: its state */
  const struct hearth_mib_update *outer; /* that a signal handler interrupted */
} hearth_mib_update;

/* Records for the contexts [0, count), all empty. False: no address space. */
bool hearth_mib_table_create(hearth_mib_table *table, uint32_t count);

/* How many blocks a sampled block stands for, one in `mean_bytes` being drawn. */
uint64_t hearth_mib_weight(const hearth_block *block, uint64_t mean_bytes);

/* Turn the record of a sampled block into the record of all the blocks it stands for. `mean_bytes`: 0 if all blocks are
 * recorded. */
static inline void hearth_mib_weigh(hearth_mib *one, const hearth_block *block, uint64_t mean_bytes) {
  if (mean_bytes)
    hearth_mib_repeat(one, hearth_mib_weight(block, mean_bytes));
}

/* End `block`: hearth_mib_follow on the record of its context, with its state set to FREE in the same moment for a
 * thread that has locked the table. Its context is below `count`. False: the caller is a signal handler that must not
 * wait for the record's lock; nothing happened. */
bool hearth_mib_table_record(hearth_mib_table *table, const hearth_block *block, const hearth_mib *one);

/* The same for a block without header: its record is added, and *ret_live becomes 0 in the same moment. False: as above. */
bool hearth_mib_table_add(hearth_mib_table *table, uint32_t context, const hearth_mib *one, uint64_t *ret_live);

/* Add the records of a series that is not empty, and empty it in the same moment, by its `count`. False: as above. */
bool hearth_mib_table_append(hearth_mib_table *table, uint32_t context, const hearth_mib_series *series,
                             uint64_t *count);

static inline void hearth_mib_update_apply(const hearth_mib_update *update) {
  if (update->record)
    memcpy(update->record->v, update->sum->v, sizeof update->record->v);
  if (update->word)
    *update->word = update->value;
  if (update->header)
    hearth_header_set_state(update->header, HEARTH_BLOCK_FREE);
}

/* Make an update that a signal handler completes if it interrupts it and writes the profile. The caller has the lock of
 * the updated data; `outer` is filled in here. */
static inline void hearth_mib_update_make(hearth_mib_update *update) {
  const hearth_mib_update known = *update; /* to compilers, after the fences too */

  update->outer = hearth_this_thread.update;
  HEARTH_SIGNAL_FENCE();
  hearth_this_thread.update = update;
  HEARTH_SIGNAL_FENCE();
  hearth_mib_update_apply(&known);
  HEARTH_SIGNAL_FENCE();
  hearth_this_thread.update = update->outer;
}

/* Empty all records, giving the memory back. The table is locked, or the process has one thread. */
void hearth_mib_table_forget(hearth_mib_table *table);

/* Keep all other threads from recording, and complete the record that this thread was making when it was interrupted.
 * With signals blocked. Returns how many threads are recording and do not end it. */
unsigned hearth_mib_table_lock(hearth_mib_table *table);
void hearth_mib_table_unlock(hearth_mib_table *table);

static inline hearth_mib hearth_mib_table_read(const hearth_mib_table *table, uint32_t context) {
  return hearth_mib_of_row(&table->rows[context]);
}

/* The records and histograms at one moment, while all threads are stopped: the table's own records in their place, and
 * copies of the records that differ, because threads have more of them or blocks are live. So writing a profile takes
 * memory only for the copies. */

typedef struct hearth_mib_view {
  const hearth_mib_table *table;
  uint32_t count;               /* contexts below this */
  hearth_mib *copies;           /* by context */
  uint8_t *copied;              /* bits, by context */
  hearth_histograms histograms; /* copies; one without room is the table's */
} hearth_mib_view;

/* The records [0, count) of a table that is locked. False: no address space. */
bool hearth_mib_view_create(hearth_mib_view *view, const hearth_mib_table *table, uint32_t count);
void hearth_mib_view_destroy(hearth_mib_view *view);

static inline hearth_mib hearth_mib_view_read(const hearth_mib_view *view, uint32_t context) {
  bool copied = view->copied[context / 8] >> context % 8 & 1;

  return copied ? view->copies[context] : hearth_mib_table_read(view->table, context);
}

/* The view's own record of a context; changes are not seen in the table. */
hearth_mib *hearth_mib_view_change(hearth_mib_view *view, uint32_t context);

/* In histogram mode: as hearth_histograms_get and hearth_histograms_add; additions are not seen in the table. */
const uint64_t *hearth_mib_view_histogram(const hearth_mib_view *view, uint32_t context, uint32_t *ret_size);
void hearth_mib_view_add_histogram(hearth_mib_view *view, const hearth_block *block, uint64_t weight);

#endif
