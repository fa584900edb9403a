/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An array by context id in sparse memory. */
#include "mib_table.h"

#include "os.h"
#include "sample.h"
#include "thread_state.h"

static size_t mib_table_size(uint32_t count) { return HEARTH_WHOLE_PAGES((size_t)count * sizeof(hearth_mib_row)); }

bool hearth_mib_table_create(hearth_mib_table *table, uint32_t count) {
  *table = (hearth_mib_table){.rows = hearth_system_map_sparse(mib_table_size(count)), .count = count};
  return table->rows != NULL;
}

static hearth_lock *lock_of(hearth_mib_table *table, uint32_t context) {
  return &table->locks[context % HEARTH_MIB_LOCKS];
}

/* The lot is the block's: dumps of one process agree. */
uint64_t hearth_mib_weight(const hearth_block *block, uint64_t mean_bytes) {
  return hearth_sample_weight(mean_bytes, block->size, (uintptr_t)block->header ^ block->alloc_ns << 20);
}

/* In histogram mode the block's counters are to count in the same moment. False: not possible in this signal handler. */
static bool prepare_histogram(hearth_mib_table *table, const hearth_block *block, const hearth_mib *one,
                              hearth_mib_update *update) {
  hearth_histograms *histograms = &table->histograms;

  if (!histograms->by_context)
    return true;
  if (!hearth_histograms_prepare(histograms, block, one->AllocCount, &update->value))
    return false;
  update->word = &histograms->by_context[block->context].current;
  return true;
}

bool hearth_mib_table_record(hearth_mib_table *table, const hearth_block *block, const hearth_mib *one) {
  hearth_lock *lock = lock_of(table, block->context);

  if (!hearth_reentry_take(lock))
    return false;
  hearth_mib_row *record = &table->rows[block->context];
  hearth_mib sum = hearth_mib_of_row(record);
  hearth_mib_follow(&sum, one);
  hearth_mib_update update = {.record = record, .sum = &sum, .header = block->header};
  bool recorded = prepare_histogram(table, block, one, &update);
  if (recorded)
    hearth_mib_update_make(&update);
  hearth_lock_give(lock);
  return recorded;
}

bool hearth_mib_table_add(hearth_mib_table *table, uint32_t context, const hearth_mib *one, uint64_t *ret_live) {
  hearth_lock *lock = lock_of(table, context);

  if (!hearth_reentry_take(lock))
    return false;
  hearth_mib_row *record = &table->rows[context];
  hearth_mib sum = hearth_mib_of_row(record);
  hearth_mib_follow(&sum, one);
  hearth_mib_update_make(&(hearth_mib_update){.record = record, .sum = &sum, .word = ret_live});
  hearth_lock_give(lock);
  return true;
}

bool hearth_mib_table_append(hearth_mib_table *table, uint32_t context, const hearth_mib_series *series,
                             uint64_t *count) {
  hearth_lock *lock = lock_of(table, context);

  if (!hearth_reentry_take(lock))
    return false;
  hearth_mib_row *record = &table->rows[context];
  hearth_mib sum = hearth_mib_of_row(record);
  hearth_mib_append(&sum, series);
  hearth_mib_update_make(&(hearth_mib_update){.record = record, .sum = &sum, .word = count});
  hearth_lock_give(lock);
  return true;
}

void hearth_mib_table_forget(hearth_mib_table *table) {
  hearth_system_discard(table->rows, mib_table_size(table->count));
  if (table->histograms.by_context)
    hearth_histograms_forget(&table->histograms);
}

unsigned hearth_mib_table_lock(hearth_mib_table *table) {
  unsigned missed = 0;

  for (unsigned i = 0; i < HEARTH_MIB_LOCKS; ++i)
    missed += !hearth_lock_take_or_keep(&table->locks[i]);
  for (const hearth_mib_update *update = hearth_this_thread.update; update; update = update->outer)
    hearth_mib_update_apply(update);
  return missed;
}

void hearth_mib_table_unlock(hearth_mib_table *table) {
  for (unsigned i = HEARTH_MIB_LOCKS; i-- > 0;)
    hearth_lock_give_or_keep(&table->locks[i]);
}

/* Records that differ from those of the table are copied when they first change; all others are read from the table. */

static size_t copies_size(uint32_t count) { return HEARTH_WHOLE_PAGES((size_t)count * sizeof(hearth_mib)); }

static size_t mib_view_size(uint32_t count) { return copies_size(count) + HEARTH_WHOLE_PAGES((count + (size_t)7) / 8); }

bool hearth_mib_view_create(hearth_mib_view *view, const hearth_mib_table *table, uint32_t count) {
  char *memory = hearth_system_map_sparse(mib_view_size(count));

  if (!memory)
    return false;
  *view = (hearth_mib_view){
      .table = table, .count = count, .copies = (hearth_mib *)memory, .copied = (uint8_t *)memory + copies_size(count)};
  if (!table->histograms.by_context || hearth_histograms_create(&view->histograms, count, table->histograms.most))
    return true;
  hearth_system_unmap(memory, mib_view_size(count));
  return false;
}

void hearth_mib_view_destroy(hearth_mib_view *view) {
  hearth_system_unmap(view->copies, mib_view_size(view->count));
  hearth_histograms_destroy(&view->histograms);
}

hearth_mib *hearth_mib_view_change(hearth_mib_view *view, uint32_t context) {
  uint8_t bit = (uint8_t)(1u << context % 8);

  if (!(view->copied[context / 8] & bit))
    view->copies[context] = hearth_mib_table_read(view->table, context);
  view->copied[context / 8] |= bit;
  return &view->copies[context];
}

static bool is_copied(const hearth_mib_view *view, uint32_t context) {
  return view->histograms.by_context[context].room > 0;
}

const uint64_t *hearth_mib_view_histogram(const hearth_mib_view *view, uint32_t context, uint32_t *ret_size) {
  return hearth_histograms_get(is_copied(view, context) ? &view->histograms : &view->table->histograms, context,
                               ret_size);
}

void hearth_mib_view_add_histogram(hearth_mib_view *view, const hearth_block *block, uint64_t weight) {
  if (is_copied(view, block->context) ||
      hearth_histograms_copy(&view->histograms, &view->table->histograms, block->context))
    hearth_histograms_add(&view->histograms, block, weight);
}

/* A table of reciprocals, filled in at the start. */

uint64_t hearth_reciprocals[HEARTH_RECIPROCALS];

void hearth_divide_begin(void) {
  for (uint64_t i = 0; i < HEARTH_RECIPROCALS; ++i)
    hearth_reciprocals[i] = UINT64_MAX / (i + 2) + 1;
}
