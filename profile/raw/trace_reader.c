/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The file is mapped. One pass over all blocks checks their checksums and reads nodes and mappings; a block of
 * events is unpacked when it is asked for. */
#include "hearth/trace.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "array.h"
#include "file.h"
#include "hearth/raw.h"
#include "hearth/trace_format.h"

typedef struct block {
  hearth_trace_block head;
  size_t at; /* of its payload */
} block;

struct hearth_trace {
  char *name;
  hearth_file file; /* own; all zero if the memory is borrowed */
  const uint8_t *data;
  size_t size;
  hearth_trace_info info;
  block *blocks; /* of events */
  size_t block_room;
  hearth_raw_stack_node *nodes;
  size_t node_room;
  hearth_trace_mapping *mappings;
  uint8_t *mapping_bytes; /* the memory that these point to */
  ZSTD_DCtx *decompressor;
  uint8_t *scratch; /* an unpacked payload of events */
};

static hearth_status trace_reader_fail(const hearth_trace *t, size_t at, hearth_status status, hearth_error *err,
                                       const char *reason) {
  return hearth_error_set(err, status, "%s: offset %zu: %s (record the program again)", t->name, at, reason);
}

/* -------------------------------------------------- payloads -------------------------------------------------- */

/* A payload's columns, as they are read one after the other. */
typedef struct payload {
  const uint8_t *from, *end;
} payload;

/* The next column, at most `most` bytes. */
static bool take_column(hearth_trace *t, payload *payload, uint8_t *to, size_t most, size_t *ret_size) {
  hearth_trace_column_size sizes;
  if ((size_t)(payload->end - payload->from) < sizeof sizes)
    return false;
  memcpy(&sizes, payload->from, sizeof sizes);
  payload->from += sizeof sizes;
  if (sizes.packed > (size_t)(payload->end - payload->from) || sizes.packed > sizes.size || sizes.size > most)
    return false;
  if (sizes.packed == sizes.size)
    memcpy(to, payload->from, sizes.size);
  else if (ZSTD_decompressDCtx(t->decompressor, to, sizes.size, payload->from, sizes.packed) != sizes.size)
    return false;
  payload->from += sizes.packed;
  *ret_size = sizes.size;
  return true;
}

static payload payload_of(const hearth_trace *t, const block *b) {
  return (payload){t->data + b->at, t->data + b->at + b->head.stored_size};
}

/* Unpack a payload of one column. */
static hearth_status trace_reader_unpack(hearth_trace *t, const block *b, uint8_t **ret, size_t *ret_size,
                                         hearth_error *err) {
  hearth_trace_column_size sizes;
  payload payload = payload_of(t, b);
  if (b->head.stored_size < sizeof sizes)
    return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "the block has no content");
  memcpy(&sizes, payload.from, sizeof sizes);
  if (sizes.size > HEARTH_TRACE_BYTES_MOST)
    return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "the block's content is too large");
  *ret = malloc(sizes.size + 1u);
  HEARTH_TRY(hearth_check_memory(*ret, err));
  if (take_column(t, &payload, *ret, sizes.size, ret_size))
    return HEARTH_OK;
  free(*ret);
  return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "the block cannot be unpacked");
}

/* -------------------------------------------------- stacks and mappings ------------------------------------------- */

/* Nodes of a damaged block before stay without address. */
static bool trace_reader_make_room(hearth_trace *t, uint64_t end) {
  if (t->info.nodes < end &&
      !hearth_array_reserve(&t->nodes, &t->node_room, t->info.nodes, end - t->info.nodes, sizeof *t->nodes))
    return false;
  for (; t->info.nodes < end; ++t->info.nodes)
    t->nodes[t->info.nodes] = (hearth_raw_stack_node){0, HEARTH_TRACE_NO_STACK};
  return true;
}

static hearth_status take_nodes(hearth_trace *t, const block *b, const uint8_t *from, size_t size, hearth_error *err) {
  const uint8_t *end = from + size;
  hearth_raw_stack_node row = {0};
  uint64_t first = b->head.first;
  if (b->head.count > HEARTH_TRACE_NODES_MOST || first < t->info.nodes ||
      first > HEARTH_TRACE_NODES_TOTAL - b->head.count)
    return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "impossible numbers of stack nodes");
  HEARTH_TRY(hearth_check_memory(trace_reader_make_room(t, first + b->head.count), err));
  for (uint32_t i = 0; i < b->head.count; ++i) {
    if (!hearth_raw_take_node(&from, end, (uint32_t)first + i, row.pc, &row))
      return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "this is no stack node whose caller precedes it");
    t->nodes[first + i] = row;
  }
  return HEARTH_OK;
}

static hearth_status trace_reader_read_nodes(hearth_trace *t, const block *b, hearth_error *err) {
  uint8_t *bytes;
  size_t size;
  HEARTH_TRY(trace_reader_unpack(t, b, &bytes, &size, err));
  hearth_status status = take_nodes(t, b, bytes, size, err);
  free(bytes);
  return status;
}

/* The paths get their NULs where the bytes of the row were that are not needed any more: each is moved to the row's
 * begin. */
static hearth_status take_mappings(hearth_trace *t, const block *b, uint8_t *bytes, size_t size, hearth_error *err) {
  size_t at = 0;
  for (uint32_t i = 0; i < b->head.count; ++i) {
    hearth_raw_mapping row;
    if (size - at < sizeof row)
      return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "the mappings run past their block");
    memcpy(&row, bytes + at, sizeof row);
    if (row.start >= row.end || row.build_id_size > HEARTH_RAW_BUILD_ID_MAX || row.path_size > size - at - sizeof row)
      return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "impossible mapping");
    uint8_t *id = bytes + at, *path = id + HEARTH_RAW_BUILD_ID_MAX;
    memcpy(id, row.build_id, HEARTH_RAW_BUILD_ID_MAX);
    memmove(path, bytes + at + sizeof row, row.path_size);
    path[row.path_size] = '\0';
    t->mappings[i] =
        (hearth_trace_mapping){row.start, row.end, row.file_offset, (const char *)path, id, row.build_id_size};
    size_t step = (sizeof row + row.path_size + 7) & ~(size_t)7;
    at = step > size - at ? size : at + step;
  }
  t->info.mappings = b->head.count;
  return HEARTH_OK;
}

static hearth_status trace_reader_read_mappings(hearth_trace *t, const block *b, hearth_error *err) {
  uint8_t *bytes;
  size_t size;
  HEARTH_TRY(trace_reader_unpack(t, b, &bytes, &size, err));
  free(t->mapping_bytes);
  free(t->mappings);
  t->mapping_bytes = bytes;
  t->info.mappings = 0;
  t->mappings =
      b->head.count <= size / sizeof(hearth_raw_mapping) ? calloc(b->head.count + 1u, sizeof *t->mappings) : NULL;
  if (b->head.count > size / sizeof(hearth_raw_mapping))
    return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "the mappings run past their block");
  return t->mappings ? take_mappings(t, b, bytes, size, err) : hearth_error_nomem(err);
}

/* -------------------------------------------------- blocks -------------------------------------------------- */

static hearth_status note_end(hearth_trace *t, const block *b, hearth_error *err) {
  hearth_trace_end end;
  if (b->head.stored_size < sizeof end)
    return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "the block of the end is too short");
  memcpy(&end, t->data + b->at, sizeof end);
  t->info.ended = true;
  t->info.duration_ns = end.duration_ns;
  t->info.dropped_events = end.dropped_events;
  t->info.dropped_stacks = end.dropped_stacks;
  return HEARTH_OK;
}

static hearth_status note_events(hearth_trace *t, const block *b, hearth_error *err) {
  if (b->head.count == 0 || b->head.count > HEARTH_TRACE_EVENTS_MOST || b->head.first == 0 ||
      b->head.first > UINT32_MAX)
    return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "impossible numbers of events");
  HEARTH_TRY(
      hearth_check_memory(hearth_array_grow(&t->blocks, &t->block_room, t->info.blocks, sizeof *t->blocks), err));
  t->blocks[t->info.blocks++] = *b;
  t->info.events += b->head.count;
  t->info.ended = false; /* it went on */
  return HEARTH_OK;
}

static hearth_status read_block(hearth_trace *t, const block *b, hearth_error *err) {
  switch (b->head.kind) {
  case HEARTH_TRACE_BLOCK_STACKS:
    return trace_reader_read_nodes(t, b, err);
  case HEARTH_TRACE_BLOCK_EVENTS:
    return note_events(t, b, err);
  case HEARTH_TRACE_BLOCK_MAPPINGS:
    return trace_reader_read_mappings(t, b, err);
  case HEARTH_TRACE_BLOCK_END:
    return note_end(t, b, err);
  default:
    return HEARTH_OK;
  }
}

static bool is_intact(const hearth_trace *t, const block *b) {
  hearth_trace_block head = b->head;
  XXH64_state_t state;
  head.checksum = 0;
  XXH64_reset(&state, 0);
  XXH64_update(&state, t->data + b->at, head.stored_size);
  XXH64_update(&state, &head, sizeof head);
  return XXH64_digest(&state) == b->head.checksum;
}

static hearth_status trace_reader_read_blocks(hearth_trace *t, size_t at, hearth_error *err) {
  while (at < t->size) {
    block b = {.at = at + sizeof b.head};
    if (t->size - at < sizeof b.head)
      break;
    memcpy(&b.head, t->data + at, sizeof b.head);
    if (b.head.magic != HEARTH_TRACE_BLOCK_MAGIC)
      return trace_reader_fail(t, at, HEARTH_E_CORRUPT, err, "no block begins here");
    if (b.head.stored_size > t->size - b.at)
      break;
    if (is_intact(t, &b))
      HEARTH_TRY(read_block(t, &b, err));
    else
      ++t->info.damaged_blocks;
    at = b.at + b.head.stored_size;
  }
  t->info.truncated = at < t->size;
  return HEARTH_OK;
}

/* -------------------------------------------------- life -------------------------------------------------- */

static hearth_status trace_reader_refuse_foreign(const hearth_trace *t, hearth_error *err) {
  const char *kind = hearth_file_kind(t->data, t->size);
  return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a trace, as 'hearth record --mode=trace' writes them%s%s",
                          t->name, kind ? ": it is " : "", kind ? kind : "");
}

static hearth_status trace_reader_read_header(hearth_trace *t, size_t *ret_at, hearth_error *err) {
  hearth_trace_header header;
  if (!hearth_trace_is_trace(t->data, t->size))
    return trace_reader_refuse_foreign(t, err);
  if (t->size < sizeof header)
    return trace_reader_fail(t, 0, HEARTH_E_TRUNCATED, err, "too short for a trace");
  memcpy(&header, t->data, sizeof header);
  if (header.version != HEARTH_TRACE_VERSION)
    return hearth_error_set(err, HEARTH_E_VERSION,
                            "%s: trace version %u, this command reads version %u (use that of the "
                            "release which recorded it)",
                            t->name, (unsigned)header.version, HEARTH_TRACE_VERSION);
  if (header.header_size < sizeof header || header.command_size > header.header_size - sizeof header)
    return trace_reader_fail(t, 0, HEARTH_E_CORRUPT, err, "impossible sizes in the header");
  if (header.header_size > t->size)
    return trace_reader_fail(t, 0, HEARTH_E_TRUNCATED, err, "the file ends within its header");
  t->info = (hearth_trace_info){.pid = header.pid,
                                .start_ns = header.start_ns,
                                .start_unix_ns = header.start_unix_ns,
                                .stack_depth = header.stack_depth,
                                .size = t->size,
                                .command = (const char *)t->data + sizeof header,
                                .command_size = header.command_size};
  *ret_at = header.header_size;
  return HEARTH_OK;
}

bool hearth_trace_is_trace(const void *data, size_t size) {
  uint64_t magic;
  if (size < sizeof magic)
    return false;
  memcpy(&magic, data, sizeof magic);
  return magic == HEARTH_TRACE_MAGIC;
}

/* The last event's end, where the trace has none of its own. A damaged block has said all it can. */
static hearth_status find_duration(hearth_trace *t, hearth_error *err) {
  hearth_trace_event *events = malloc(HEARTH_TRACE_EVENTS_MOST * sizeof *events);
  HEARTH_TRY(hearth_check_memory(events, err));
  for (uint64_t i = 0; i < t->info.blocks; ++i) {
    hearth_error ignored;
    uint32_t count, thread;
    if (hearth_trace_read_block(t, i, events, &count, &thread, &ignored) != HEARTH_OK)
      continue;
    for (uint32_t k = 0; k < count; ++k)
      if (events[k].end_ns > t->info.duration_ns)
        t->info.duration_ns = events[k].end_ns;
  }
  free(events);
  return HEARTH_OK;
}

hearth_status hearth_trace_open_memory(const void *data, size_t size, const char *name, hearth_trace **ret,
                                       hearth_error *err) {
  size_t at = 0;
  *ret = NULL;
  hearth_trace *t = calloc(1, sizeof *t);
  HEARTH_TRY(hearth_check_memory(t, err));
  t->name = strdup(name);
  t->data = data;
  t->size = size;
  t->decompressor = ZSTD_createDCtx();
  t->scratch = malloc((size_t)HEARTH_TRACE_COLUMNS * HEARTH_TRACE_COLUMN_BYTES);
  hearth_status status =
      t->name && t->decompressor && t->scratch ? trace_reader_read_header(t, &at, err) : hearth_error_nomem(err);
  HEARTH_THEN(status, trace_reader_read_blocks(t, at, err));
  if (status == HEARTH_OK && !t->info.ended)
    status = find_duration(t, err);
  if (status != HEARTH_OK) {
    hearth_trace_close(t);
    return status;
  }
  *ret = t;
  return HEARTH_OK;
}

hearth_status hearth_trace_open(const char *path, hearth_trace **ret, hearth_error *err) {
  hearth_file file;
  *ret = NULL;
  HEARTH_TRY(hearth_file_read(path, &file, err));
  hearth_status status = hearth_trace_open_memory(file.data, file.size, path, ret, err);
  if (status == HEARTH_OK)
    (*ret)->file = file;
  else
    hearth_file_close(&file);
  return status;
}

void hearth_trace_close(hearth_trace *t) {
  if (!t)
    return;
  hearth_file_close(&t->file);
  ZSTD_freeDCtx(t->decompressor);
  HEARTH_FREE(t->name, t->blocks, t->nodes, t->mappings, t->mapping_bytes, t->scratch, t);
}

/* -------------------------------------------------- content -------------------------------------------------- */

void hearth_trace_get_info(const hearth_trace *t, hearth_trace_info *ret) { *ret = t->info; }

const hearth_raw_stack_node *hearth_trace_nodes(const hearth_trace *t) { return t->nodes; }

const hearth_trace_mapping *hearth_trace_mappings(const hearth_trace *t) { return t->mappings; }

uint32_t hearth_trace_depth(const hearth_trace *t, uint32_t node) {
  uint32_t depth = 0;
  for (; node < t->info.nodes; node = t->nodes[node].parent)
    ++depth;
  return depth;
}

hearth_status hearth_trace_read_block(hearth_trace *t, uint64_t number, hearth_trace_event *ret, uint32_t *ret_count,
                                      uint32_t *ret_thread, hearth_error *err) {
  const block *b = &t->blocks[number];
  payload payload = payload_of(t, b);
  hearth_trace_cursor cursor;
  hearth_trace_last last = {0};
  uint8_t *to = t->scratch;
  for (unsigned i = 0; i < HEARTH_TRACE_COLUMNS; ++i) {
    size_t size;
    if (!take_column(t, &payload, to, HEARTH_TRACE_COLUMN_BYTES, &size))
      return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "a column cannot be unpacked");
    cursor.from[i] = to;
    cursor.end[i] = to += size;
  }
  for (uint32_t i = 0; i < b->head.count; ++i) {
    if (!hearth_trace_take_event(&last, &cursor, &ret[i]))
      return trace_reader_fail(t, b->at, HEARTH_E_CORRUPT, err, "this is no event");
    if (ret[i].stack >= t->info.nodes)
      ret[i].stack = HEARTH_TRACE_NO_STACK;
  }
  *ret_count = b->head.count;
  *ret_thread = (uint32_t)b->head.first;
  return HEARTH_OK;
}

uint32_t hearth_trace_block_thread(const hearth_trace *t, uint64_t number) {
  return (uint32_t)t->blocks[number].head.first;
}

const char *hearth_trace_kind_name(uint8_t kind) {
  static const char *const names[HEARTH_TRACE_KINDS] = {[HEARTH_TRACE_MALLOC] = "malloc",
                                                        [HEARTH_TRACE_CALLOC] = "calloc",
                                                        [HEARTH_TRACE_REALLOC] = "realloc",
                                                        [HEARTH_TRACE_NEW] = "new",
                                                        [HEARTH_TRACE_NEW_ARRAY] = "new[]",
                                                        [HEARTH_TRACE_FREE] = "free",
                                                        [HEARTH_TRACE_DELETE] = "delete",
                                                        [HEARTH_TRACE_DELETE_ARRAY] = "delete[]",
                                                        [HEARTH_TRACE_REALLOC_FREE] = "realloc-free",
                                                        [HEARTH_TRACE_ALIGNED] = "aligned"};
  return kind < HEARTH_TRACE_KINDS ? names[kind] : NULL;
}
