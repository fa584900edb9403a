/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The CALL PATHS section: a packed table of the builder's rows, in order. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "packed.h"
#include "writer.h"

static int compare_paths(const void *a, const void *b) {
  const hearth_call_path *x = a, *y = b;
  return x->context != y->context ? (x->context > y->context) - (x->context < y->context)
         : x->binary != y->binary ? (x->binary > y->binary) - (x->binary < y->binary)
         : x->offset != y->offset ? (x->offset > y->offset) - (x->offset < y->offset)
                                  : (x->height > y->height) - (x->height < y->height);
}

/* Binaries are in order, and few. */
static uint32_t new_binary(const writer *w, uint32_t row) {
  uint32_t at = 0;
  while (memcmp(&w->binaries[at], &w->builder->binaries[row], sizeof w->binaries[at]) != 0)
    at++;
  return at;
}

/* Stripping makes several binaries one, and so paths. */
static size_t order_rows(const writer *w, hearth_call_path *rows) {
  const builder_call_paths *paths = &w->builder->call_paths;
  size_t count = 0;
  for (size_t i = 0; i < paths->count; i++) {
    rows[i] = paths->rows[i];
    rows[i].context = w->contexts.rank[rows[i].context];
    rows[i].binary = new_binary(w, rows[i].binary);
  }
  qsort(rows, paths->count, sizeof *rows, compare_paths);
  for (size_t i = 0; i < paths->count; i++)
    if (count == 0 || compare_paths(&rows[count - 1], &rows[i]) != 0)
      rows[count++] = rows[i];
  return count;
}

static void fill_rows(const void *context, size_t first, size_t count, uint64_t (*ret)[HEARTH_PACKED_ROWS]) {
  const hearth_call_path *rows = (const hearth_call_path *)context + first;
  for (size_t i = 0; i < count; i++) {
    ret[HEARTH_CALL_PATH_CONTEXT][i] = rows[i].context;
    ret[HEARTH_CALL_PATH_BINARY][i] = rows[i].binary;
    ret[HEARTH_CALL_PATH_OFFSET][i] = rows[i].offset;
    ret[HEARTH_CALL_PATH_HEIGHT][i] = rows[i].height;
  }
}

static const uint32_t references[HEARTH_CALL_PATH_COLUMNS] = {HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE};

hearth_status hearth_writer_encode_call_paths(writer *w) {
  hearth_call_path *rows;
  if (w->builder->call_paths.count == 0)
    return HEARTH_OK;
  HEARTH_TRY(hearth_array_create(&rows, w->builder->call_paths.count, sizeof *rows, w->err));
  w->call_path_count = (uint32_t)order_rows(w, rows);
  bool good = hearth_packed_encode(fill_rows, rows, w->call_path_count, references, HEARTH_CALL_PATH_COLUMNS,
                                   &w->call_paths.data, &w->call_paths.size);
  free(rows);
  return hearth_check_memory(good, w->err);
}
