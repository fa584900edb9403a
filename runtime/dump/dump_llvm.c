/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LLVM's raw layout, version 5 (hearth/llvm_files.h). Sizes saturate at 32 bits, times are in milliseconds. It has no
 * place for drops, utilisation and live blocks. */
#include "dump.h"
#include "mappings.h"
#include "scopes.h"

#include "hearth/llvm_files.h"
#include "hearth/raw.h"

#include <string.h>

static uint32_t saturate(uint64_t number) { return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX; }

static uint64_t to_ms(uint64_t ns) { return ns / 1000000; }

static void write_u64(hearth_file_output *output, uint64_t number) {
  hearth_file_output_write(output, &number, sizeof number);
}

/* The stack id is a key within the file only: the context id does. 0 would be taken for "none". */
static uint64_t stack_id(uint32_t context) { return (uint64_t)context + 1; }

static hearth_llvm_raw_mib llvm_mib_of(const hearth_mib *mib) {
  return (hearth_llvm_raw_mib){
      .alloc_count = saturate(mib->AllocCount),
      .total_access_count = mib->TotalAccessCount,
      .min_access_count = mib->MinAccessCount,
      .max_access_count = mib->MaxAccessCount,
      .total_size = mib->TotalSize,
      .min_size = saturate(mib->MinSize),
      .max_size = saturate(mib->MaxSize),
      .alloc_timestamp = saturate(to_ms(mib->AllocTimestamp)),
      .dealloc_timestamp = saturate(to_ms(mib->DeallocTimestamp)),
      .total_lifetime = to_ms(mib->TotalLifetime),
      .min_lifetime = saturate(to_ms(mib->MinLifetime)),
      .max_lifetime = saturate(to_ms(mib->MaxLifetime)),
      .alloc_cpu = (uint32_t)mib->AllocCPU,
      .dealloc_cpu = (uint32_t)mib->DeallocCPU,
      .num_migrated_cpu = saturate(mib->NumMigration),
      .num_lifetime_overlaps = saturate(mib->NumLifetimeOverlaps),
      .num_same_alloc_cpu = saturate(mib->NumSameAllocCPU),
      .num_same_dealloc_cpu = saturate(mib->NumSameDeallocCPU),
      .data_type_id = mib->DataTypeId,
      .total_access_density = mib->TotalAccessDensity,
      .min_access_density = saturate(mib->MinAccessDensity),
      .max_access_density = saturate(mib->MaxAccessDensity),
      .total_lifetime_access_density = mib->TotalLifetimeAccessDensity,
      .min_lifetime_access_density = saturate(mib->MinLifetimeAccessDensity),
      .max_lifetime_access_density = saturate(mib->MaxLifetimeAccessDensity),
  };
}

static void write_segments(hearth_file_output *output) {
  write_u64(output, hearth_mappings_count());
  for (const hearth_mapping *row = NULL; (row = hearth_mappings_next(row));) {
    hearth_llvm_raw_segment segment = {.start = row->start + row->moved,
                                       .end = row->end + row->moved,
                                       .offset = row->bias + row->moved,
                                       .build_id_size = row->build_id_size};
    memcpy(segment.build_id, row->build_id, sizeof segment.build_id);
    hearth_file_output_write(output, &segment, sizeof segment);
  }
}

/* LLVM's readers reject records without any address: those of the empty stack are left out. */
static bool is_written(uint32_t context) { return context != 0; }

static uint64_t count_written(const hearth_snapshot *snapshot) {
  uint64_t count = 0;

  for (uint32_t i = 0; i < snapshot->count; ++i)
    count += is_written(hearth_snapshot_context(snapshot, i));
  return count;
}

static void llvm_write_mib(hearth_file_output *output, const hearth_snapshot *snapshot, uint32_t context) {
  hearth_mib all = hearth_snapshot_mib(snapshot, context);
  hearth_llvm_raw_mib mib = llvm_mib_of(&all);
  uint32_t size = 0;
  const uint64_t *sums = NULL;

  if (hearth_snapshot_has_histograms(snapshot))
    sums = hearth_snapshot_histogram(snapshot, context, &size);
  mib.histogram_size = size;
  write_u64(output, stack_id(context));
  hearth_file_output_write(output, &mib, sizeof mib);
  for (uint32_t i = 0; i < size; ++i) {
    uint16_t counter = hearth_llvm_raw_put_counter(sums[i]);
    hearth_file_output_write(output, &counter, sizeof counter);
  }
}

static void llvm_write_mibs(hearth_file_output *output, const hearth_snapshot *snapshot) {
  write_u64(output, count_written(snapshot));
  for (uint32_t i = 0; i < snapshot->count; ++i)
    if (is_written(hearth_snapshot_context(snapshot, i)))
      llvm_write_mib(output, snapshot, hearth_snapshot_context(snapshot, i));
  hearth_file_output_pad(output);
}

/* This layout has no place for names. The rest of a context's stack is not empty. */
static const uint64_t *calls_of(const hearth_snapshot *snapshot, uint32_t context, uint32_t *ret_depth) {
  static uint64_t pcs[HEARTH_STACK_MOST]; /* signal stacks are small; the dumping thread has a lock */

  *ret_depth = hearth_depot_copy(snapshot->depot, context, pcs);
  while (*ret_depth > 0 && HEARTH_RAW_IS_NAMED(pcs[*ret_depth - 1], HEARTH_RAW_SCOPE_PC))
    --*ret_depth;
  if (*ret_depth == 0 || !HEARTH_RAW_IS_NAMED(pcs[0], HEARTH_RAW_HEAP_PC))
    return pcs;
  --*ret_depth;
  return pcs + 1;
}

static void write_llvm_stacks(hearth_file_output *output, const hearth_snapshot *snapshot) {
  write_u64(output, count_written(snapshot));
  for (uint32_t i = 0; i < snapshot->count; ++i)
    if (is_written(hearth_snapshot_context(snapshot, i))) {
      uint32_t depth;
      const uint64_t *pcs = calls_of(snapshot, hearth_snapshot_context(snapshot, i), &depth);
      write_u64(output, stack_id(hearth_snapshot_context(snapshot, i)));
      write_u64(output, depth);
      hearth_file_output_write(output, pcs, depth * sizeof *pcs);
    }
}

int hearth_dump_llvm(hearth_file_output *output, const hearth_snapshot *snapshot) {
  hearth_llvm_raw_header header = {
      .magic = HEARTH_LLVM_RAW_MAGIC, .version = HEARTH_LLVM_RAW_VERSION, .segment_offset = sizeof header};

  hearth_file_output_write(output, &header, sizeof header); /* a placeholder: the offsets come last */
  write_segments(output);
  header.mib_offset = output->size;
  llvm_write_mibs(output, snapshot);
  header.stack_offset = output->size;
  write_llvm_stacks(output, snapshot);
  header.total_size = output->size;
  hearth_file_output_patch(output, 0, &header, sizeof header);
  return 0;
}
