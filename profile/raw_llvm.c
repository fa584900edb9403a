/* Reader of raw profiles in LLVM's layout, versions 3 (LLVM 16-18), 4 (19-21) and 5 (22), one dump at a time. The
 * layout has no checksum: what can be checked is that every offset, count and reference stays inside the dump. */
#include "raw_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/raw_llvm.h"

#define NS_PER_MS UINT64_C(1000000)

/* What differs between the versions: bytes of a MIB in the file, bytes of one histogram counter behind it. */
typedef struct version_layout {
  size_t mib_size, counter_size;
} version_layout;

typedef struct cursor {
  const hearth_raw_input *in;
  size_t at, end; /* from the dump's begin */
} cursor;

/* A stack's id and leaf node; sorted by id. */
typedef struct stack_entry {
  uint64_t id;
  uint32_t leaf;
} stack_entry;

static bool layout_of(uint64_t version, version_layout *ret) {
  switch (version) {
  case 3: /* no histograms */
    *ret = (version_layout){offsetof(hearth_llvm_raw_mib, histogram_size), 0};
    return true;
  case 4:
    *ret = (version_layout){sizeof(hearth_llvm_raw_mib), sizeof(uint64_t)};
    return true;
  case 5:
    *ret = (version_layout){sizeof(hearth_llvm_raw_mib), sizeof(uint16_t)};
    return true;
  default:
    return false;
  }
}

static bool take(cursor *c, void *into, size_t size) {
  if (c->end - c->at < size)
    return false;
  memcpy(into, c->in->data + c->in->begin + c->at, size);
  c->at += size;
  return true;
}

/* Read the count that a section begins with, and check that as many rows of at least `least_row` bytes can follow. */
static hearth_status take_count(cursor *c, size_t least_row, uint64_t *ret, hearth_error *err) {
  size_t at = c->at;
  if (!take(c, ret, sizeof *ret) || *ret > (c->end - c->at) / least_row)
    return hearth_raw_fail(c->in, at, HEARTH_E_CORRUPT, err, "a section's count is larger than the profile");
  return HEARTH_OK;
}

static hearth_status check_header(const hearth_raw_input *in, hearth_llvm_raw_header *header, version_layout *layout,
                                  hearth_error *err) {
  size_t rest = in->size - in->begin;
  if (rest < sizeof *header)
    return hearth_raw_fail(in, 0, HEARTH_E_TRUNCATED, err, "the file ends inside the header");
  memcpy(header, in->data + in->begin, sizeof *header);
  if (!layout_of(header->version, layout)) {
    char reason[96];
    snprintf(reason, sizeof reason, "LLVM raw profile version %llu, this command reads versions 3 to 5",
             (unsigned long long)header->version);
    return hearth_raw_fail(in, 8, HEARTH_E_VERSION, err, reason);
  }
  if (header->total_size < sizeof *header)
    return hearth_raw_fail(in, 16, HEARTH_E_CORRUPT, err, "impossible total size");
  if (header->total_size > rest)
    return hearth_raw_fail(in, rest, HEARTH_E_TRUNCATED, err, "the file ends before the profile does");
  if (header->segment_offset > header->total_size || header->mib_offset > header->total_size ||
      header->stack_offset > header->total_size)
    return hearth_raw_fail(in, 24, HEARTH_E_CORRUPT, err, "a section lies outside the profile");
  return HEARTH_OK;
}

static hearth_status read_segments(cursor c, hearth_raw_dump *dump, hearth_error *err) {
  uint64_t count = 0;
  hearth_status status = take_count(&c, sizeof(hearth_llvm_raw_segment), &count, err);
  if (status != HEARTH_OK)
    return status;
  dump->maps = calloc(count + 1, sizeof *dump->maps);
  if (!dump->maps)
    return hearth_raw_fail(c.in, c.at, HEARTH_E_NOMEM, err, "out of memory");
  for (uint64_t i = 0; i < count; ++i) {
    hearth_llvm_raw_segment row;
    size_t at = c.at;
    if (!take(&c, &row, sizeof row) || row.start >= row.end || row.build_id_size > sizeof row.build_id)
      return hearth_raw_fail(c.in, at, HEARTH_E_CORRUPT, err, "impossible segment");
    hearth_raw_map *map = &dump->maps[dump->map_count++];
    *map = (hearth_raw_map){
        .start = row.start, .end = row.end, .base = row.offset, .build_id_size = (uint32_t)row.build_id_size};
    memcpy(map->build_id, row.build_id, row.build_id_size);
  }
  return HEARTH_OK;
}

static int compare_stacks(const void *a, const void *b) {
  const stack_entry *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

/* One stack, leaf first in the file: its root becomes the first node, so that callers precede. */
static hearth_status read_stack(cursor *c, hearth_raw_dump *dump, stack_entry *ret, hearth_error *err) {
  size_t at = c->at;
  uint64_t depth = 0;
  if (!take(c, &ret->id, sizeof ret->id) || !take(c, &depth, sizeof depth) || depth > (c->end - c->at) / 8)
    return hearth_raw_fail(c->in, at, HEARTH_E_CORRUPT, err, "a call stack runs past the end");
  for (uint64_t i = 0; i < depth; ++i) {
    hearth_raw_node *node = &dump->nodes[dump->node_count + (depth - 1 - i)];
    take(c, &node->pc, sizeof node->pc);
    node->parent = i + 1 == depth ? HEARTH_RAW_NO_PARENT : (uint32_t)(dump->node_count + (depth - 2 - i));
  }
  dump->node_count += depth;
  ret->leaf = depth ? (uint32_t)(dump->node_count - 1) : HEARTH_RAW_NO_PARENT;
  return HEARTH_OK;
}

static hearth_status read_stacks(cursor c, hearth_raw_dump *dump, stack_entry **ret_stacks, size_t *ret_count,
                                 hearth_error *err) {
  uint64_t count = 0;
  hearth_status status = take_count(&c, 2 * sizeof(uint64_t), &count, err);
  if (status != HEARTH_OK)
    return status;
  size_t most_nodes = (c.end - c.at) / sizeof(uint64_t);
  if (most_nodes >= HEARTH_RAW_NO_PARENT)
    return hearth_raw_fail(c.in, c.at, HEARTH_E_FULL, err, "more call stacks than can be numbered");
  dump->nodes = calloc(most_nodes + 1, sizeof *dump->nodes);
  *ret_stacks = calloc(count + 1, sizeof **ret_stacks);
  if (!dump->nodes || !*ret_stacks)
    return hearth_raw_fail(c.in, c.at, HEARTH_E_NOMEM, err, "out of memory");
  for (uint64_t i = 0; i < count; ++i) {
    status = read_stack(&c, dump, &(*ret_stacks)[i], err);
    if (status != HEARTH_OK)
      return status;
  }
  qsort(*ret_stacks, count, sizeof **ret_stacks, compare_stacks);
  *ret_count = count;
  return HEARTH_OK;
}

static uint64_t ms_to_ns(uint64_t ms) { return ms > UINT64_MAX / NS_PER_MS ? UINT64_MAX : ms * NS_PER_MS; }

/* Whether a block was still live at exit, and how many of its granules were touched, LLVM does not record: 0. */
static hearth_mib convert_mib(const hearth_llvm_raw_mib *from) {
  return (hearth_mib){{
      .AllocCount = from->alloc_count,
      .MinSize = from->min_size,
      .MaxSize = from->max_size,
      .MinAccessCount = from->min_access_count,
      .MaxAccessCount = from->max_access_count,
      .MinLifetime = ms_to_ns(from->min_lifetime),
      .MaxLifetime = ms_to_ns(from->max_lifetime),
      .NumMigration = from->num_migrated_cpu,
      .NumLifetimeOverlaps = from->num_lifetime_overlaps,
      .NumSameAllocCPU = from->num_same_alloc_cpu,
      .NumSameDeallocCPU = from->num_same_dealloc_cpu,
      .TotalSize = from->total_size,
      .TotalAccessCount = from->total_access_count,
      .TotalLifetime = ms_to_ns(from->total_lifetime),
      .AllocTimestamp = ms_to_ns(from->alloc_timestamp),
      .DeallocTimestamp = ms_to_ns(from->dealloc_timestamp),
      .AllocCPU = from->alloc_cpu,
      .DeallocCPU = from->dealloc_cpu,
      .DataTypeId = from->data_type_id,
      .TotalAccessDensity = from->total_access_density,
      .MinAccessDensity = from->min_access_density,
      .MaxAccessDensity = from->max_access_density,
      .TotalLifetimeAccessDensity = from->total_lifetime_access_density,
      .MinLifetimeAccessDensity = from->min_lifetime_access_density,
      .MaxLifetimeAccessDensity = from->max_lifetime_access_density,
  }};
}

static hearth_status read_record(cursor *c, const version_layout *layout, const stack_entry *stacks, size_t stack_count,
                                 hearth_raw_record *ret, hearth_error *err) {
  size_t at = c->at;
  stack_entry key = {0};
  hearth_llvm_raw_mib mib = {0};
  if (!take(c, &key.id, sizeof key.id) || !take(c, &mib, layout->mib_size))
    return hearth_raw_fail(c->in, at, HEARTH_E_CORRUPT, err, "a MIB runs past the end");
  uint64_t histogram_bytes = (uint64_t)mib.histogram_size * layout->counter_size;
  if (histogram_bytes > c->end - c->at)
    return hearth_raw_fail(c->in, at, HEARTH_E_CORRUPT, err, "a MIB's histogram runs past the end");
  c->at += histogram_bytes;
  const stack_entry *stack = bsearch(&key, stacks, stack_count, sizeof *stacks, compare_stacks);
  if (!stack)
    return hearth_raw_fail(c->in, at, HEARTH_E_CORRUPT, err, "a MIB's call stack does not exist");
  *ret = (hearth_raw_record){.stack = stack->leaf, .mib = convert_mib(&mib)};
  return HEARTH_OK;
}

/* The layout does not store how long the program ran. Blocks still live at the dump get its time as their deallocation
 * time, so the greatest of those is the best lower bound. Nor does it store whether accesses were counted: not one
 * access in all means that the program was not instrumented, and nothing in it must be taken for cold. */
static hearth_status read_records(cursor c, const version_layout *layout, const stack_entry *stacks, size_t stack_count,
                                  hearth_raw_dump *dump, hearth_error *err) {
  uint64_t count = 0;
  hearth_status status = take_count(&c, sizeof(uint64_t) + layout->mib_size, &count, err);
  if (status != HEARTH_OK)
    return status;
  dump->records = calloc(count + 1, sizeof *dump->records);
  if (!dump->records)
    return hearth_raw_fail(c.in, c.at, HEARTH_E_NOMEM, err, "out of memory");
  for (uint64_t i = 0; i < count; ++i) {
    hearth_raw_record *record = &dump->records[i];
    status = read_record(&c, layout, stacks, stack_count, record, err);
    if (status != HEARTH_OK)
      return status;
    dump->record_count = i + 1;
    if (record->mib.DeallocTimestamp > dump->duration_ns)
      dump->duration_ns = record->mib.DeallocTimestamp;
    if (record->mib.TotalAccessCount > 0)
      dump->accesses_counted = true;
  }
  return HEARTH_OK;
}

hearth_status hearth_raw_read_llvm(const hearth_raw_input *in, hearth_raw_dump *dump, size_t *ret_size,
                                   hearth_error *err) {
  hearth_llvm_raw_header header;
  version_layout layout = {0};
  stack_entry *stacks = NULL;
  size_t stack_count = 0;
  hearth_status status = check_header(in, &header, &layout, err);
  if (status != HEARTH_OK)
    return status;
  cursor c = {.in = in, .end = header.total_size};
  c.at = header.segment_offset;
  status = read_segments(c, dump, err);
  c.at = header.stack_offset;
  if (status == HEARTH_OK)
    status = read_stacks(c, dump, &stacks, &stack_count, err);
  c.at = header.mib_offset;
  if (status == HEARTH_OK)
    status = read_records(c, &layout, stacks, stack_count, dump, err);
  free(stacks);
  dump->kind = HEARTH_RAW_LOAD_BIAS;
  *ret_size = header.total_size;
  return status;
}
