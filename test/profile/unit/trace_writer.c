/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace_writer.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "hearth/raw.h"
#include "hearth/trace_format.h"

typedef struct bytes {
  uint8_t *data;
  size_t size, room;
} bytes;

struct hearth_trace_writer {
  bytes out, payload, mappings, nodes;
  uint32_t mapping_count, node_count, block_nodes; /* block_nodes: of them, in `nodes` */
  uint64_t last_pc;
  bool failed;
  uint8_t columns[HEARTH_TRACE_COLUMNS][HEARTH_TRACE_COLUMN_BYTES];
};

/* Room for `size` bytes more; NULL: none, now and in the end. */
static uint8_t *extend(hearth_trace_writer *w, bytes *b, size_t size) {
  if (b->size + size > b->room) {
    size_t room = 2 * b->room > b->size + size ? 2 * b->room : b->size + size;
    uint8_t *data = realloc(b->data, room);
    if (!data) {
      w->failed = true;
      return NULL;
    }
    b->data = data;
    b->room = room;
  }
  b->size += size;
  return b->data + b->size - size;
}

static void add(hearth_trace_writer *w, bytes *b, const void *data, size_t size) {
  uint8_t *to = extend(w, b, size);
  if (to && size > 0)
    memcpy(to, data, size);
}

static void pad(hearth_trace_writer *w, bytes *b) {
  static const uint8_t zeros[8];
  add(w, b, zeros, -b->size % 8);
}

static void add_column(hearth_trace_writer *w, const uint8_t *data, size_t size) {
  hearth_trace_column_size sizes = {(uint32_t)size, (uint32_t)size};
  size_t at = w->payload.size, bound = ZSTD_compressBound(size);
  if (!extend(w, &w->payload, sizeof sizes + bound))
    return;
  uint8_t *to = w->payload.data + at;
  size_t packed = ZSTD_compress(to + sizeof sizes, bound, data, size, 1);
  if (!ZSTD_isError(packed) && packed < size)
    sizes.packed = (uint32_t)packed;
  else if (size > 0)
    memcpy(to + sizeof sizes, data, size);
  memcpy(to, &sizes, sizeof sizes);
  w->payload.size = at + sizeof sizes + sizes.packed;
}

/* The payload becomes a block. */
static void add_block(hearth_trace_writer *w, hearth_trace_block_kind kind, uint32_t count, uint64_t first) {
  hearth_trace_block head = {.magic = HEARTH_TRACE_BLOCK_MAGIC,
                             .kind = kind,
                             .stored_size = (uint32_t)w->payload.size,
                             .count = count,
                             .first = first};
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  XXH64_update(&state, w->payload.data, w->payload.size);
  XXH64_update(&state, &head, sizeof head);
  head.checksum = XXH64_digest(&state);
  add(w, &w->out, &head, sizeof head);
  add(w, &w->out, w->payload.data, w->payload.size);
  w->payload.size = 0;
}

hearth_trace_writer *hearth_trace_writer_create(const hearth_trace_info *info) {
  hearth_trace_writer *w = calloc(1, sizeof *w);
  size_t padded = (info->command_size + 7) & ~(size_t)7;
  hearth_trace_header header = {.magic = HEARTH_TRACE_MAGIC,
                                .version = HEARTH_TRACE_VERSION,
                                .header_size = (uint32_t)(sizeof header + padded),
                                .pid = info->pid,
                                .start_ns = info->start_ns,
                                .start_unix_ns = info->start_unix_ns,
                                .stack_depth = info->stack_depth,
                                .command_size = (uint32_t)info->command_size};
  if (!w)
    return NULL;
  add(w, &w->out, &header, sizeof header);
  add(w, &w->out, info->command, info->command_size);
  pad(w, &w->out);
  return w;
}

void hearth_trace_writer_add_mapping(hearth_trace_writer *w, const hearth_trace_mapping *mapping) {
  hearth_raw_mapping raw = {.start = mapping->start,
                            .end = mapping->end,
                            .file_offset = mapping->file_offset,
                            .build_id_size = mapping->build_id_size,
                            .path_size = (uint32_t)strlen(mapping->path)};
  memcpy(raw.build_id, mapping->build_id, mapping->build_id_size);
  add(w, &w->mappings, &raw, sizeof raw);
  add(w, &w->mappings, mapping->path, raw.path_size);
  pad(w, &w->mappings);
  ++w->mapping_count;
}

static void flush_nodes(hearth_trace_writer *w) {
  if (w->block_nodes == 0)
    return;
  add_column(w, w->nodes.data, w->nodes.size);
  add_block(w, HEARTH_TRACE_BLOCK_STACKS, w->block_nodes, w->node_count - w->block_nodes);
  w->nodes.size = 0;
  w->block_nodes = 0;
  w->last_pc = 0;
}

void hearth_trace_writer_add_node(hearth_trace_writer *w, const hearth_raw_stack_node *node) {
  uint8_t packed[HEARTH_RAW_NODE_MOST];
  if (w->block_nodes == HEARTH_TRACE_NODES_MOST)
    flush_nodes(w);
  add(w, &w->nodes, packed, (size_t)(hearth_raw_put_node(packed, w->node_count, node, w->last_pc) - packed));
  w->last_pc = node->pc;
  ++w->node_count;
  ++w->block_nodes;
}

static void flush_mappings(hearth_trace_writer *w) {
  if (w->mapping_count == 0)
    return;
  add_column(w, w->mappings.data, w->mappings.size);
  add_block(w, HEARTH_TRACE_BLOCK_MAPPINGS, w->mapping_count, 0);
  w->mapping_count = 0;
}

void hearth_trace_writer_add_block(hearth_trace_writer *w, const hearth_trace_event *events, uint32_t count,
                                   uint32_t thread) {
  hearth_trace_columns columns;
  hearth_trace_last last = {0};
  flush_nodes(w);
  flush_mappings(w);
  for (unsigned i = 0; i < HEARTH_TRACE_COLUMNS; ++i)
    columns.to[i] = w->columns[i];
  for (uint32_t i = 0; i < count; ++i)
    hearth_trace_put_event(&last, &columns, &events[i]);
  for (unsigned i = 0; i < HEARTH_TRACE_COLUMNS; ++i)
    add_column(w, w->columns[i], (size_t)(columns.to[i] - w->columns[i]));
  add_block(w, HEARTH_TRACE_BLOCK_EVENTS, count, thread);
}

void hearth_trace_writer_add_end(hearth_trace_writer *w, const hearth_trace_end *end) {
  flush_nodes(w);
  flush_mappings(w);
  add(w, &w->payload, end, sizeof *end);
  add_block(w, HEARTH_TRACE_BLOCK_END, 1, 0);
}

hearth_status hearth_trace_writer_finish(hearth_trace_writer *w, uint8_t **ret, size_t *ret_size, hearth_error *err) {
  flush_nodes(w);
  flush_mappings(w);
  bool failed = w->failed;
  *ret = failed ? NULL : w->out.data;
  *ret_size = failed ? 0 : w->out.size;
  if (failed)
    free(w->out.data);
  free(w->payload.data);
  free(w->mappings.data);
  free(w->nodes.data);
  free(w);
  return failed ? hearth_error_nomem(err) : HEARTH_OK;
}
