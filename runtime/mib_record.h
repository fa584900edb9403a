/* Records of blocks, added in the order of deallocation. Inline: done for each block that ends. */
#ifndef HEARTH_RUNTIME_MIB_RECORD_H
#define HEARTH_RUNTIME_MIB_RECORD_H

#include "heap.h"
#include "hearth/mib.h"
#include "shadow.h"

/* When and where a block's life ended, or is considered to end. */
typedef struct hearth_moment {
  uint64_t ns; /* since the start of the run */
  uint32_t cpu;
} hearth_moment;

/* Records of one context that followed each other. */
typedef struct hearth_mib_run {
  hearth_mib sum;       /* AllocCount 0: empty, whatever else it holds */
  uint64_t first_count; /* blocks that the first of them stands for */
  uint64_t first_alloc_ns;
  uint32_t first_alloc_cpu, first_dealloc_cpu;
} hearth_mib_run;

/* Dividing 64 bits takes several times as long as dividing 32, and nearly all numbers here are small. */
static inline uint64_t hearth_divide(uint64_t dividend, uint64_t divisor) {
  return (dividend | divisor) >> 32 ? dividend / divisor : (uint32_t)dividend / (uint32_t)divisor;
}

/* What is summed up, and of what the least and greatest are kept. */
typedef struct hearth_figures {
  uint64_t size, accesses, lifetime, percent, density, lifetime_density;
} hearth_figures;

/* Densities as in LLVM: accesses * 100 / size, size 0 counting as 1; over life: that * 1000 / lifetime in ms, at least 1. */
static inline hearth_figures hearth_figures_of_block(const hearth_block *block, hearth_access_sum accesses,
                                                     hearth_moment end) {
  hearth_figures of = {.size = block->size,
                       .accesses = accesses.accesses,
                       .lifetime = end.ns > block->alloc_ns ? end.ns - block->alloc_ns : 0};
  uint64_t lifetime_ms = of.lifetime / 1000000;

  if (of.accesses > 0) {
    of.density = hearth_divide(of.accesses * 100, of.size ? of.size : 1);
    of.lifetime_density = lifetime_ms > 1 ? hearth_divide(of.density * 1000, lifetime_ms) : of.density * 1000;
    of.percent = accesses.touched == accesses.granules ? 100 : hearth_divide(accesses.touched * 100, accesses.granules);
  }
  return of;
}

/* The record of one block by itself, freed at `end`. */
static inline hearth_mib hearth_mib_of_block(const hearth_block *block, hearth_access_sum accesses, hearth_moment end) {
  hearth_figures of = hearth_figures_of_block(block, accesses, end);

  return (hearth_mib){{
      .AllocCount = 1,
      .MinSize = of.size,
      .MaxSize = of.size,
      .MinAccessCount = of.accesses,
      .MaxAccessCount = of.accesses,
      .MinLifetime = of.lifetime,
      .MaxLifetime = of.lifetime,
      .NumMigration = block->cpu != end.cpu,
      .TotalSize = of.size,
      .TotalAccessCount = of.accesses,
      .TotalLifetime = of.lifetime,
      .TotalPercentUtilized = of.percent,
      .MinPercentUtilized = of.percent,
      .MaxPercentUtilized = of.percent,
      .AllocTimestamp = block->alloc_ns,
      .DeallocTimestamp = end.ns,
      .AllocCPU = block->cpu,
      .DeallocCPU = end.cpu,
      .DataTypeId = block->data_type_id,
      .TotalAccessDensity = of.density,
      .MinAccessDensity = of.density,
      .MaxAccessDensity = of.density,
      .TotalLifetimeAccessDensity = of.lifetime_density,
      .MinLifetimeAccessDensity = of.lifetime_density,
      .MaxLifetimeAccessDensity = of.lifetime_density,
  }};
}

/* What depends on the order: compare the first record of those that are added, which stands for `count` blocks, with the
 * last one before it. */
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

/* Add the record of one more block, or of those it stands for: as hearth_mib_merge, and with what depends on the order of
 * records: "most recent" fields become those of `one`, NumLifetimeOverlaps and NumSame* compare it with the record before
 * it. */
static inline void hearth_mib_follow(hearth_mib *into, const hearth_mib *one) {
  hearth_mib_compare(into, one->AllocCount, one->AllocTimestamp, one->AllocCPU, one->DeallocCPU);
  hearth_mib_merge(into, one);
  hearth_mib_set_last(into, one);
}

/* The same for the records of a run that is not empty. Of two threads' runs, that which ended last is the most recent. */
static inline void hearth_mib_append(hearth_mib *into, const hearth_mib_run *run) {
  bool recent = run->sum.DeallocTimestamp >= into->DeallocTimestamp;

  hearth_mib_compare(into, run->first_count, run->first_alloc_ns, run->first_alloc_cpu, run->first_dealloc_cpu);
  hearth_mib last = recent ? run->sum : *into;
  hearth_mib_merge(into, &run->sum);
  hearth_mib_set_last(into, &last);
}

/* The same for a record that is added to a run. */
static inline void hearth_mib_run_follow(hearth_mib_run *run, const hearth_mib *one) {
  if (run->sum.AllocCount == 0)
    *run = (hearth_mib_run){*one, one->AllocCount, one->AllocTimestamp, (uint32_t)one->AllocCPU,
                            (uint32_t)one->DeallocCPU};
  else
    hearth_mib_follow(&run->sum, one);
}

/* What hearth_mib_run_follow does with a block's record, without making it first: *to becomes *run with the block added.
 * Every free of a run that is not sampled does this. What is least and greatest changes seldom: mostly, comparing is all. */
static inline void hearth_mib_run_add(hearth_mib_run *restrict to, const hearth_mib_run *restrict run,
                                      const hearth_block *block, hearth_access_sum accesses, hearth_moment end) {
  const hearth_mib *from = &run->sum;
  hearth_mib *sum = &to->sum;

  *to = *run;
  if (__builtin_expect(from->AllocCount == 0, false)) {
    hearth_mib one = hearth_mib_of_block(block, accesses, end);
    hearth_mib_run_follow(to, &one);
    return;
  }
  hearth_figures of = hearth_figures_of_block(block, accesses, end);
  hearth_mib_compare(sum, 1, block->alloc_ns, block->cpu, end.cpu);
#define ADD_FIGURE(figure, Total, Min, Max)                                                                            \
  sum->Total = hearth_merge_SUM(from->Total, of.figure);                                                               \
  if (__builtin_expect(of.figure < from->Min, false))                                                                  \
    sum->Min = of.figure;                                                                                              \
  if (__builtin_expect(of.figure > from->Max, false))                                                                  \
  sum->Max = of.figure
  ADD_FIGURE(size, TotalSize, MinSize, MaxSize);
  ADD_FIGURE(accesses, TotalAccessCount, MinAccessCount, MaxAccessCount);
  ADD_FIGURE(lifetime, TotalLifetime, MinLifetime, MaxLifetime);
  ADD_FIGURE(percent, TotalPercentUtilized, MinPercentUtilized, MaxPercentUtilized);
  ADD_FIGURE(density, TotalAccessDensity, MinAccessDensity, MaxAccessDensity);
  ADD_FIGURE(lifetime_density, TotalLifetimeAccessDensity, MinLifetimeAccessDensity, MaxLifetimeAccessDensity);
#undef ADD_FIGURE
  sum->AllocCount = from->AllocCount + 1;
  sum->NumMigration = from->NumMigration + (block->cpu != end.cpu);
  sum->DataTypeId = hearth_merge_SAME(from->DataTypeId, block->data_type_id);
  sum->AllocTimestamp = block->alloc_ns;
  sum->DeallocTimestamp = end.ns;
  sum->AllocCPU = block->cpu;
  sum->DeallocCPU = end.cpu;
}

#endif
