/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One memory info block (MIB) for each context, fed by deallocations, through the threads' caches (thread_cache.h). */
#ifndef HEARTH_RUNTIME_MIB_TABLE_H
#define HEARTH_RUNTIME_MIB_TABLE_H

#include "block.h"
#include "clock.h"
#include "shadow.h"
#include "thread_state.h"

#include "hearth/mib.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Histogram mode: how often each 8 bytes of the blocks of a context were accessed, summed by their place in the block. The
 * counters are those of shadow.h. Memory is taken as contexts need it. */

/* Sums are made in the array that does not count, which then becomes the one that counts: a signal handler finds either
 * all of a block or nothing. */
typedef struct hearth_histogram_sums {
  uint64_t *sums[2]; /* by place: of the bytes [8 * i, 8 * i + 8) of each block */
  uint64_t current;  /* index of the array that counts */
  uint32_t room;     /* of both; all behind is 0 */
} hearth_histogram_sums;

typedef struct hearth_histogram_chunk hearth_histogram_chunk;

typedef struct hearth_histograms {
  hearth_histogram_sums *by_context; /* NULL: not in histogram mode */
  uint32_t contexts;
  uint32_t most;                          /* places of a block that are kept, from its start */
  hearth_lock lock;                       /* of the following; taken within a context's lock */
  hearth_histogram_chunk *chunks, *spare; /* in use, and empty again */
} hearth_histograms;

/* All empty. False: no address space. */
bool hearth_histograms_create(hearth_histograms *histograms, uint32_t contexts, uint32_t most);
void hearth_histograms_destroy(hearth_histograms *histograms);

/* Sum the array that counts and the counters of a block, each `weight` times, in the array that does not count. The
 * block counts when `current` of its context's histogram becomes *ret_next. The caller has the context's lock. False:
 * not possible in this signal handler; nothing happened. Counters without memory for their sums are left out. */
bool hearth_histograms_prepare(hearth_histograms *histograms, const hearth_block *block, uint64_t weight,
                               uint64_t *ret_next);

/* The same, counting at once. */
void hearth_histograms_add(hearth_histograms *histograms, const hearth_block *block, uint64_t weight);

/* Copy a context's histogram to `to`, where it is empty, with signals blocked and the context's lock. False: no memory. */
bool hearth_histograms_copy(hearth_histograms *to, const hearth_histograms *from, uint32_t context);

/* Empty all, giving the memory back. */
void hearth_histograms_forget(hearth_histograms *histograms);

/* Sums of a context by place, up to the last that is not 0. They live until something is added. */
const uint64_t *hearth_histograms_get(const hearth_histograms *histograms, uint32_t context, uint32_t *ret_size);

/* Records of blocks, added in the order of deallocation. The functions are inline, as they run for each block that
 * ends. */

/* Quotients of the numbers that a block's record needs: nearly all are small. */

#define HEARTH_RECIPROCALS 1024

/* For divisors from 2 on: 2^64 / divisor, rounded up. */
extern uint64_t hearth_reciprocals[HEARTH_RECIPROCALS] __attribute__((visibility("hidden")));

/* Before any division: 10 microseconds. */
void hearth_divide_begin(void);

/* dividend / divisor, which is not 0. Dividing takes several times as long as multiplying by the reciprocal. That is exact: the
 * reciprocal is too large by less than 1, and so the product by less than dividend / 2^64, which is less than 1 / divisor. */
static inline uint64_t hearth_divide(uint64_t dividend, uint64_t divisor) {
  __extension__ typedef unsigned __int128 product;

  if (__builtin_expect((dividend >> 32 | (divisor - 2) / HEARTH_RECIPROCALS) == 0, true))
    return (uint64_t)((product)dividend * hearth_reciprocals[divisor - 2] >> 64);
  return dividend / divisor;
}

/* When and where a block's life ended, or is considered to end. */
typedef struct hearth_moment {
  uint64_t ns; /* since the start of the run */
  uint32_t cpu;
} hearth_moment;

#define NS_PER_MS UINT64_C(1000000)

/* The figures that are summed up, and those whose least and greatest values are kept. */
typedef struct hearth_figures {
  uint64_t size, accesses, lifetime, percent, density, lifetime_density;
} hearth_figures;

/* The fields that change with every record of a series: two lines of cache. */
typedef struct hearth_mib_sums {
  uint64_t count; /* of blocks; 0: the series is empty, whatever else it holds */
  uint64_t migrations, overlaps, same_alloc_cpu, same_dealloc_cpu;
  hearth_figures total;
  uint64_t alloc_ns, dealloc_ns; /* of the last record, as the CPUs */
  uint32_t alloc_cpu, dealloc_cpu;
} hearth_mib_sums;

/* Records of one context that followed each other. The sums that do not count are computed, and then become the sums
 * that count: a signal handler finds either all of a block in them or nothing. A block that is put in twice does no
 * harm to the rest, so the rest may have a block before it counts. */
typedef struct hearth_mib_series {
  uint64_t current; /* offset of the sums that count, in bytes from the first ones */
  hearth_mib_sums sums[2];
  hearth_figures least, greatest;
  uint64_t data_type_id;
  uint64_t sample_lifetime; /* of the last block that stands for others (clock.h); 0: none. Also while it is empty */
  uint64_t first_count;     /* blocks that the first record stands for */
  uint64_t first_alloc_ns;
  uint32_t first_alloc_cpu, first_dealloc_cpu;
} hearth_mib_series;

static inline const hearth_mib_sums *hearth_mib_series_sums_of(const hearth_mib_series *series) {
  return (const hearth_mib_sums *)((const char *)series->sums + series->current);
}

static inline hearth_mib_sums *hearth_mib_series_sums(hearth_mib_series *series) {
  return (hearth_mib_sums *)((char *)series->sums + series->current);
}

/* `current`, once the other sums are those that count. */
static inline uint64_t hearth_mib_series_other(const hearth_mib_series *series) {
  return sizeof(hearth_mib_sums) - series->current;
}

/* All figures of a series or block, with their fields in a record. */
#define HEARTH_EACH_FIGURE(DO)                                                                                         \
  DO(size, Size)                                                                                                       \
  DO(accesses, AccessCount)                                                                                            \
  DO(lifetime, Lifetime)                                                                                               \
  DO(percent, PercentUtilized)                                                                                         \
  DO(density, AccessDensity)                                                                                           \
  DO(lifetime_density, LifetimeAccessDensity)

/* Densities as in LLVM: accesses * 100 / size, size 0 counting as 1; over life: that * 1000 / lifetime in ms, at least 1. */
static inline hearth_figures hearth_figures_with_lifetime(const hearth_block *block, hearth_access_sum accesses,
                                                          uint64_t lifetime) {
  hearth_figures of = {.size = block->size, .accesses = accesses.accesses, .lifetime = lifetime};

  if (of.accesses > 0) {
    of.density = hearth_divide(of.accesses * 100, of.size ? of.size : 1);
    of.lifetime_density = of.density * 1000;
    if (of.lifetime >= 2 * NS_PER_MS)
      of.lifetime_density = hearth_divide(of.lifetime_density, of.lifetime / NS_PER_MS);
    of.percent = accesses.touched == accesses.granules ? 100 : hearth_divide(accesses.touched * 100, accesses.granules);
  }
  return of;
}

static inline uint64_t hearth_lifetime_until(const hearth_block *block, hearth_moment end) {
  return end.ns > block->alloc_ns ? end.ns - block->alloc_ns : 0;
}

static inline hearth_figures hearth_figures_of_block(const hearth_block *block, hearth_access_sum accesses,
                                                     hearth_moment end) {
  return hearth_figures_with_lifetime(block, accesses, hearth_lifetime_until(block, end));
}

/* The record of one block by itself, freed at `end`. */
static inline hearth_mib hearth_mib_of_block(const hearth_block *block, hearth_access_sum accesses, hearth_moment end) {
  hearth_figures of = hearth_figures_of_block(block, accesses, end);

  hearth_mib mib = {{
      .AllocCount = 1,
      .NumMigration = block->cpu != end.cpu,
      .AllocTimestamp = block->alloc_ns,
      .DeallocTimestamp = end.ns,
      .AllocCPU = block->cpu,
      .DeallocCPU = end.cpu,
      .DataTypeId = block->data_type_id,
  }};
#define SET_FIGURE(figure, Name) mib.Total##Name = mib.Min##Name = mib.Max##Name = of.figure;
  HEARTH_EACH_FIGURE(SET_FIGURE)
#undef SET_FIGURE
  return mib;
}

/* The figures that depend on the order: compare the first record of those that are added, which stands for `count`
 * blocks, with the last one before it. */
static inline void hearth_mib_compare(hearth_mib *into, uint64_t count, uint64_t alloc_ns, uint64_t alloc_cpu,
                                      uint64_t dealloc_cpu) {
  if (into->AllocCount > 0) {
    into->NumLifetimeOverlaps += alloc_ns < into->DeallocTimestamp ? count : 0;
    into->NumSameAllocCPU += alloc_cpu == into->AllocCPU ? count : 0;
    into->NumSameDeallocCPU += dealloc_cpu == into->DeallocCPU ? count : 0;
  }
}

static inline void hearth_mib_set_last(hearth_mib *into, const hearth_mib *last) {
  into->AllocTimestamp = last->AllocTimestamp;
  into->DeallocTimestamp = last->DeallocTimestamp;
  into->AllocCPU = last->AllocCPU;
  into->DeallocCPU = last->DeallocCPU;
}

/* Add the record of one more block, or of those it stands for: as hearth_mib_merge, and with the figures that depend on
 * the order of records: "most recent" fields become those of `one`, NumLifetimeOverlaps and NumSame* compare it with
 * the record before it. */
static inline void hearth_mib_follow(hearth_mib *into, const hearth_mib *one) {
  hearth_mib_compare(into, one->AllocCount, one->AllocTimestamp, one->AllocCPU, one->DeallocCPU);
  hearth_mib_merge(into, one);
  hearth_mib_set_last(into, one);
}

/* The record that a series comes to. */
static inline hearth_mib hearth_mib_of_series(const hearth_mib_series *series) {
  const hearth_mib_sums *sums = hearth_mib_series_sums_of(series);
  hearth_mib mib = {{
      .AllocCount = sums->count,
      .NumMigration = sums->migrations,
      .NumLifetimeOverlaps = sums->overlaps,
      .NumSameAllocCPU = sums->same_alloc_cpu,
      .NumSameDeallocCPU = sums->same_dealloc_cpu,
      .AllocTimestamp = sums->alloc_ns,
      .DeallocTimestamp = sums->dealloc_ns,
      .AllocCPU = sums->alloc_cpu,
      .DeallocCPU = sums->dealloc_cpu,
      .DataTypeId = series->data_type_id,
  }};
#define SET_FIGURE(figure, Name)                                                                                       \
  mib.Total##Name = sums->total.figure;                                                                                \
  mib.Min##Name = series->least.figure;                                                                                \
  mib.Max##Name = series->greatest.figure;
  HEARTH_EACH_FIGURE(SET_FIGURE)
#undef SET_FIGURE
  return mib;
}

/* As hearth_mib_follow, for the records of a series that is not empty. If two threads have series, the one that ended
 * last is the most recent. */
static inline void hearth_mib_append(hearth_mib *into, const hearth_mib_series *series) {
  hearth_mib sum = hearth_mib_of_series(series);

  hearth_mib_compare(into, series->first_count, series->first_alloc_ns, series->first_alloc_cpu,
                     series->first_dealloc_cpu);
  if (sum.DeallocTimestamp < into->DeallocTimestamp)
    hearth_mib_set_last(&sum, into);
  hearth_mib_merge(into, &sum);
  hearth_mib_set_last(into, &sum);
}

/* Before the first record of a series. The sums of none are made such that no block is like the one before. */
static __attribute__((noinline, unused)) void hearth_mib_series_begin(hearth_mib_series *series,
                                                                      const hearth_figures *of, uint64_t count,
                                                                      const hearth_block *block, uint32_t dealloc_cpu) {
  *hearth_mib_series_sums(series) = (hearth_mib_sums){.alloc_cpu = UINT32_MAX, .dealloc_cpu = UINT32_MAX};
  series->least = series->greatest = *of;
  series->data_type_id = 0;
  series->first_count = count;
  series->first_alloc_ns = block->alloc_ns;
  series->first_alloc_cpu = block->cpu;
  series->first_dealloc_cpu = dealloc_cpu;
}

/* The least and greatest values change seldom: mostly, a comparison is all. */
static inline void hearth_mib_series_widen(hearth_mib_series *series, const hearth_figures *of) {
#define WIDEN_FIGURE(figure, Name)                                                                                     \
  if (__builtin_expect(of->figure < series->least.figure, false))                                                      \
    series->least.figure = of->figure;                                                                                 \
  if (__builtin_expect(of->figure > series->greatest.figure, false))                                                   \
    series->greatest.figure = of->figure;
  HEARTH_EACH_FIGURE(WIDEN_FIGURE)
#undef WIDEN_FIGURE
}

/* The lifetime of a block that ends in the series: its own, or that of the last one which stands for others. Which ones do so is
 * drawn at random, so that means are right. */
static inline uint64_t hearth_mib_series_lifetime(hearth_mib_series *series, const hearth_block *block,
                                                  hearth_moment end) {
  uint64_t lifetime = hearth_lifetime_until(block, end);

  if (__builtin_expect(!(end.ns & HEARTH_CLOCK_KNOWN), true))
    return series->sample_lifetime ? series->sample_lifetime : lifetime;
  if (end.ns & HEARTH_CLOCK_SAMPLE)
    series->sample_lifetime = lifetime;
  return lifetime;
}

/* Make the sums that do not count those of the series with one more block, or the `count` blocks it stands for; done for each
 * block that ends. Counts of blocks do not become too large, other sums may. */
static inline void hearth_mib_series_add(hearth_mib_series *series, const hearth_block *block, const hearth_figures *of,
                                         hearth_moment end, uint64_t count) {
  const hearth_mib_sums *from = hearth_mib_series_sums_of(series);
  hearth_mib_sums *to = (hearth_mib_sums *)((char *)series->sums + hearth_mib_series_other(series));

  __asm__("" : "+r"(to)); /* computed once */
  if (__builtin_expect(from->count == 0, false))
    hearth_mib_series_begin(series, of, count, block, end.cpu);
  hearth_mib_series_widen(series, of);
  if (__builtin_expect(block->data_type_id != 0, false))
    series->data_type_id = hearth_merge_SAME(series->data_type_id, block->data_type_id);
#define ADD_FIGURE(figure, Name)                                                                                       \
  to->total.figure =                                                                                                   \
      hearth_merge_SUM(from->total.figure, count == 1 ? of->figure : hearth_repeat_SUM(of->figure, count));
  HEARTH_EACH_FIGURE(ADD_FIGURE)
#undef ADD_FIGURE
  to->count = from->count + count;
  to->migrations = from->migrations + (block->cpu != end.cpu ? count : 0);
  to->overlaps = from->overlaps + (block->alloc_ns < from->dealloc_ns ? count : 0);
  to->same_alloc_cpu = from->same_alloc_cpu + (block->cpu == from->alloc_cpu ? count : 0);
  to->same_dealloc_cpu = from->same_dealloc_cpu + (end.cpu == from->dealloc_cpu ? count : 0);
  to->alloc_ns = block->alloc_ns;
  to->dealloc_ns = end.ns;
  to->alloc_cpu = block->cpu;
  to->dealloc_cpu = end.cpu;
}

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

static inline bool hearth_mib_view_has_copy(const hearth_mib_view *view, uint32_t context) {
  return view->copied[context / 8] >> context % 8 & 1;
}

static inline hearth_mib hearth_mib_view_read(const hearth_mib_view *view, uint32_t context) {
  return hearth_mib_view_has_copy(view, context) ? view->copies[context] : hearth_mib_table_read(view->table, context);
}

/* The record's AllocCount, without a copy of the rest. */
static inline uint64_t hearth_mib_view_count(const hearth_mib_view *view, uint32_t context) {
  return hearth_mib_view_has_copy(view, context) ? view->copies[context].AllocCount
                                                 : view->table->rows[context].v[HEARTH_COL_AllocCount];
}

/* The view's own record of a context; changes are not seen in the table. */
hearth_mib *hearth_mib_view_change(hearth_mib_view *view, uint32_t context);

/* In histogram mode: as hearth_histograms_get and hearth_histograms_add; additions are not seen in the table. */
const uint64_t *hearth_mib_view_histogram(const hearth_mib_view *view, uint32_t context, uint32_t *ret_size);
void hearth_mib_view_add_histogram(hearth_mib_view *view, const hearth_block *block, uint64_t weight);

#endif
