/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The SPREADS section: a packed table in the order of the contexts. Its rows are put in order before they are packed, since
 * the packing reads them twice. */
#include <stdlib.h>

#include "array.h"
#include "packed.h"
#include "writer.h"

typedef struct spread_row {
  uint32_t context;
  hearth_spread spread;
} spread_row;

static size_t order_rows(const writer *w, spread_row *rows) {
  size_t count = 0;
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    spread_row row = {i, hearth_builder_spread(w->builder, w->contexts.order[i])};
    if (row.spread.runs > 0)
      rows[count++] = row;
  }
  return count;
}

static void fill_rows(const void *context, size_t first, size_t count, uint64_t (*ret)[HEARTH_PACKED_ROWS]) {
  const spread_row *rows = (const spread_row *)context + first;
  for (size_t i = 0; i < count; i++) {
    ret[HEARTH_SPREAD_CONTEXT][i] = rows[i].context;
    for (size_t column = HEARTH_SPREAD_RUNS; column < HEARTH_SPREAD_COLUMNS; column++)
      ret[column][i] = rows[i].spread.sums[column - HEARTH_SPREAD_RUNS];
  }
}

/* Without weights the runs are their own squares. */
static const uint32_t references[HEARTH_SPREAD_COLUMNS] = {HEARTH_NONE, HEARTH_NONE, HEARTH_SPREAD_RUNS,
                                                           HEARTH_NONE, HEARTH_NONE, HEARTH_NONE,
                                                           HEARTH_NONE, HEARTH_NONE, HEARTH_NONE};

hearth_status hearth_writer_encode_spreads(writer *w) {
  spread_row *rows;
  if (hearth_builder_is_one_run(w->builder))
    return HEARTH_OK;
  HEARTH_TRY(hearth_array_create(&rows, w->contexts.count, sizeof *rows, w->err));
  w->spread_count = (uint32_t)order_rows(w, rows);
  bool good = w->spread_count == 0 || hearth_packed_encode(fill_rows, rows, w->spread_count, references,
                                                           HEARTH_SPREAD_COLUMNS, &w->spreads.data, &w->spreads.size);
  free(rows);
  return hearth_check_memory(good, w->err);
}
