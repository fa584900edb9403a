/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads an indexed profile in place. Every load goes through hearth_profile_touch, which checks bounds and, once for
 * each block, the checksum. References between tables are checked when they are followed. Opening is in
 * reader_open.c. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "hearth/ids.h"
#include "reader_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

hearth_status hearth_profile_corrupt(const hearth_profile *profile, hearth_error *err, const char *format, ...) {
  char detail[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  return hearth_error_set(err, HEARTH_E_CORRUPT, "%s: the profile is corrupt: %s; make it again with 'hearth index'",
                          profile->name, detail);
}

/* -------------------------------------------------- access -------------------------------------------------- */

static hearth_status check_block(hearth_profile *profile, size_t block, hearth_error *err) {
  if (profile->checked[block / 8] & (1u << block % 8))
    return HEARTH_OK;
  const hearth_indexed_section *checksums = hearth_profile_section(profile, HEARTH_SECTION_CHECKSUMS);
  size_t begin = block * HEARTH_BLOCK_SIZE, end = begin + HEARTH_BLOCK_SIZE;
  if (end > checksums->offset)
    end = checksums->offset;
  if (XXH3_64bits(profile->data + begin, end - begin) != load64(profile->data + checksums->offset + block * 8))
    return hearth_profile_corrupt(profile, err, "wrong checksum of bytes %zu to %zu", begin, end - 1);
  profile->checked[block / 8] |= (uint8_t)(1u << block % 8);
  return HEARTH_OK;
}

hearth_status hearth_profile_touch(hearth_profile *profile, uint64_t offset, uint64_t size, const uint8_t **ret,
                                   hearth_error *err) {
  uint64_t end = hearth_profile_section(profile, HEARTH_SECTION_CHECKSUMS)->offset;
  if (offset > end || size > end - offset)
    return hearth_profile_corrupt(profile, err, "a reference to offset %llu leads outside", (unsigned long long)offset);
  for (size_t block = offset / HEARTH_BLOCK_SIZE; size && block <= (offset + size - 1) / HEARTH_BLOCK_SIZE; block++)
    HEARTH_TRY(check_block(profile, block, err));
  *ret = profile->data + offset;
  return HEARTH_OK;
}

hearth_status hearth_profile_read_row(hearth_profile *profile, uint32_t id, uint32_t row, void *ret, size_t row_size,
                                      const char *what, hearth_error *err) {
  const uint8_t *from;
  if (row >= hearth_profile_section(profile, id)->count)
    return hearth_profile_corrupt(profile, err, "there is no %s %u", what, row);
  HEARTH_TRY(hearth_profile_touch(profile, hearth_profile_section(profile, id)->offset + (uint64_t)row * row_size,
                                  row_size, &from, err));
  memcpy(ret, from, row_size);
  return HEARTH_OK;
}

hearth_status hearth_profile_get_string(hearth_profile *profile, uint32_t offset, const char **ret, hearth_error *err) {
  const hearth_indexed_section *strings = hearth_profile_section(profile, HEARTH_SECTION_STRINGS);
  if (offset >= strings->size)
    return hearth_profile_corrupt(profile, err, "there is no string at %u", offset);
  for (uint64_t at = strings->offset + offset, end = strings->offset + strings->size; at < end;) {
    const uint8_t *part;
    uint64_t size = HEARTH_BLOCK_SIZE - at % HEARTH_BLOCK_SIZE;
    size = size < end - at ? size : end - at;
    HEARTH_TRY(hearth_profile_touch(profile, at, size, &part, err));
    if (memchr(part, 0, size)) {
      *ret = (const char *)profile->data + strings->offset + offset;
      return HEARTH_OK;
    }
    at += size;
  }
  return hearth_profile_corrupt(profile, err, "the string at %u does not end", offset);
}

hearth_status hearth_profile_check(hearth_profile *profile, hearth_error *err) {
  const uint8_t *from;
  return hearth_profile_touch(profile, 0, hearth_profile_section(profile, HEARTH_SECTION_CHECKSUMS)->offset, &from,
                              err);
}

uint64_t hearth_profile_id(const hearth_profile *profile) {
  const hearth_indexed_section *checksums = hearth_profile_section(profile, HEARTH_SECTION_CHECKSUMS);
  uint64_t hash = XXH3_64bits(profile->data + checksums->offset, checksums->size);
  return hash ? hash : 1;
}

/* -------------------------------------------------- packed tables --------------------------------------------- */

/* The bytes of the block that a row lies in, and how many rows it has; `what` names the row in messages. */
static hearth_status find_block(hearth_profile *profile, const packed_table *table, uint32_t row, const uint8_t **ret,
                                uint64_t *ret_size, uint32_t *ret_rows, const char *what, hearth_error *err) {
  const uint8_t *from;
  uint32_t starts[2], block = row / HEARTH_PACKED_ROWS, rest = table->row_count - block * HEARTH_PACKED_ROWS;
  HEARTH_TRY(hearth_profile_touch(profile, table->starts + block * sizeof starts[0], sizeof starts, &from, err));
  memcpy(starts, from, sizeof starts);
  if (starts[0] > starts[1] || (uint64_t)starts[1] * 8 > table->end - table->blocks)
    return hearth_profile_corrupt(profile, err, "the block of %s %u lies outside", what, row);
  *ret_size = (uint64_t)(starts[1] - starts[0]) * 8;
  *ret_rows = rest < HEARTH_PACKED_ROWS ? rest : HEARTH_PACKED_ROWS;
  return hearth_profile_touch(profile, table->blocks + (uint64_t)starts[0] * 8, *ret_size, ret, err);
}

hearth_status hearth_profile_read_block(hearth_profile *profile, const packed_table *table, uint32_t row, size_t wanted,
                                        uint64_t (*ret_values)[HEARTH_PACKED_ROWS], const char *what,
                                        hearth_error *err) {
  const uint8_t *block;
  uint64_t size = 0;
  uint32_t rows = 0;
  HEARTH_TRY(find_block(profile, table, row, &block, &size, &rows, what, err));
  if (!hearth_packed_decode_block(table->columns, table->column_count, block, size, rows, wanted, ret_values))
    return hearth_profile_corrupt(profile, err, "the block of %s %u is cut short", what, row);
  return HEARTH_OK;
}

/* The block of a row, with the first `wanted` columns decoded: *ret_values[column][row % HEARTH_PACKED_ROWS]. It
 * lives until another row is asked for. */
static hearth_status read_packed(hearth_profile *profile, packed_table *table, uint32_t row, size_t wanted,
                                 uint64_t (**ret_values)[HEARTH_PACKED_ROWS], const char *what, hearth_error *err) {
  uint32_t number = row / HEARTH_PACKED_ROWS + 1;
  decoded_block *block = &table->kept[number % BLOCKS_KEPT];
  if (row >= table->row_count)
    return hearth_profile_corrupt(profile, err, "there is no %s %u", what, row);
  if (block->number != number || block->wanted < wanted) {
    block->number = 0;
    if (!block->values)
      HEARTH_TRY(hearth_array_create(&block->values, table->column_count, sizeof *block->values, err));
    HEARTH_TRY(hearth_profile_read_block(profile, table, row, wanted, block->values, what, err));
    block->number = number;
    block->wanted = wanted;
  }
  *ret_values = block->values;
  return HEARTH_OK;
}

/* -------------------------------------------------- rows -------------------------------------------------- */

uint32_t hearth_profile_function_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_FUNCTIONS)->count;
}

uint32_t hearth_profile_frame_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_FRAMES)->count;
}

uint32_t hearth_profile_stack_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_STACKS)->count;
}

uint32_t hearth_profile_context_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_CONTEXTS)->count;
}

uint32_t hearth_profile_binary_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_BINARIES)->count;
}

uint32_t hearth_profile_path_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_PATHS)->count;
}

static hearth_status read_summary(hearth_profile *profile, hearth_indexed_summary *ret, hearth_error *err) {
  const uint8_t *from;
  HEARTH_TRY(hearth_profile_touch(profile, hearth_profile_section(profile, HEARTH_SECTION_SUMMARY)->offset, sizeof *ret,
                                  &from, err));
  memcpy(ret, from, sizeof *ret);
  return HEARTH_OK;
}

hearth_status hearth_profile_get_summary(hearth_profile *profile, hearth_profile_summary *ret, hearth_error *err) {
  hearth_indexed_summary stored;
  HEARTH_TRY(read_summary(profile, &stored, err));
  *ret = (hearth_profile_summary){.runs = stored.runs,
                                  .duration_ns = stored.duration_ns,
                                  .total_allocs = stored.total_allocs,
                                  .total_bytes = stored.total_bytes,
                                  .total_accesses = stored.total_accesses,
                                  .dropped_blocks = stored.dropped_blocks,
                                  .dropped_frames = stored.dropped_frames,
                                  .accesses_counted = profile->header.required_flags & HEARTH_FLAG_ACCESSES,
                                  .accesses_estimated = profile->header.optional_flags & HEARTH_FLAG_ESTIMATED,
                                  .densities_only = profile->header.required_flags & HEARTH_FLAG_DENSITIES,
                                  .id_scheme = (enum hearth_id_scheme)profile->header.id_scheme};
  return HEARTH_OK;
}

static hearth_status reader_read_function(hearth_profile *profile, uint32_t row, hearth_indexed_function *ret,
                                          hearth_error *err) {
  return hearth_profile_read_row(profile, HEARTH_SECTION_FUNCTIONS, row, ret, sizeof *ret, "function", err);
}

/* Ids are hashes, evenly spread: a row is near where they would all have one distance. */
hearth_status hearth_profile_find_id(hearth_profile *profile, uint32_t section, size_t row_size, uint64_t id,
                                     uint32_t *ret_row, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, section);
  uint32_t first = 0, end = s->count, reach = 64 + end / 64;
  uint64_t near = (uint64_t)((unsigned __int128)id * end >> 64);
  for (unsigned step = 0; first < end; step++) {
    uint64_t row = step == 0 ? near - reach : step == 1 ? near + reach : first + (end - first) / 2;
    const uint8_t *from;
    if (row < first || row >= end)
      continue;
    HEARTH_TRY(hearth_profile_touch(profile, s->offset + row * row_size, sizeof id, &from, err));
    if (load64(from) == id) {
      *ret_row = (uint32_t)row;
      return HEARTH_OK;
    }
    if (load64(from) < id)
      first = (uint32_t)row + 1;
    else
      end = (uint32_t)row;
  }
  return HEARTH_E_NOT_FOUND;
}

hearth_status hearth_profile_find_function(hearth_profile *profile, uint64_t id, uint32_t *ret_row, hearth_error *err) {
  return hearth_profile_find_id(profile, HEARTH_SECTION_FUNCTIONS, sizeof(hearth_indexed_function), id, ret_row, err);
}

hearth_status hearth_profile_get_function(hearth_profile *profile, uint32_t row, hearth_function_info *ret,
                                          hearth_error *err) {
  hearth_indexed_function f, next = {.first_frame = hearth_profile_frame_count(profile)};
  HEARTH_TRY(reader_read_function(profile, row, &f, err));
  if (row + 1 < hearth_profile_function_count(profile))
    HEARTH_TRY(reader_read_function(profile, row + 1, &next, err));
  if (f.first_frame > next.first_frame || next.first_frame > hearth_profile_frame_count(profile))
    return hearth_profile_corrupt(profile, err, "function %u has impossible frames", row);
  if (f.path != HEARTH_NONE && f.path >= hearth_profile_path_count(profile))
    return hearth_profile_corrupt(profile, err, "function %u has path %u, which does not exist", row, f.path);
  *ret = (hearth_function_info){.id = f.id,
                                .path = f.path,
                                .start_line = f.start_line,
                                .first_frame = f.first_frame,
                                .frame_count = next.first_frame - f.first_frame};
  return hearth_profile_get_string(profile, f.name, &ret->name, err);
}

static hearth_status reader_read_frame(hearth_profile *profile, uint32_t row, size_t wanted, uint64_t *ret_values,
                                       hearth_error *err) {
  uint64_t (*values)[HEARTH_PACKED_ROWS];
  HEARTH_TRY(read_packed(profile, &profile->frames, row, HEARTH_FRAME_COLUMNS, &values, "frame", err));
  for (size_t i = 0; i < wanted; i++) {
    ret_values[i] = values[i][row % HEARTH_PACKED_ROWS];
    if (ret_values[i] > UINT32_MAX)
      return hearth_profile_corrupt(profile, err, "frame %u has a number of more than 32 bits", row);
  }
  return HEARTH_OK;
}

hearth_status hearth_profile_get_frame(hearth_profile *profile, uint32_t row, hearth_frame_info *ret,
                                       hearth_error *err) {
  uint64_t f[HEARTH_FRAME_COLUMNS], next_context = hearth_profile_context_count(profile);
  hearth_indexed_function function;
  HEARTH_TRY(reader_read_frame(profile, row, HEARTH_FRAME_COLUMNS, f, err));
  if (row + 1 < hearth_profile_frame_count(profile))
    HEARTH_TRY(reader_read_frame(profile, row + 1, HEARTH_FRAME_FIRST_CONTEXT + 1, &next_context, err));
  if (f[HEARTH_FRAME_FIRST_CONTEXT] > next_context || next_context > hearth_profile_context_count(profile))
    return hearth_profile_corrupt(profile, err, "frame %u has impossible contexts", row);
  *ret = (hearth_frame_info){.function = (uint32_t)f[HEARTH_FRAME_FUNCTION],
                             .line = (uint32_t)f[HEARTH_FRAME_LINE],
                             .column = (uint32_t)f[HEARTH_FRAME_COLUMN],
                             .discriminator = (uint32_t)f[HEARTH_FRAME_DISCRIMINATOR],
                             .inlined = f[HEARTH_FRAME_FLAGS] & HEARTH_FRAME_INLINED,
                             .recursive = f[HEARTH_FRAME_FLAGS] & HEARTH_FRAME_RECURSIVE,
                             .library = f[HEARTH_FRAME_FLAGS] & HEARTH_FRAME_LIBRARY,
                             .in_cycle = f[HEARTH_FRAME_FLAGS] & (HEARTH_FRAME_RECURSIVE | HEARTH_FRAME_IN_CYCLE),
                             .first_context = (uint32_t)f[HEARTH_FRAME_FIRST_CONTEXT],
                             .context_count = (uint32_t)(next_context - f[HEARTH_FRAME_FIRST_CONTEXT])};
  HEARTH_TRY(reader_read_function(profile, ret->function, &function, err));
  if (ret->line != HEARTH_LINE_UNKNOWN && ret->column != 0)
    ret->stack_id = hearth_stack_id(function.id, ret->line, ret->column);
  return HEARTH_OK;
}

hearth_status hearth_profile_get_stack(hearth_profile *profile, uint32_t node, uint32_t *ret_frame,
                                       uint32_t *ret_parent, hearth_error *err) {
  uint64_t (*values)[HEARTH_PACKED_ROWS];
  HEARTH_TRY(read_packed(profile, &profile->stacks, node, HEARTH_STACK_COLUMNS, &values, "stack node", err));
  uint64_t frame = values[HEARTH_STACK_FRAME][node % HEARTH_PACKED_ROWS];
  uint64_t up = values[HEARTH_STACK_UP][node % HEARTH_PACKED_ROWS];
  if (up > node) /* following parents ends, as each is lower */
    return hearth_profile_corrupt(profile, err, "stack node %u comes before its parent", node);
  if (frame >= hearth_profile_frame_count(profile))
    return hearth_profile_corrupt(profile, err, "stack node %u has frame %llu, which does not exist", node,
                                  (unsigned long long)frame);
  *ret_frame = (uint32_t)frame;
  *ret_parent = node - 1 - (uint32_t)up; /* HEARTH_NONE is -1 */
  return HEARTH_OK;
}

hearth_status hearth_profile_get_context(hearth_profile *profile, uint32_t row, uint32_t *ret_stack,
                                         hearth_mib *ret_mib, hearth_error *err) {
  uint64_t (*values)[HEARTH_PACKED_ROWS];
  size_t wanted = ret_mib ? profile->contexts.column_count : 1;
  HEARTH_TRY(read_packed(profile, &profile->contexts, row, wanted, &values, "context", err));
  uint64_t leaf = values[0][row % HEARTH_PACKED_ROWS];
  if (leaf >= hearth_profile_stack_count(profile))
    return hearth_profile_corrupt(profile, err, "context %u has stack node %llu, which does not exist", row,
                                  (unsigned long long)leaf);
  if (ret_stack)
    *ret_stack = (uint32_t)leaf;
  if (!ret_mib)
    return HEARTH_OK;
  memset(ret_mib, 0, sizeof *ret_mib);
  for (size_t i = 0; i < wanted; i++)
    if (profile->mib_columns[i] >= 0)
      ret_mib->v[profile->mib_columns[i]] = values[i][row % HEARTH_PACKED_ROWS];
  return ret_mib->AllocCount ? HEARTH_OK : hearth_profile_corrupt(profile, err, "context %u has no allocations", row);
}

hearth_status hearth_profile_get_context_bytes(hearth_profile *profile, uint32_t row, uint64_t *ret,
                                               hearth_error *err) {
  uint64_t (*values)[HEARTH_PACKED_ROWS];
  size_t column = 0;
  *ret = 0;
  while (column < profile->contexts.column_count && profile->mib_columns[column] != HEARTH_COL_TotalSize)
    column++;
  if (column == profile->contexts.column_count)
    return HEARTH_OK;
  HEARTH_TRY(read_packed(profile, &profile->contexts, row, column + 1, &values, "context", err));
  *ret = values[column][row % HEARTH_PACKED_ROWS];
  return HEARTH_OK;
}

hearth_status hearth_profile_get_path_row(hearth_profile *profile, uint32_t row, const char **ret_name,
                                          uint32_t *ret_parent, hearth_error *err) {
  hearth_indexed_path p;
  HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_PATHS, row, &p, sizeof p, "path", err));
  if (p.parent != HEARTH_NONE && p.parent >= row)
    return hearth_profile_corrupt(profile, err, "path %u comes before its parent", row);
  *ret_parent = p.parent;
  return hearth_profile_get_string(profile, p.name, ret_name, err);
}

/* From its end to its begin. The limit also keeps a file of nothing but one endless path from costing quadratic time. */
hearth_status hearth_profile_get_path(hearth_profile *profile, uint32_t row, char *buffer, size_t size,
                                      hearth_error *err) {
  char path[HEARTH_PATH_LIMIT];
  size_t at = sizeof path - 1;
  for (uint32_t up = row; up != HEARTH_NONE;) {
    const char *name;
    bool is_last = up == row;
    HEARTH_TRY(hearth_profile_get_path_row(profile, up, &name, &up, err));
    size_t n = strlen(name);
    if (n + !is_last > at)
      return hearth_profile_corrupt(profile, err, "path %u is too long", row);
    if (!is_last || (n == 0 && up == HEARTH_NONE)) /* the root alone is "/" */
      path[--at] = '/';
    at -= n;
    memcpy(path + at, name, n);
  }
  size_t length = sizeof path - 1 - at < size ? sizeof path - 1 - at : size - 1;
  memcpy(buffer, path + at, length);
  buffer[length] = '\0';
  return HEARTH_OK;
}

hearth_status hearth_profile_get_binary(hearth_profile *profile, uint32_t row, const char **ret_name,
                                        const uint8_t **ret_build_id, uint32_t *ret_build_id_size, hearth_error *err) {
  hearth_indexed_binary b;
  HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_BINARIES, row, &b, sizeof b, "binary", err));
  if (b.build_id_size > sizeof b.build_id)
    return hearth_profile_corrupt(profile, err, "binary %u has a build id of %u bytes", row, b.build_id_size);
  *ret_build_id = profile->data + hearth_profile_section(profile, HEARTH_SECTION_BINARIES)->offset + row * sizeof b +
                  offsetof(hearth_indexed_binary, build_id);
  *ret_build_id_size = b.build_id_size;
  return hearth_profile_get_string(profile, b.name, ret_name, err);
}

hearth_status hearth_profile_get_hot_cutoff(hearth_profile *profile, uint32_t share_ppm, double *ret_density,
                                            hearth_error *err) {
  hearth_indexed_summary summary;
  HEARTH_TRY(read_summary(profile, &summary, err));
  uint64_t table = hearth_profile_section(profile, HEARTH_SECTION_SUMMARY)->offset + sizeof summary;
  uint32_t best = 0;
  for (uint32_t i = 0; i < summary.cutoffs; i++) {
    hearth_indexed_cutoff cutoff;
    const uint8_t *from;
    HEARTH_TRY(hearth_profile_touch(profile, table + (uint64_t)i * sizeof cutoff, sizeof cutoff, &from, err));
    memcpy(&cutoff, from, sizeof cutoff);
    if (cutoff.share_ppm > share_ppm || cutoff.share_ppm <= best)
      continue;
    best = cutoff.share_ppm;
    *ret_density = cutoff.density;
  }
  return best ? HEARTH_OK : HEARTH_E_NOT_FOUND;
}
