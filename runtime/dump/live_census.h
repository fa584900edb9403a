/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The live blocks at one moment, by context and type. Use it while threads are stopped; it maps memory, and gives it
 * back. */
#ifndef HEARTH_RUNTIME_LIVE_CENSUS_H
#define HEARTH_RUNTIME_LIVE_CENSUS_H

#include "hearth/mib.h"
#include "residency.h"

#include <stdbool.h>
#include <stdint.h>

/* Blocks of one context and type. */
typedef struct hearth_live_row {
  uint32_t next; /* row + 1 of the same context and another type; 0: none */
  hearth_mib mib;
  hearth_residency residency;
} hearth_live_row;

typedef struct hearth_live_census {
  uint32_t *first; /* by context: row + 1; 0: nothing is live */
  uint32_t context_count;
  hearth_live_row *rows;
  uint32_t row_count, row_room;
  bool incomplete; /* there was no memory for all rows */
} hearth_live_census;

/* Take the census. False: no memory.
 *   pages  tells where bytes are; NULL: the caller does not want that */
bool hearth_live_census_take(hearth_live_census *live, hearth_page_map *pages);
/* Add to the row of a context below context_count. */
void hearth_live_census_add(hearth_live_census *live, uint32_t context, const hearth_mib *mib);

void hearth_live_census_destroy(hearth_live_census *live);

/* The first row of a context; NULL: nothing is live. And the one behind a row. */
static inline const hearth_live_row *hearth_live_first(const hearth_live_census *live, uint32_t context) {
  return live->first[context] ? &live->rows[live->first[context] - 1] : NULL;
}

static inline const hearth_live_row *hearth_live_next(const hearth_live_census *live, const hearth_live_row *row) {
  return row->next ? &live->rows[row->next - 1] : NULL;
}

#endif
