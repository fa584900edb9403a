/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A two-dimensional histogram: quantities of blocks by two of their properties. */
#ifndef HEARTH_PAGE_GRID_H
#define HEARTH_PAGE_GRID_H

#include "hearth/view.h"

typedef enum hearth_page_amount { HEARTH_PAGE_BYTES, HEARTH_PAGE_NS } hearth_page_amount;

/* A logarithmic axis has two bins for each power of two: bin i holds values of [2^(i/2), 2^((i+1)/2)), and bin 0 all below,
 * too. A linear one: [i * step, (i + 1) * step), and the last one all above. */
typedef struct hearth_page_axis {
  const char *label;
  hearth_page_amount unit;
  double step; /* 0: logarithmic */
  uint32_t bins;
} hearth_page_axis;

enum { HEARTH_PAGE_LOG_BINS = 128 }; /* of a logarithmic axis: any 64-bit value */

typedef struct hearth_page_cell {
  double of[HEARTH_QUANTITY_COUNT];
} hearth_page_cell;

/* All zero: there is none. */
typedef struct hearth_page_grid {
  hearth_page_axis x, y;
  hearth_page_cell *cells; /* x + y * x.bins */
} hearth_page_grid;

/* The bins that hold something: [first, end) of each axis; empty: 0 and 0. */
typedef struct hearth_page_bounds {
  uint32_t x, x_end, y, y_end;
} hearth_page_bounds;

/* E_NOMEM. Destroy also after an error. */
hearth_status hearth_page_grid_init(hearth_page_grid *grid, const hearth_page_axis *x, const hearth_page_axis *y,
                                    hearth_error *err);
void hearth_page_grid_destroy(hearth_page_grid *grid);
void hearth_page_grid_add(hearth_page_grid *grid, double x, double y, const hearth_page_cell *more);
hearth_page_bounds hearth_page_grid_bounds(const hearth_page_grid *grid);

static inline const hearth_page_cell *hearth_page_grid_at(const hearth_page_grid *grid, uint32_t x, uint32_t y) {
  return &grid->cells[(size_t)y * grid->x.bins + x];
}

#endif
