/* A two-dimensional histogram: quantities of blocks by two of their properties. */
#ifndef HEARTH_PAGE_GRID_H
#define HEARTH_PAGE_GRID_H

#include "hearth/view.h"

typedef enum page_unit { PAGE_BYTES, PAGE_NS } page_unit;

/* A logarithmic axis has two bins for each power of two: bin i holds values of [2^(i/2), 2^((i+1)/2)), and bin 0 all below,
 * too. A linear one: [i * step, (i + 1) * step), and the last one all above. */
typedef struct page_axis {
  const char *label;
  page_unit unit;
  double step; /* 0: logarithmic */
  uint32_t bins;
} page_axis;

enum { PAGE_LOG_BINS = 128 }; /* of a logarithmic axis: any 64-bit value */

typedef struct page_cell {
  double of[HEARTH_QUANTITY_COUNT];
} page_cell;

/* All zero: there is none. */
typedef struct page_grid {
  page_axis x, y;
  page_cell *cells; /* x + y * x.bins */
} page_grid;

/* The bins that hold something: [first, end) of each axis; empty: 0 and 0. */
typedef struct page_extent {
  uint32_t x, x_end, y, y_end;
} page_extent;

/* E_NOMEM. Destroy also after an error. */
hearth_status page_grid_init(page_grid *grid, const page_axis *x, const page_axis *y, hearth_error *err);
void page_grid_destroy(page_grid *grid);
void page_grid_add(page_grid *grid, double x, double y, const page_cell *more);
page_extent page_grid_extent(const page_grid *grid);

static inline const page_cell *page_grid_at(const page_grid *grid, uint32_t x, uint32_t y) {
  return &grid->cells[(size_t)y * grid->x.bins + x];
}
/* The least value of a bin. */
double page_axis_bound(const page_axis *axis, uint32_t bin);
/* Where a value is, in bins. */
double page_axis_position(const page_axis *axis, double value);

#endif
