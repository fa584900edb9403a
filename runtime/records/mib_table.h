/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One memory info block (MIB) for each context, fed by deallocations, through the threads' caches (blocks.h). */
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

/* Histogram mode: how often each 8 bytes of the blocks of a context were accessed, summed by their place in the
 * block. The counters are those of shadow.h. */

typedef struct hearth_histogram {
  uint64_t *sums; /* by place: of the bytes [8 * i, 8 * i + 8) of each block */
  uint32_t room;
} hearth_histogram;

typedef struct hearth_histograms {
  hearth_histogram *by_context; /* NULL: not in histogram mode */
  uint64_t *memory;             /* for sums: sparse, and taken in order */
  size_t taken, words;          /* of it; `taken` is atomic */
  uint32_t contexts;
  uint32_t most; /* places of a block that are kept, from its start */
} hearth_histograms;

/* All empty. False: no address space. */
bool hearth_histograms_create(hearth_histograms *histograms, uint32_t contexts, uint32_t most);
void hearth_histograms_destroy(hearth_histograms *histograms);

/* Add the counters of a block, each `weight` times. The caller has the context's lock. Counters without memory for
 * their sums are left out. */
void hearth_histograms_add(hearth_histograms *histograms, const hearth_block *block, uint64_t weight);

/* Sums of a context by place, up to the last that is not 0. They live until something is added. */
const uint64_t *hearth_histograms_get(const hearth_histograms *histograms, uint32_t context, uint32_t *ret_size);

/* Records of blocks, added in the order of deallocation. The functions are inline, as they run for each block that
 * ends. */

/* dividend / divisor, which is not 0. Some processors take several times as long for 64 bits, and nearly all numbers
 * are small. */
static inline uint64_t hearth_divide(uint64_t dividend, uint64_t divisor) {
  if (__builtin_expect((dividend | divisor) >> 32 == 0, true))
    return (uint32_t)dividend / (uint32_t)divisor;
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

/* Records of one context that followed each other. */
typedef struct hearth_mib_series {
  hearth_mib mib;           /* their sum; AllocCount 0: the series is empty, whatever else it holds */
  uint64_t sample_lifetime; /* of the last block that stands for others (clock.h); 0: none. Also while it is empty */
  uint64_t first_count;     /* blocks that the first record stands for */
  uint64_t first_alloc_ns;
  uint32_t first_alloc_cpu, first_dealloc_cpu;
} hearth_mib_series;

/* All figures of a series or block, with their fields in a record. */
#define HEARTH_EACH_FIGURE(DO)                                                                                         \
  DO(size, Size)                                                                                                       \
  DO(accesses, AccessCount)                                                                                            \
  DO(lifetime, Lifetime)                                                                                               \
  DO(percent, PercentUtilized)                                                                                         \
  DO(density, AccessDensity)                                                                                           \
  DO(lifetime_density, LifetimeAccessDensity)

/* Densities as in LLVM: accesses * 100 / size, size 0 counting as 1; over life: that * 1000 / lifetime in ms, at
 * least 1. */
static inline hearth_figures hearth_figures_with_lifetime(const hearth_block *block, hearth_access_sum accesses,
                                                          uint64_t lifetime) {
  hearth_figures of = {.size = block->size, .accesses = accesses.accesses, .lifetime = lifetime};

  if (of.accesses > 0) {
    of.density = hearth_divide(of.accesses * 100, of.size ? of.size : 1);
    of.lifetime_density = of.density * 1000;
    if (of.lifetime >= 2 * NS_PER_MS)
      of.lifetime_density = hearth_divide(of.lifetime_density, of.lifetime / NS_PER_MS);
    of.percent = accesses.touched == accesses.lines ? 100 : hearth_divide(accesses.touched * 100, accesses.lines);
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

/* As hearth_mib_follow, for the records of a series that is not empty. If two threads have series, the one that ended
 * last is the most recent. */
static inline void hearth_mib_append(hearth_mib *into, const hearth_mib_series *series) {
  hearth_mib sum = series->mib;

  hearth_mib_compare(into, series->first_count, series->first_alloc_ns, series->first_alloc_cpu,
                     series->first_dealloc_cpu);
  if (sum.DeallocTimestamp < into->DeallocTimestamp)
    hearth_mib_set_last(&sum, into);
  hearth_mib_merge(into, &sum);
  hearth_mib_set_last(into, &sum);
}

/* The first record of a series. No block is like the one before it. */
static __attribute__((noinline, unused)) void hearth_mib_series_begin(hearth_mib_series *series,
                                                                      const hearth_figures *of, uint64_t count,
                                                                      const hearth_block *block, uint32_t dealloc_cpu) {
  series->mib = (hearth_mib){{.AllocCPU = UINT64_MAX, .DeallocCPU = UINT64_MAX}};
#define SET_FIGURE(figure, Name) series->mib.Min##Name = series->mib.Max##Name = of->figure;
  HEARTH_EACH_FIGURE(SET_FIGURE)
#undef SET_FIGURE
  series->first_count = count;
  series->first_alloc_ns = block->alloc_ns;
  series->first_alloc_cpu = block->cpu;
  series->first_dealloc_cpu = dealloc_cpu;
}

/* The lifetime of a block that ends in the series: its own, or that of the last one which stands for others. Which
 * ones do so is drawn at random, so that means are right. */
static inline uint64_t hearth_mib_series_lifetime(hearth_mib_series *series, const hearth_block *block,
                                                  hearth_moment end) {
  uint64_t lifetime = hearth_lifetime_until(block, end);

  if (__builtin_expect(!(end.ns & HEARTH_CLOCK_KNOWN), true))
    return series->sample_lifetime ? series->sample_lifetime : lifetime;
  if (end.ns & HEARTH_CLOCK_SAMPLE)
    series->sample_lifetime = lifetime;
  return lifetime;
}

/* Add one more block, or the `count` blocks it stands for; done for each block that ends. The least and greatest
 * values change seldom: mostly, a comparison is all. Counts of blocks do not become too large, other sums may. */
static inline void hearth_mib_series_add(hearth_mib_series *series, const hearth_block *block, const hearth_figures *of,
                                         hearth_moment end, uint64_t count) {
  hearth_mib *mib = &series->mib;

  if (__builtin_expect(mib->AllocCount == 0, false))
    hearth_mib_series_begin(series, of, count, block, end.cpu);
  if (__builtin_expect(block->data_type_id != 0, false))
    mib->DataTypeId = hearth_merge_SAME(mib->DataTypeId, block->data_type_id);
#define ADD_FIGURE(figure, Name)                                                                                       \
  mib->Total##Name = hearth_merge_SUM(mib->Total##Name, hearth_repeat_SUM(of->figure, count));                         \
  if (__builtin_expect(of->figure < mib->Min##Name, false))                                                            \
    mib->Min##Name = of->figure;                                                                                       \
  if (__builtin_expect(of->figure > mib->Max##Name, false))                                                            \
    mib->Max##Name = of->figure;
  HEARTH_EACH_FIGURE(ADD_FIGURE)
#undef ADD_FIGURE
  mib->NumMigration += block->cpu != end.cpu ? count : 0;
  mib->NumLifetimeOverlaps += block->alloc_ns < mib->DeallocTimestamp ? count : 0;
  mib->NumSameAllocCPU += block->cpu == mib->AllocCPU ? count : 0;
  mib->NumSameDeallocCPU += end.cpu == mib->DeallocCPU ? count : 0;
  mib->AllocTimestamp = block->alloc_ns;
  mib->DeallocTimestamp = end.ns;
  mib->AllocCPU = block->cpu;
  mib->DeallocCPU = end.cpu;
  mib->AllocCount += count;
}

#define HEARTH_MIB_LOCKS 256

/* What a table has of a record: the fields before LiveAtExit. A run with many contexts has hardly anything else in
 * memory. The others are of a profile's moment, and are set in views. */
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

/* Records for the contexts [0, count), all empty. False: no address space. */
bool hearth_mib_table_create(hearth_mib_table *table, uint32_t count);

/* How many blocks the block stands for: more than 1 only in a sample. */
uint64_t hearth_mib_weight(const hearth_block *block);

/* The record of one block by itself, freed at `end`; or of all that it stands for. */
hearth_mib hearth_mib_of_block(const hearth_block *block, hearth_access_sum accesses, hearth_moment end);

/* hearth_mib_follow on the record of the block's context, which is below `count`; in histogram mode, the counters of
 * a block with header are added, too. False: the caller is a signal handler that must not wait for the record's
 * lock; nothing happened. */
bool hearth_mib_table_record(hearth_mib_table *table, const hearth_block *block, const hearth_mib *one);

/* Add the records of a series that is not empty, and empty it. False: as above. */
bool hearth_mib_table_append(hearth_mib_table *table, uint32_t context, hearth_mib_series *series);

/* Empty all records, giving the memory back. The table is locked, or the process has one thread. */
void hearth_mib_table_forget(hearth_mib_table *table);

/* Keep all other threads from recording. With signals blocked. Returns how many threads are recording and do not end
 * it. */
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
