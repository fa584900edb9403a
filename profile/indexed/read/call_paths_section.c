/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the CALL PATHS section, whole, when it is first asked for. */
#include "hearth/call_path.h"

#include <stdlib.h>

#include "array.h"
#include "reader_internal.h"

/* Is `a` before `b`? */
static bool is_sorted(const hearth_call_path *a, const hearth_call_path *b) {
  return a->context != b->context ? a->context < b->context
         : a->binary != b->binary ? a->binary < b->binary
         : a->offset != b->offset ? a->offset < b->offset
                                  : a->height < b->height;
}

static hearth_status read_rows(hearth_profile *profile, const packed_table *table, hearth_call_path *rows,
                               hearth_error *err) {
  uint64_t v[HEARTH_CALL_PATH_COLUMNS][HEARTH_PACKED_ROWS];
  for (uint32_t i = 0; i < table->row_count; i++) {
    uint32_t k = i % HEARTH_PACKED_ROWS;
    if (k == 0)
      HEARTH_TRY(hearth_profile_read_block(profile, table, i, HEARTH_CALL_PATH_COLUMNS, v, "call path", err));
    if (v[HEARTH_CALL_PATH_CONTEXT][k] >= hearth_profile_context_count(profile) ||
        v[HEARTH_CALL_PATH_BINARY][k] >= hearth_profile_binary_count(profile) ||
        v[HEARTH_CALL_PATH_HEIGHT][k] > UINT32_MAX)
      return hearth_profile_corrupt(profile, err, "call path %u is out of range", i);
    rows[i] = (hearth_call_path){.context = (uint32_t)v[HEARTH_CALL_PATH_CONTEXT][k],
                                 .binary = (uint32_t)v[HEARTH_CALL_PATH_BINARY][k],
                                 .offset = v[HEARTH_CALL_PATH_OFFSET][k],
                                 .height = (uint32_t)v[HEARTH_CALL_PATH_HEIGHT][k]};
    if (i > 0 && !is_sorted(&rows[i - 1], &rows[i]))
      return hearth_profile_corrupt(profile, err, "its call paths are not sorted at %u", i);
  }
  return HEARTH_OK;
}

static hearth_status decode(hearth_profile *profile, const hearth_indexed_section *s, hearth_error *err) {
  packed_table table = {.section = s->id, .row_count = s->count, .end = s->offset + s->size};
  hearth_call_path *rows;
  HEARTH_TRY(hearth_profile_open_packed(profile, s->offset, &table, err));
  if (table.column_count < HEARTH_CALL_PATH_COLUMNS)
    return hearth_profile_corrupt(profile, err, "its call paths have too few columns");
  HEARTH_TRY(hearth_array_create(&rows, s->count, sizeof *rows, err));
  hearth_status status = read_rows(profile, &table, rows, err);
  if (status == HEARTH_OK)
    profile->call_paths = rows;
  else
    free(rows);
  return status;
}

hearth_status hearth_profile_get_call_paths(hearth_profile *profile, hearth_call_paths *ret, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_CALL_PATHS);
  *ret = (hearth_call_paths){0};
  if (s->id == 0)
    return HEARTH_OK;
  if (!profile->call_paths)
    HEARTH_TRY(decode(profile, s, err));
  *ret = (hearth_call_paths){profile->call_paths, s->count};
  return HEARTH_OK;
}
