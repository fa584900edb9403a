/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reader of raw profiles in LLVM's layout, versions 3 (LLVM 16-18), 4 (19-21) and 5 (22), one dump at a time. The
 * layout has no checksum: the reader can only check that every offset, count and reference stays inside the dump. */
#include "raw_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/llvm_files.h"
#include "id_table.h"

#define NS_PER_MS UINT64_C(1000000)

/* The differences between the versions: bytes of a MIB in the file, bytes of one histogram counter behind it. */
typedef struct version_layout {
  size_t mib_size, counter_size;
} version_layout;

typedef struct cursor {
  const hearth_raw_input *in;
  size_t at, end; /* from the dump's begin */
} cursor;

/* A stack's id, which is a hash, and its leaf node. */
typedef struct stack_entry {
  uint64_t id;
  uint32_t leaf;
} stack_entry;

struct hearth_raw_stacks {
  stack_entry *entries;
  id_table by_id;
};

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

static bool llvm_layout_take(cursor *c, void *into, size_t size) {
  if (c->end - c->at < size)
    return false;
  memcpy(into, c->in->file->data + c->in->begin + c->at, size);
  c->at += size;
  return true;
}

/* Read the count that a section begins with, and check that as many rows of at least `least_row` bytes can follow. */
static hearth_status take_count(cursor *c, size_t least_row, uint64_t *ret, hearth_error *err) {
  size_t at = c->at;
  if (!llvm_layout_take(c, ret, sizeof *ret) || *ret > (c->end - c->at) / least_row)
    return hearth_raw_fail(c->in, at, HEARTH_E_CORRUPT, err, "a section's count is larger than the profile");
  return HEARTH_OK;
}

static hearth_status llvm_layout_check_header(const hearth_raw_input *in, hearth_llvm_raw_header *header,
                                              version_layout *layout, hearth_error *err) {
  size_t rest = in->file->size - in->begin;
  if (rest < sizeof *header)
    return hearth_raw_fail(in, 0, HEARTH_E_TRUNCATED, err, "the file ends inside the header");
  memcpy(header, in->file->data + in->begin, sizeof *header);
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

static hearth_status llvm_layout_read_segments(cursor c, hearth_raw_dump *dump, hearth_error *err) {
  uint64_t count = 0;
  hearth_status status = take_count(&c, sizeof(hearth_llvm_raw_segment), &count, err);
  if (status != HEARTH_OK)
    return status;
  dump->maps = calloc(count + 1, sizeof *dump->maps);
  HEARTH_TRY(hearth_check_memory(dump->maps, err));
  for (uint64_t i = 0; i < count; ++i) {
    hearth_llvm_raw_segment row;
    size_t at = c.at;
    if (!llvm_layout_take(&c, &row, sizeof row) || row.start >= row.end || row.build_id_size > sizeof row.build_id)
      return hearth_raw_fail(c.in, at, HEARTH_E_CORRUPT, err, "impossible segment");
    hearth_raw_map *map = &dump->maps[dump->map_count++];
    *map = (hearth_raw_map){
        .start = row.start, .end = row.end, .base = row.offset, .build_id_size = (uint32_t)row.build_id_size};
    memcpy(map->build_id, row.build_id, row.build_id_size);
  }
  return HEARTH_OK;
}

/* The file has each stack as a list of its own; here they become one forest. */
typedef struct forest {
  hearth_raw_dump *dump;
  id_table by_content;
  size_t room;
} forest;

static bool llvm_layout_equal_node(const void *owner, uint32_t row, const void *key) {
  const hearth_raw_stack_node *node = &((const hearth_raw_dump *)owner)->nodes[row], *wanted = key;
  return node->pc == wanted->pc && node->parent == wanted->parent;
}

static hearth_status llvm_layout_intern_node(forest *f, const hearth_raw_input *in, uint64_t pc, uint32_t *parent,
                                             hearth_error *err) {
  hearth_raw_dump *dump = f->dump;
  hearth_raw_stack_node key = {.pc = pc, .parent = *parent};
  uint64_t hash = id_table_mix(pc ^ (uint64_t)*parent << 32 ^ *parent);
  *parent = id_table_find(&f->by_content, hash, llvm_layout_equal_node, dump, &key);
  if (*parent != HEARTH_NONE)
    return HEARTH_OK;
  if (dump->node_count == HEARTH_RAW_NO_PARENT - 1)
    return hearth_raw_fail(in, 0, HEARTH_E_FULL, err, "more call stacks than can be numbered");
  HEARTH_TRY(id_table_reserve_row(&f->by_content, &dump->nodes, &f->room, dump->node_count, sizeof *dump->nodes, err));
  *parent = (uint32_t)dump->node_count++;
  dump->nodes[*parent] = key;
  id_table_insert(&f->by_content, hash, *parent);
  return HEARTH_OK;
}

/* One stack, leaf first in the file: from its root on, so that callers precede. */
static hearth_status read_stack(cursor *c, forest *f, stack_entry *ret, hearth_error *err) {
  size_t at = c->at;
  uint64_t depth = 0, pc;
  if (!llvm_layout_take(c, &ret->id, sizeof ret->id) || !llvm_layout_take(c, &depth, sizeof depth) ||
      depth > (c->end - c->at) / sizeof pc)
    return hearth_raw_fail(c->in, at, HEARTH_E_CORRUPT, err, "a call stack runs past the end");
  ret->leaf = HEARTH_RAW_NO_PARENT;
  for (uint64_t i = depth; i-- > 0;) {
    memcpy(&pc, c->in->file->data + c->in->begin + c->at + i * sizeof pc, sizeof pc);
    HEARTH_TRY(llvm_layout_intern_node(f, c->in, pc, &ret->leaf, err));
  }
  c->at += depth * sizeof pc;
  hearth_raw_passed(c->in, at, c->at);
  return HEARTH_OK;
}

static bool llvm_layout_equal_stack(const void *owner, uint32_t row, const void *id) {
  return ((const hearth_raw_stacks *)owner)->entries[row].id == *(const uint64_t *)id;
}

static hearth_status fill_stacks(cursor *c, uint64_t count, forest *f, hearth_raw_stacks *stacks, hearth_error *err) {
  for (uint64_t i = 0; i < count; ++i) {
    HEARTH_TRY(read_stack(c, f, &stacks->entries[i], err));
    HEARTH_TRY(hearth_check_memory(id_table_reserve(&stacks->by_id), err));
    id_table_insert(&stacks->by_id, id_table_mix(stacks->entries[i].id), (uint32_t)i);
  }
  return HEARTH_OK;
}

static hearth_status read_stacks(cursor c, hearth_raw_dump *dump, hearth_error *err) {
  uint64_t count = 0;
  hearth_status status = take_count(&c, 2 * sizeof(uint64_t), &count, err);
  if (status != HEARTH_OK)
    return status;
  if (count >= HEARTH_NONE)
    return hearth_raw_fail(c.in, c.at, HEARTH_E_FULL, err, "more call stacks than can be numbered");
  dump->stacks = calloc(1, sizeof *dump->stacks);
  if (dump->stacks)
    dump->stacks->entries = calloc(count + 1, sizeof *dump->stacks->entries);
  HEARTH_TRY(hearth_check_memory(dump->stacks && dump->stacks->entries, err));
  forest f = {.dump = dump};
  status = fill_stacks(&c, count, &f, dump->stacks, err);
  free(f.by_content.slots);
  return status;
}

void hearth_raw_stacks_free(hearth_raw_stacks *stacks) {
  if (!stacks)
    return;
  HEARTH_FREE(stacks->entries, stacks->by_id.slots, stacks);
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

/* A record as it lies in the file. */
typedef struct stored_record {
  uint64_t stack_id;
  hearth_llvm_raw_mib mib;
} stored_record;

/* The counters that the cursor stands at. */
static void llvm_layout_read_histogram(cursor *c, const version_layout *layout, uint64_t size, uint64_t *counts) {
  for (uint64_t i = 0; i < size; ++i) {
    uint64_t count = 0; /* little-endian: the lower bytes come first */
    llvm_layout_take(c, &count, layout->counter_size);
    counts[i] = layout->counter_size == sizeof(uint16_t) ? hearth_llvm_raw_counter((uint16_t)count) : count;
  }
}

/* To the histogram that follows the record; it lies in the dump. */
static bool llvm_layout_take_record(cursor *c, const version_layout *layout, stored_record *ret) {
  ret->mib = (hearth_llvm_raw_mib){0};
  if (!llvm_layout_take(c, &ret->stack_id, sizeof ret->stack_id) || !llvm_layout_take(c, &ret->mib, layout->mib_size))
    return false;
  uint64_t histogram_bytes = (uint64_t)ret->mib.histogram_size * layout->counter_size;
  return histogram_bytes <= c->end - c->at;
}

/* Row of the stack with this id, or HEARTH_NONE. */
static uint32_t llvm_layout_find_stack(const hearth_raw_stacks *stacks, uint64_t id) {
  return id_table_find(&stacks->by_id, id_table_mix(id), llvm_layout_equal_stack, stacks, &id);
}

static void llvm_layout_read_record(hearth_raw_dump *dump, hearth_raw_record *ret) {
  cursor c = {.in = &dump->in, .at = dump->next_at, .end = dump->records_end};
  version_layout layout;
  stored_record stored;
  layout_of(dump->layout_version, &layout);
  llvm_layout_take_record(&c, &layout, &stored); /* check_records has been here */
  *ret = (hearth_raw_record){.stack = dump->stacks->entries[llvm_layout_find_stack(dump->stacks, stored.stack_id)].leaf,
                             .mib = convert_mib(&stored.mib),
                             .histogram = {dump->counts, stored.mib.histogram_size}};
  llvm_layout_read_histogram(&c, &layout, stored.mib.histogram_size, dump->counts);
  dump->next_at = c.at;
}

/* The layout does not store how long the program ran. Blocks still live at the dump get its time as their deallocation
 * time, so the greatest of those is the best lower bound. Nor does it store whether accesses were counted: not one
 * access in all means that the program was not instrumented, and nothing in it must be taken for cold. */
static hearth_status llvm_layout_check_records(cursor c, const version_layout *layout, hearth_raw_dump *dump,
                                               hearth_error *err) {
  uint64_t count = 0, duration_ms = 0, largest = 0;
  HEARTH_TRY(take_count(&c, sizeof(uint64_t) + layout->mib_size, &count, err));
  dump->next_at = c.at;
  for (uint64_t i = 0; i < count; ++i) {
    stored_record stored;
    size_t at = c.at;
    if (!llvm_layout_take_record(&c, layout, &stored))
      return hearth_raw_fail(c.in, at, HEARTH_E_CORRUPT, err, "a MIB runs past the end");
    if (llvm_layout_find_stack(dump->stacks, stored.stack_id) == HEARTH_NONE)
      return hearth_raw_fail(c.in, at, HEARTH_E_CORRUPT, err, "a MIB's call stack does not exist");
    if (stored.mib.dealloc_timestamp > duration_ms)
      duration_ms = stored.mib.dealloc_timestamp;
    if (stored.mib.total_access_count > 0)
      dump->accesses_counted = true;
    if (stored.mib.histogram_size > largest)
      largest = stored.mib.histogram_size;
    c.at += (uint64_t)stored.mib.histogram_size * layout->counter_size;
    hearth_raw_passed(c.in, at, c.at);
  }
  dump->duration_ns = ms_to_ns(duration_ms);
  dump->record_count = count;
  dump->records_end = c.at;
  dump->read_record = llvm_layout_read_record;
  return hearth_raw_reserve_histogram(c.in, dump, largest, err);
}

hearth_status hearth_raw_read_llvm(const hearth_raw_input *in, hearth_raw_dump *dump, size_t *ret_size,
                                   hearth_error *err) {
  hearth_llvm_raw_header header;
  version_layout layout = {0};
  HEARTH_TRY(llvm_layout_check_header(in, &header, &layout, err));
  cursor c = {.in = in, .end = header.total_size};
  c.at = header.segment_offset;
  HEARTH_TRY(llvm_layout_read_segments(c, dump, err));
  c.at = header.stack_offset;
  HEARTH_TRY(read_stacks(c, dump, err));
  c.at = header.mib_offset;
  HEARTH_TRY(llvm_layout_check_records(c, &layout, dump, err));
  dump->kind = HEARTH_RAW_LOAD_BIAS;
  dump->layout_version = header.version;
  *ret_size = header.total_size;
  return HEARTH_OK;
}
