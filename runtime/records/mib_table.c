/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An array by context id in sparse memory. */
#include "mib_table.h"

#include "block.h"
#include "os.h"
#include "output.h"
#include "running_profile.h"
#include "thread_state.h"

#include "hearth/expect.h"

/* Histograms. An array that grows leaves its old place in the memory to nobody. */

#define HISTOGRAM_MOST  ((size_t)1 << 36) /* of address space; less where there is little */
#define HISTOGRAM_LEAST 8u                /* places */

static size_t histogram_table_size(const hearth_histograms *histograms) {
  return HEARTH_WHOLE_PAGES((size_t)histograms->contexts * sizeof *histograms->by_context);
}

static size_t histogram_memory_size(const hearth_histograms *histograms) {
  return histograms->words * sizeof *histograms->memory;
}

bool hearth_histograms_create(hearth_histograms *histograms, uint32_t contexts, uint32_t most) {
  size_t size = ((size_t)1 << hearth_os_address_bits()) / 128;

  size = size < HISTOGRAM_MOST ? size : HISTOGRAM_MOST;
  *histograms = (hearth_histograms){.words = size / sizeof(uint64_t), .contexts = contexts, .most = most};
  histograms->by_context = hearth_system_map_sparse(histogram_table_size(histograms));
  histograms->memory = hearth_system_map_sparse(histogram_memory_size(histograms));
  if (histograms->by_context && histograms->memory)
    return true;
  hearth_histograms_destroy(histograms);
  return false;
}

void hearth_histograms_destroy(hearth_histograms *histograms) {
  if (histograms->memory)
    hearth_system_unmap(histograms->memory, histogram_memory_size(histograms));
  if (histograms->by_context)
    hearth_system_unmap(histograms->by_context, histogram_table_size(histograms));
}

static void histograms_forget(hearth_histograms *histograms) {
  hearth_system_discard(histograms->by_context, histogram_table_size(histograms));
  hearth_system_discard(histograms->memory, HEARTH_WHOLE_PAGES(histograms->taken * sizeof *histograms->memory));
  histograms->taken = 0;
}

/* Zeros; NULL: no memory. */
static uint64_t *histogram_take(hearth_histograms *histograms, size_t count) {
  static bool told;
  size_t at = __atomic_fetch_add(&histograms->taken, count, __ATOMIC_RELAXED);

  if (at + count <= histograms->words)
    return histograms->memory + at;
  __atomic_fetch_sub(&histograms->taken, count, __ATOMIC_RELAXED);
  if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
    hearth_message("no memory for histograms: they are not complete");
  return NULL;
}

/* Have room for `size` sums, if there is memory. */
static void histogram_reserve(hearth_histograms *histograms, hearth_histogram *of, uint32_t size) {
  uint32_t room = of->room ? of->room : HISTOGRAM_LEAST;

  while (room < size)
    room *= 2;
  uint64_t *larger = room > of->room ? histogram_take(histograms, room) : NULL;
  if (!larger)
    return;
  memcpy(larger, of->sums, of->room * sizeof *larger);
  of->sums = larger;
  HEARTH_SIGNAL_FENCE(); /* a dump of a signal handler looks at as many as there is room for */
  of->room = room;
}

/* Up to the last that was accessed; the first one if something before it was. */
static uint32_t count_places(const hearth_histograms *histograms, const hearth_byte_counters *of, bool lead) {
  uint64_t size = of->count < histograms->most ? of->count : histograms->most;

  while (size > lead && of->first[size - 1] == 0)
    --size;
  return (uint32_t)size;
}

void hearth_histograms_add(hearth_histograms *histograms, const hearth_block *block, uint64_t weight) {
  hearth_histogram *to = &histograms->by_context[block->context];
  hearth_byte_counters of = hearth_shadow_bytes(hearth_header_memory(block->header), block->size);
  uint64_t lead = 0;

  for (const uint8_t *counter = of.lead; counter < of.first; ++counter)
    lead += *counter;
  uint32_t size = count_places(histograms, &of, lead > 0);
  histogram_reserve(histograms, to, size);
  for (uint32_t i = 0; i < size && i < to->room; ++i)
    to->sums[i] += (of.first[i] + (i == 0 ? lead : 0)) * weight;
}

const uint64_t *hearth_histograms_get(const hearth_histograms *histograms, uint32_t context, uint32_t *ret_size) {
  const hearth_histogram *of = &histograms->by_context[context];

  *ret_size = of->room;
  while (*ret_size > 0 && of->sums[*ret_size - 1] == 0)
    --*ret_size;
  return of->sums;
}

/* Where `to` has none of the context yet. False: no memory. */
static bool histogram_copy(hearth_histograms *to, const hearth_histograms *from, uint32_t context) {
  uint32_t size;
  const uint64_t *sums = hearth_histograms_get(from, context, &size);
  hearth_histogram *of = &to->by_context[context];

  histogram_reserve(to, of, size);
  if (of->room < size)
    return false;
  memcpy(of->sums, sums, size * sizeof *sums);
  return true;
}

/* Records. */

static size_t mib_table_size(uint32_t count) { return HEARTH_WHOLE_PAGES((size_t)count * sizeof(hearth_mib_row)); }

bool hearth_mib_table_create(hearth_mib_table *table, uint32_t count) {
  *table = (hearth_mib_table){.rows = hearth_system_map_sparse(mib_table_size(count)), .count = count};
  return table->rows != NULL;
}

static hearth_lock *lock_of(hearth_mib_table *table, uint32_t context) {
  return &table->locks[context % HEARTH_MIB_LOCKS];
}

/* The lot is the block's: dumps of one process agree. */
uint64_t hearth_mib_weight(const hearth_block *block) {
  uint64_t mean_bytes = hearth_rt.options.sample;

  return mean_bytes ? hearth_sample_weight(mean_bytes, block->size, (uintptr_t)block->header ^ block->alloc_ns << 20)
                    : 1;
}

hearth_mib hearth_mib_of_block(const hearth_block *block, hearth_access_sum accesses, hearth_moment end) {
  hearth_figures of = hearth_figures_of_block(block, accesses, end);
  hearth_mib_series one = {0};

  hearth_mib_series_add(&one, block, &of, end, hearth_mib_weight(block));
  return one.mib;
}

static bool take_row(hearth_mib_table *table, uint32_t context, hearth_mib *ret) {
  if (!hearth_reentry_take(lock_of(table, context)))
    return false;
  *ret = hearth_mib_table_read(table, context);
  return true;
}

static void give_row(hearth_mib_table *table, uint32_t context, const hearth_mib *mib) {
  memcpy(table->rows[context].v, mib->v, sizeof table->rows[context].v);
  hearth_lock_give(lock_of(table, context));
}

bool hearth_mib_table_record(hearth_mib_table *table, const hearth_block *block, const hearth_mib *one) {
  hearth_mib sum;

  if (!take_row(table, block->context, &sum))
    return false;
  hearth_mib_follow(&sum, one);
  if (table->histograms.by_context && block->header)
    hearth_histograms_add(&table->histograms, block, one->AllocCount);
  give_row(table, block->context, &sum);
  return true;
}

bool hearth_mib_table_append(hearth_mib_table *table, uint32_t context, hearth_mib_series *series) {
  hearth_mib sum;

  if (!take_row(table, context, &sum))
    return false;
  hearth_mib_append(&sum, series);
  series->mib.AllocCount = 0;
  HEARTH_SIGNAL_FENCE(); /* a dump of a signal handler may count a part of the series, but none of it twice */
  give_row(table, context, &sum);
  return true;
}

void hearth_mib_table_forget(hearth_mib_table *table) {
  hearth_system_discard(table->rows, mib_table_size(table->count));
  if (table->histograms.by_context)
    histograms_forget(&table->histograms);
}

unsigned hearth_mib_table_lock(hearth_mib_table *table) {
  unsigned missed = 0;

  for (unsigned i = 0; i < HEARTH_MIB_LOCKS; ++i)
    missed += !hearth_lock_take_or_keep(&table->locks[i]);
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
  if (is_copied(view, block->context) || histogram_copy(&view->histograms, &view->table->histograms, block->context))
    hearth_histograms_add(&view->histograms, block, weight);
}
