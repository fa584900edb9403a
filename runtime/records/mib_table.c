/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An array by context id in sparse memory. Pages that hold records are counted, so that a memory cap can ask for a spill. */
#include "mib_table.h"

#include "lock.h"
#include "os.h"
#include "sample.h"

static size_t mib_table_size(uint32_t count) { return hearth_os_whole_pages((size_t)count * sizeof(hearth_mib_row)); }

static size_t touched_size(uint32_t count) { return hearth_os_whole_pages(mib_table_size(count) / HEARTH_OS_PAGE); }

bool hearth_mib_table_create(hearth_mib_table *table, uint32_t count, uint64_t page_most) {
  size_t size = mib_table_size(count);

  *table = (hearth_mib_table){.rows = hearth_os_map(size),
                              .count = count,
                              .touched = hearth_os_map(touched_size(count)),
                              .page_most = page_most};
  if (!table->rows || !table->touched)
    return false;
  hearth_os_mark_sparse(table->rows, size);
  return true;
}

void hearth_mib_table_watch(hearth_mib_table *table) {
  uint64_t beside = table->beside ? __atomic_load_n(table->beside, __ATOMIC_RELAXED) / HEARTH_OS_PAGE : 0;
  uint64_t pages = __atomic_load_n(&table->touched_count, __ATOMIC_RELAXED) + table->histograms.pages;

  if (pages + beside > table->page_most)
    table->wants_spill = true;
}

/* Account for a page that holds no record yet. It is written to at once: reading it first would take two faults. */
static void begin_page(hearth_mib_table *table, size_t page) {
  if (__atomic_exchange_n(&table->touched[page], 1, __ATOMIC_RELAXED))
    return;
  __atomic_fetch_or((uint64_t *)table->rows + page * (HEARTH_OS_PAGE / sizeof(uint64_t)), 0, __ATOMIC_RELAXED);
  __atomic_fetch_add(&table->touched_count, 1, __ATOMIC_RELAXED);
  hearth_mib_table_watch(table);
}

/* Account for the pages that a record lies on. False: it needs one more, and there may be no more. */
static bool touch(hearth_mib_table *table, uint32_t context) {
  size_t first = (size_t)context * sizeof *table->rows / HEARTH_OS_PAGE;
  size_t last = ((size_t)(context + 1) * sizeof *table->rows - 1) / HEARTH_OS_PAGE;

  for (size_t page = first; page <= last; ++page) {
    if (__atomic_load_n(&table->touched[page], __ATOMIC_RELAXED))
      continue;
    if (table->closed)
      return false;
    begin_page(table, page);
  }
  return true;
}

static hearth_lock *lock_of(hearth_mib_table *table, uint32_t context) {
  return &table->locks[context % HEARTH_MIB_LOCKS];
}

/* The lot is the block's: dumps of one process agree. */
uint64_t hearth_mib_weight(const hearth_block *block, uint64_t mean_bytes) {
  return hearth_sample_weight(mean_bytes, block->size, (uintptr_t)block->header ^ block->alloc_ns << 20);
}

/* Count blocks that find no room. */
static void mib_drop(hearth_mib_table *table, uint64_t blocks) {
  __atomic_fetch_add(&table->dropped, blocks, __ATOMIC_RELAXED);
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
  hearth_mib_table_watch(table);
  return true;
}

bool hearth_mib_table_record(hearth_mib_table *table, const hearth_block *block, const hearth_mib *one) {
  hearth_lock *lock = lock_of(table, block->context);

  if (!hearth_reentry_take(lock))
    return false;
  bool recorded = true;
  if (touch(table, block->context)) {
    hearth_mib_row *record = &table->rows[block->context];
    hearth_mib sum = hearth_mib_of_row(record);
    hearth_mib_follow(&sum, one);
    hearth_mib_update update = {.record = record, .sum = &sum, .header = block->header};
    recorded = prepare_histogram(table, block, one, &update);
    if (recorded)
      hearth_mib_update_make(&update);
  } else {
    mib_drop(table, one->AllocCount);
    hearth_header_set_state(block->header, HEARTH_BLOCK_FREE);
  }
  hearth_lock_give(lock);
  return recorded;
}

bool hearth_mib_table_add(hearth_mib_table *table, uint32_t context, const hearth_mib *one, uint64_t *ret_live) {
  hearth_lock *lock = lock_of(table, context);

  if (!hearth_reentry_take(lock))
    return false;
  if (touch(table, context)) {
    hearth_mib_row *record = &table->rows[context];
    hearth_mib sum = hearth_mib_of_row(record);
    hearth_mib_follow(&sum, one);
    hearth_mib_update_make(&(hearth_mib_update){.record = record, .sum = &sum, .word = ret_live});
  } else {
    mib_drop(table, one->AllocCount);
    *ret_live = 0;
  }
  hearth_lock_give(lock);
  return true;
}

bool hearth_mib_table_append(hearth_mib_table *table, uint32_t context, const hearth_mib_series *series,
                             uint64_t *count) {
  hearth_lock *lock = lock_of(table, context);

  if (!hearth_reentry_take(lock))
    return false;
  if (touch(table, context)) {
    hearth_mib_row *record = &table->rows[context];
    hearth_mib sum = hearth_mib_of_row(record);
    hearth_mib_append(&sum, series);
    hearth_mib_update_make(&(hearth_mib_update){.record = record, .sum = &sum, .word = count});
  } else {
    mib_drop(table, *count);
    *count = 0;
  }
  hearth_lock_give(lock);
  return true;
}

void hearth_mib_table_forget(hearth_mib_table *table) {
  hearth_os_discard(table->rows, mib_table_size(table->count));
  hearth_os_discard(table->touched, touched_size(table->count));
  if (table->histograms.by_context)
    hearth_histograms_forget(&table->histograms);
  table->touched_count = 0;
  table->wants_spill = false;
}

void hearth_mib_table_close(hearth_mib_table *table) {
  table->closed = true;
  table->histograms.closed = true;
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

static size_t copies_size(uint32_t count) { return hearth_os_whole_pages((size_t)count * sizeof(hearth_mib)); }

static size_t mib_view_size(uint32_t count) {
  return copies_size(count) + hearth_os_whole_pages((count + (size_t)7) / 8);
}

bool hearth_mib_view_create(hearth_mib_view *view, const hearth_mib_table *table, uint32_t count) {
  char *memory = hearth_os_map(mib_view_size(count));

  if (!memory)
    return false;
  hearth_os_mark_sparse(memory, mib_view_size(count));
  *view = (hearth_mib_view){
      .table = table, .count = count, .copies = (hearth_mib *)memory, .copied = (uint8_t *)memory + copies_size(count)};
  if (!table->histograms.by_context || hearth_histograms_create(&view->histograms, count, table->histograms.most))
    return true;
  hearth_os_unmap(memory, mib_view_size(count));
  return false;
}

void hearth_mib_view_destroy(hearth_mib_view *view) {
  hearth_os_unmap(view->copies, mib_view_size(view->count));
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
