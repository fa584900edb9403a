/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A dense array of cells; only the part that holds something is written. */
#include "grid.h"

#include <math.h>
#include <stdlib.h>

enum { BINS_OF_AN_OCTAVE = 2 };

hearth_status hearth_page_grid_init(hearth_page_grid *grid, const hearth_page_axis *x, const hearth_page_axis *y,
                                    hearth_error *err) {
  *grid = (hearth_page_grid){.x = *x, .y = *y, .cells = calloc((size_t)x->bins * y->bins, sizeof *grid->cells)};
  return grid->cells ? HEARTH_OK : hearth_error_nomem(err);
}

void hearth_page_grid_destroy(hearth_page_grid *grid) {
  free(grid->cells);
  *grid = (hearth_page_grid){0};
}

static uint32_t bin_of(const hearth_page_axis *axis, double value) {
  double bin = axis->step > 0 ? value / axis->step : log2(value) * BINS_OF_AN_OCTAVE;
  if (!(bin > 0)) /* log2(0) is no number to convert */
    return 0;
  return bin < axis->bins ? (uint32_t)bin : axis->bins - 1;
}

void hearth_page_grid_add(hearth_page_grid *grid, double x, double y, const hearth_page_cell *more) {
  hearth_page_cell *cell = &grid->cells[(size_t)bin_of(&grid->y, y) * grid->x.bins + bin_of(&grid->x, x)];
  for (int q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    cell->of[q] += more->of[q];
}

static bool is_empty(const hearth_page_cell *cell) { return cell->of[HEARTH_QUANTITY_ALLOCS] == 0; }

hearth_page_bounds hearth_page_grid_bounds(const hearth_page_grid *grid) {
  hearth_page_bounds e = {grid->x.bins, 0, grid->y.bins, 0};
  for (uint32_t y = 0; y < grid->y.bins; y++)
    for (uint32_t x = 0; x < grid->x.bins; x++)
      if (!is_empty(hearth_page_grid_at(grid, x, y))) {
        e.x = x < e.x ? x : e.x;
        e.y = y < e.y ? y : e.y;
        e.x_end = x >= e.x_end ? x + 1 : e.x_end;
        e.y_end = y + 1;
      }
  return e.x_end ? e : (hearth_page_bounds){0};
}
