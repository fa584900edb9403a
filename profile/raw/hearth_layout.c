/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reader of raw profiles in Hearth's layout (docs/formats/raw.md). The whole dump is checked, checksum first, before
 * anything in it is believed. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/raw.h"
#include "raw_dump.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define KNOWN_FLAGS                                                                                                    \
  (HEARTH_RAW_FLAG_ACCESSES | HEARTH_RAW_FLAG_CONTINUES | HEARTH_RAW_FLAG_HISTOGRAMS | HEARTH_RAW_FLAG_NAMES |         \
   HEARTH_RAW_OCCASION_MASK | HEARTH_RAW_FLAG_RESIDENCY | HEARTH_RAW_FLAG_ESTIMATED | HEARTH_RAW_FLAG_RUN |            \
   HEARTH_RAW_FLAG_CLOCK | HEARTH_RAW_FLAG_HISTORY | HEARTH_RAW_FLAG_GLOBALS)
#define CHUNK         ((size_t)1 << 20) /* of one pass */
#define FIRST_COLUMNS 29                /* of a MIB, at first; further ones are 0 */
#define LEAST_NODE    2                 /* bytes */
#define LEAST_MIB     2
#define LEAST_GLOBAL  8

static hearth_status hearth_layout_check_header(const hearth_raw_input *in, hearth_raw_header *header,
                                                hearth_error *err) {
  size_t rest = in->file->size - in->begin;
  if (rest < sizeof *header)
    return hearth_raw_fail(in, 0, HEARTH_E_TRUNCATED, err, "the file ends inside the header");
  memcpy(header, in->file->data + in->begin, sizeof *header);
  HEARTH_TRY(hearth_raw_check_version(in, header->version, err));
  if (header->header_size != sizeof *header)
    return hearth_raw_fail(in, offsetof(hearth_raw_header, header_size), HEARTH_E_CORRUPT, err, "wrong header size");
  if (header->total_size < sizeof *header || header->total_size % 8 != 0)
    return hearth_raw_fail(in, offsetof(hearth_raw_header, total_size), HEARTH_E_CORRUPT, err, "impossible total size");
  if (header->total_size > rest)
    return hearth_raw_fail(in, rest, HEARTH_E_TRUNCATED, err, "the file ends before the profile does");
  return HEARTH_OK;
}

static uint32_t occasion_of(const hearth_raw_header *header) {
  return (header->flags & HEARTH_RAW_OCCASION_MASK) >> HEARTH_RAW_OCCASION_SHIFT;
}

static hearth_status check_checksum(const hearth_raw_input *in, const hearth_raw_header *header, hearth_error *err) {
  const uint8_t *dump = in->file->data + in->begin;
  hearth_raw_header zeroed = *header;
  XXH64_state_t state;

  zeroed.checksum = 0;
  XXH64_reset(&state, 0);
  for (size_t at = sizeof zeroed, next; at < header->total_size; at = next) {
    next = at + CHUNK < header->total_size ? at + CHUNK : header->total_size;
    XXH64_update(&state, dump + at, next - at);
    hearth_raw_passed(in, at, next);
  }
  XXH64_update(&state, &zeroed, sizeof zeroed);
  if (XXH64_digest(&state) != header->checksum)
    return hearth_raw_fail(in, offsetof(hearth_raw_header, checksum), HEARTH_E_CORRUPT, err, "the checksum is wrong");
  if (header->mib_columns < FIRST_COLUMNS || header->mib_columns > HEARTH_MIB_COLUMNS)
    return hearth_raw_fail(in, offsetof(hearth_raw_header, mib_columns), HEARTH_E_CORRUPT, err,
                           "wrong number of MIB columns");
  if (header->flags & ~KNOWN_FLAGS || occasion_of(header) > HEARTH_RAW_PEAK)
    return hearth_raw_fail(in, offsetof(hearth_raw_header, flags), HEARTH_E_VERSION, err, "unknown flags");
  return HEARTH_OK;
}

/* Does a section of `count` rows, each of at least `row` bytes, fit at `offset`? */
static bool section_fits(const hearth_raw_header *header, uint64_t offset, uint64_t count, size_t row) {
  return offset % 8 == 0 && offset >= sizeof *header && offset <= header->total_size &&
         count <= (header->total_size - offset) / row;
}

static hearth_status read_maps(const hearth_raw_input *in, const hearth_raw_header *header, hearth_raw_dump *dump,
                               uint64_t *ret_end, hearth_error *err) {
  if (!section_fits(header, header->map_offset, header->map_count, sizeof(hearth_raw_mapping)))
    return hearth_raw_fail(in, offsetof(hearth_raw_header, map_offset), HEARTH_E_CORRUPT, err,
                           "the mappings lie outside the profile");
  dump->maps = calloc(header->map_count + 1, sizeof *dump->maps);
  HEARTH_TRY(hearth_check_memory(dump->maps, err));
  uint64_t at = header->map_offset;
  for (uint64_t i = 0; i < header->map_count; ++i) {
    hearth_raw_mapping row;
    if (header->total_size - at < sizeof row)
      return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "the mappings run past the end");
    memcpy(&row, in->file->data + in->begin + at, sizeof row);
    if (row.start >= row.end || row.build_id_size > HEARTH_RAW_BUILD_ID_MAX)
      return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "impossible mapping");
    if (row.path_size > header->total_size - at - sizeof row)
      return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "a mapping's path runs past the end");
    hearth_raw_map *map = &dump->maps[i];
    *map = (hearth_raw_map){
        .start = row.start, .end = row.end, .base = row.file_offset, .build_id_size = row.build_id_size};
    memcpy(map->build_id, row.build_id, row.build_id_size);
    map->path = strndup((const char *)in->file->data + in->begin + at + sizeof row, row.path_size);
    HEARTH_TRY(hearth_check_memory(map->path, err));
    dump->map_count = i + 1;
    uint64_t step = (sizeof row + row.path_size + 7) & ~UINT64_C(7);
    at = step > header->total_size - at ? header->total_size : at + step;
  }
  *ret_end = at;
  return HEARTH_OK;
}

/* Read the facts of the run and the clock's error, which follow the mappings. */
static hearth_status hearth_layout_read_run(const hearth_raw_input *in, const hearth_raw_header *header, uint64_t *at,
                                            hearth_raw_dump *dump, hearth_error *err) {
  const uint8_t *data = in->file->data + in->begin, *from = data + *at, *end = data + header->total_size;
  uint64_t size;
  if (header->flags & HEARTH_RAW_FLAG_RUN) {
    if (!hearth_raw_take_varint(&from, end, &dump->peak_bytes))
      return hearth_raw_fail(in, *at, HEARTH_E_CORRUPT, err, "this is no peak");
    *at = (uint64_t)(from - data);
    if (!hearth_raw_take_varint(&from, end, &size) || size > HEARTH_RAW_COMMAND_MAX || size > (uint64_t)(end - from) ||
        memchr(from, '\0', size))
      return hearth_raw_fail(in, *at, HEARTH_E_CORRUPT, err, "this is no command line");
    dump->command = strndup((const char *)from, size);
    HEARTH_TRY(hearth_check_memory(dump->command, err));
    from += size;
  }
  *at = (uint64_t)(from - data);
  if (header->flags & HEARTH_RAW_FLAG_CLOCK &&
      (!hearth_raw_take_varint(&from, end, &dump->clock_error_ns) || dump->clock_error_ns == 0))
    return hearth_raw_fail(in, *at, HEARTH_E_CORRUPT, err, "this is no error of the clock");
  *at = (uint64_t)(from - data);
  return HEARTH_OK;
}

#define LEAST_LEVELS 3 /* bytes: of a record's number and its levels */

static hearth_status hearth_layout_read_history(const hearth_raw_input *in, const hearth_raw_header *header,
                                                uint64_t *at, hearth_raw_dump *dump, hearth_error *err) {
  const uint8_t *data = in->file->data + in->begin, *from = data + *at, *end = data + header->total_size;
  uint64_t count, number = 0, skipped;
  if (!(header->flags & HEARTH_RAW_FLAG_HISTORY))
    return HEARTH_OK;
  if (!hearth_raw_take_varint(&from, end, &dump->peak_ns) || !hearth_raw_take_levels(&from, end, dump->levels) ||
      !hearth_raw_take_varint(&from, end, &count) || count > (uint64_t)(end - from) / LEAST_LEVELS)
    return hearth_raw_fail(in, *at, HEARTH_E_CORRUPT, err, "this is no history of live bytes");
  dump->history = malloc((count + 1) * sizeof *dump->history);
  HEARTH_TRY(hearth_check_memory(dump->history, err));
  for (uint64_t i = 0; i < count; ++i, ++number) {
    if (!hearth_raw_take_varint(&from, end, &skipped) || skipped >= header->mib_count ||
        (number += skipped) >= header->mib_count || !hearth_raw_take_levels(&from, end, dump->history[i].levels))
      return hearth_raw_fail(in, (size_t)(from - data), HEARTH_E_CORRUPT, err, "these are no levels of a record");
    dump->history[i].record = number;
    dump->history_count = i + 1;
  }
  dump->has_history = true;
  *at = (uint64_t)(from - data);
  return HEARTH_OK;
}

/* Names lie between that and the call stacks. */
static hearth_status read_names(const hearth_raw_input *in, const hearth_raw_header *header, uint64_t at,
                                hearth_raw_dump *dump, hearth_error *err) {
  const uint8_t *data = in->file->data + in->begin, *from = data + at;
  uint64_t count, size;
  if (!(header->flags & HEARTH_RAW_FLAG_NAMES))
    return HEARTH_OK;
  if (header->stack_offset > header->total_size || header->stack_offset < at)
    return hearth_raw_fail(in, offsetof(hearth_raw_header, stack_offset), HEARTH_E_CORRUPT, err,
                           "there is no room for the names");
  const uint8_t *end = data + header->stack_offset;
  if (!hearth_raw_take_varint(&from, end, &count) || count > (uint64_t)(end - from))
    return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "the names run past the end");
  dump->names = calloc(count + 1, sizeof *dump->names);
  HEARTH_TRY(hearth_check_memory(dump->names, err));
  for (uint64_t i = 0; i < count; ++i) {
    if (!hearth_raw_take_varint(&from, end, &size) || size > (uint64_t)(end - from))
      return hearth_raw_fail(in, (size_t)(from - data), HEARTH_E_CORRUPT, err, "a name runs past the end");
    if (memchr(from, '\0', size))
      return hearth_raw_fail(in, (size_t)(from - data), HEARTH_E_CORRUPT, err, "a name holds a NUL");
    dump->names[i] = strndup((const char *)from, size);
    HEARTH_TRY(hearth_check_memory(dump->names[i], err));
    dump->name_count = i + 1;
    from += size;
  }
  return HEARTH_OK;
}

static bool names_exist(const hearth_raw_dump *dump, uint64_t pc) {
  return !(HEARTH_RAW_IS_NAMED(pc, HEARTH_RAW_SCOPE_PC) || HEARTH_RAW_IS_NAMED(pc, HEARTH_RAW_HEAP_PC)) ||
         (uint32_t)pc < dump->name_count;
}

static hearth_status hearth_layout_read_nodes(const hearth_raw_input *in, const hearth_raw_header *header,
                                              hearth_raw_dump *dump, hearth_error *err) {
  uint64_t count = header->stack_count;
  if (!section_fits(header, header->stack_offset, count, LEAST_NODE) || count >= HEARTH_RAW_NO_PARENT)
    return hearth_raw_fail(in, offsetof(hearth_raw_header, stack_offset), HEARTH_E_CORRUPT, err,
                           "the call stacks lie outside the profile");
  dump->nodes = calloc(count + 1, sizeof *dump->nodes);
  HEARTH_TRY(hearth_check_memory(dump->nodes, err));
  dump->node_count = count;
  const uint8_t *data = in->file->data + in->begin, *from = data + header->stack_offset;
  hearth_raw_stack_node row = {0};
  for (uint32_t i = 0; i < count; ++i) {
    size_t at = (size_t)(from - data);
    if (!hearth_raw_take_node(&from, data + header->total_size, i, row.pc, &row))
      return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "this is no stack node whose caller precedes it");
    if (!names_exist(dump, row.pc))
      return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "a stack node's name does not exist");
    dump->nodes[i] = row;
    hearth_raw_passed(in, at, (size_t)(from - data));
  }
  return HEARTH_OK;
}

/* The histogram behind a MIB, to `counts` unless it is NULL. False: `end` comes first, or these are no numbers. */
static bool take_histogram(const uint8_t **from, const uint8_t *end, uint64_t *counts, uint64_t *ret_size) {
  uint64_t count;
  if (!hearth_raw_take_varint(from, end, ret_size) || *ret_size > (size_t)(end - *from))
    return false;
  for (uint64_t i = 0; i < *ret_size; ++i) {
    if (!hearth_raw_take_varint(from, end, &count))
      return false;
    if (counts)
      counts[i] = count;
  }
  return true;
}

static bool hearth_layout_take_numbers(const uint8_t **from, const uint8_t *end, uint64_t *ret, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (!hearth_raw_take_varint(from, end, &ret[i]))
      return false;
  return true;
}

static bool take_residency(const uint8_t **from, const uint8_t *end, uint64_t *ret) {
  return hearth_layout_take_numbers(from, end, ret, HEARTH_RAW_RESIDENCIES);
}

static void hearth_layout_read_record(hearth_raw_dump *dump, hearth_raw_record *ret) {
  const uint8_t *data = dump->in.file->data + dump->in.begin, *from = data + dump->next_at;
  hearth_raw_mib row; /* filled in: check_records has looked */
  hearth_raw_take_mib(&from, data + dump->records_end, &dump->previous, &row);
  ret->stack = row.stack;
  ret->mib = row.mib;
  for (uint32_t i = dump->column_count; i < HEARTH_MIB_COLUMNS; ++i)
    ret->mib.v[i] = 0;
  ret->histogram = (hearth_histogram){.counts = dump->counts};
  memset(ret->residency, 0, sizeof ret->residency);
  if (dump->counts)
    take_histogram(&from, data + dump->records_end, dump->counts, &ret->histogram.size);
  if (dump->has_residency)
    take_residency(&from, data + dump->records_end, ret->residency);
  bool has_levels =
      dump->next_history < dump->history_count && dump->history[dump->next_history].record == dump->next_record;
  ret->levels = has_levels ? dump->history[dump->next_history++].levels : NULL;
  dump->previous = row;
  dump->next_at = (size_t)(from - data);
}

static hearth_status hearth_layout_check_records(const hearth_raw_input *in, const hearth_raw_header *header,
                                                 hearth_raw_dump *dump, hearth_error *err) {
  uint64_t count = header->mib_count;
  if (!section_fits(header, header->mib_offset, count, LEAST_MIB))
    return hearth_raw_fail(in, offsetof(hearth_raw_header, mib_offset), HEARTH_E_CORRUPT, err,
                           "the MIBs lie outside the profile");
  const uint8_t *data = in->file->data + in->begin, *from = data + header->mib_offset;
  uint64_t blocks;
  uint32_t stack = 0;
  bool has_histograms = header->flags & HEARTH_RAW_FLAG_HISTOGRAMS;
  uint64_t largest = has_histograms, size; /* one number at least, by which read_record knows that they are there */
  for (uint64_t i = 0; i < count; ++i) {
    size_t at = (size_t)(from - data);
    if (!hearth_raw_skip_mib(&from, data + header->total_size, &stack, &blocks) || blocks == 0)
      return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "this is no MIB of any block");
    if (stack != HEARTH_RAW_NO_PARENT && stack >= dump->node_count)
      return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "a MIB's call stack does not exist");
    if (has_histograms && !take_histogram(&from, data + header->total_size, NULL, &size))
      return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "a MIB's histogram runs past the end");
    uint64_t residency[HEARTH_RAW_RESIDENCIES];
    if (header->flags & HEARTH_RAW_FLAG_RESIDENCY && !take_residency(&from, data + header->total_size, residency))
      return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "a MIB's residency runs past the end");
    if (has_histograms && size > largest)
      largest = size;
    hearth_raw_passed(in, at, (size_t)(from - data));
  }
  dump->record_count = count;
  dump->records_end = (size_t)(from - data);
  dump->column_count = header->mib_columns;
  dump->next_at = header->mib_offset;
  dump->read_record = hearth_layout_read_record;
  return hearth_raw_reserve_histogram(in, dump, largest, err);
}

static bool take_text(const uint8_t **from, const uint8_t *end, const char **ret, uint32_t *ret_size) {
  uint64_t size;
  if (!hearth_raw_take_varint(from, end, &size) || size > HEARTH_GLOBAL_NAME_MAX || size > (size_t)(end - *from) ||
      memchr(*from, '\0', size))
    return false;
  *ret = (const char *)*from;
  *ret_size = (uint32_t)size;
  *from += size;
  return true;
}

static bool take_global(const uint8_t **from, const uint8_t *end, hearth_raw_global *ret) {
  enum { ADDRESS, SIZE, FLAGS, LINE, ACCESSES, TOUCHED, NUMBERS };
  uint64_t v[NUMBERS];
  ret->stores = 0;
  if (!hearth_layout_take_numbers(from, end, v, NUMBERS) || !hearth_global_flags_are_valid(v[FLAGS]) ||
      v[LINE] > UINT32_MAX ||
      (v[FLAGS] & HEARTH_GLOBAL_STORES && !hearth_layout_take_numbers(from, end, &ret->stores, 1)) ||
      !take_text(from, end, &ret->name, &ret->name_size) || !take_text(from, end, &ret->file, &ret->file_size))
    return false;
  ret->address = v[ADDRESS];
  ret->size = v[SIZE];
  ret->flags = (uint32_t)v[FLAGS];
  ret->line = (uint32_t)v[LINE];
  ret->accesses = v[ACCESSES];
  ret->touched_lines = v[TOUCHED];
  return ret->name_size > 0;
}

static int compare_globals(const void *left, const void *right) {
  const hearth_raw_global *a = left, *b = right;
  if (a->address != b->address)
    return a->address < b->address ? -1 : 1;
  if (a->name_size != b->name_size)
    return a->name_size < b->name_size ? -1 : 1;
  return memcmp(a->name, b->name, a->name_size);
}

/* Files that define one global have a row each. */
static void take_each_once(hearth_raw_dump *dump) {
  size_t kept = 0;
  if (dump->global_count > 1)
    qsort(dump->globals, dump->global_count, sizeof *dump->globals, compare_globals);
  for (size_t i = 0; i < dump->global_count; ++i)
    if (kept == 0 || compare_globals(&dump->globals[kept - 1], &dump->globals[i]) != 0)
      dump->globals[kept++] = dump->globals[i];
  dump->global_count = kept;
}

/* They follow the records. */
static hearth_status read_globals(const hearth_raw_input *in, const hearth_raw_header *header, hearth_raw_dump *dump,
                                  hearth_error *err) {
  const uint8_t *data = in->file->data + in->begin, *end = data + header->total_size;
  const size_t at = (dump->records_end + 7) & ~(size_t)7; /* the total size is a multiple of 8 */
  const uint8_t *from = data + at;
  uint64_t count;
  if (!(header->flags & HEARTH_RAW_FLAG_GLOBALS))
    return HEARTH_OK;
  if (!hearth_raw_take_varint(&from, end, &count) || count > (size_t)(end - from) / LEAST_GLOBAL)
    return hearth_raw_fail(in, at, HEARTH_E_CORRUPT, err, "the global variables run past the end");
  dump->globals = malloc((count + 1) * sizeof *dump->globals);
  HEARTH_TRY(hearth_check_memory(dump->globals, err));
  for (uint64_t i = 0; i < count; ++i)
    if (!take_global(&from, end, &dump->globals[dump->global_count++]))
      return hearth_raw_fail(in, (size_t)(from - data), HEARTH_E_CORRUPT, err, "this is no global variable");
  take_each_once(dump);
  return HEARTH_OK;
}

hearth_status hearth_raw_read_hearth(const hearth_raw_input *in, hearth_raw_dump *dump, size_t *ret_size,
                                     hearth_error *err) {
  hearth_raw_header header;
  uint64_t maps_end = 0;
  hearth_status status = hearth_layout_check_header(in, &header, err);
  HEARTH_THEN(status, check_checksum(in, &header, err));
  HEARTH_THEN(status, read_maps(in, &header, dump, &maps_end, err));
  HEARTH_THEN(status, hearth_layout_read_run(in, &header, &maps_end, dump, err));
  HEARTH_THEN(status, hearth_layout_read_history(in, &header, &maps_end, dump, err));
  HEARTH_THEN(status, read_names(in, &header, maps_end, dump, err));
  HEARTH_THEN(status, hearth_layout_read_nodes(in, &header, dump, err));
  HEARTH_THEN(status, hearth_layout_check_records(in, &header, dump, err));
  HEARTH_THEN(status, read_globals(in, &header, dump, err));
  if (status != HEARTH_OK)
    return status;
  dump->kind = HEARTH_RAW_FILE_OFFSET;
  dump->duration_ns = header.duration_ns;
  dump->dropped_blocks = header.dropped_blocks;
  dump->sample_bytes = header.sample_bytes;
  dump->dropped_stacks = header.dropped_stacks;
  dump->accesses_counted = header.flags & HEARTH_RAW_FLAG_ACCESSES;
  dump->accesses_estimated = header.flags & HEARTH_RAW_FLAG_ESTIMATED;
  dump->occasion = occasion_of(&header);
  dump->has_residency = header.flags & HEARTH_RAW_FLAG_RESIDENCY;
  dump->start_unix_ns = header.start_unix_ns;
  dump->pid = header.pid;
  dump->continues = header.flags & HEARTH_RAW_FLAG_CONTINUES;
  *ret_size = header.total_size;
  return HEARTH_OK;
}
