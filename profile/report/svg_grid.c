/* A two-dimensional histogram as a map of rectangles, the darker the more. */
#include <math.h>

#include "svg.h"

enum { WIDTH = 800, HEIGHT = 400, LEFT = 88, RIGHT = 28, TOP = 28, BOTTOM = 44 };

typedef struct frame {
  const page_grid *grid;
  page_extent extent;
  double width, height; /* of a cell */
  FILE *stream;
} frame;

/* Of a place on an axis, in bins. */
static double x_of(const frame *f, double bins) { return LEFT + (bins - f->extent.x) * f->width; }
static double y_of(const frame *f, double bins) { return HEIGHT - BOTTOM - (bins - f->extent.y) * f->height; }

static void draw_axes(const frame *f) {
  const page_axis *x = &f->grid->x, *y = &f->grid->y;
  double ticks[SVG_TICKS];
  int count = svg_ticks(x, f->extent.x, f->extent.x_end, ticks);
  for (int i = 0; i < count; i++)
    svg_text(x_of(f, page_axis_position(x, ticks[i])), HEIGHT - BOTTOM + 16, "middle", svg_value(x, ticks[i]).c,
             f->stream);
  count = svg_ticks(y, f->extent.y, f->extent.y_end, ticks);
  for (int i = 0; i < count; i++)
    svg_text(LEFT - 4, y_of(f, page_axis_position(y, ticks[i])) + 4, "end", svg_value(y, ticks[i]).c, f->stream);
  svg_text((LEFT + WIDTH) / 2.0, HEIGHT - 8, "middle", x->label, f->stream);
  svg_text_upwards(16, (TOP + HEIGHT - BOTTOM) / 2.0, y->label, f->stream);
}

static double greatest(const frame *f, hearth_quantity quantity) {
  double most = 0;
  for (uint32_t y = f->extent.y; y < f->extent.y_end; y++)
    for (uint32_t x = f->extent.x; x < f->extent.x_end; x++)
      most = fmax(most, page_grid_at(f->grid, x, y)->of[quantity]);
  return most;
}

/* Logarithmic, so that rare blocks are seen beside frequent ones. */
static svg_color color_of(double value, double most) {
  return svg_mix(svg_panel, svg_plot, 0.15 + 0.85 * log1p(value) / log1p(most));
}

static void draw_cell(const frame *f, uint32_t x, uint32_t y, hearth_quantity quantity, double most) {
  double value = page_grid_at(f->grid, x, y)->of[quantity];
  if (value <= 0)
    return;
  svg_rectangle_begin(x_of(f, x), y_of(f, y + 1), f->width - 0.5, f->height - 0.5, color_of(value, most), f->stream);
  fprintf(f->stream, "%s from %s, %s from %s: %s", f->grid->x.label,
          svg_value(&f->grid->x, page_axis_bound(&f->grid->x, x)).c, f->grid->y.label,
          svg_value(&f->grid->y, page_axis_bound(&f->grid->y, y)).c, svg_quantity(quantity, value).c);
  svg_rectangle_end(f->stream);
}

void svg_grid(const page_model *model, const page_grid *grid, FILE *stream) {
  frame f = {.grid = grid, .extent = page_grid_extent(grid), .stream = stream};
  hearth_quantity quantity = model->options->value;
  char title[96];
  double most = greatest(&f, quantity);
  snprintf(title, sizeof title, "%s by %s and %s", hearth_quantity_name(quantity), grid->y.label, grid->x.label);
  svg_begin(WIDTH, HEIGHT, model->options->title, stream);
  svg_text(3, 16, "start", title, stream);
  f.width = (double)(WIDTH - LEFT - RIGHT) / (f.extent.x_end > f.extent.x ? f.extent.x_end - f.extent.x : 1);
  f.height = (double)(HEIGHT - TOP - BOTTOM) / (f.extent.y_end > f.extent.y ? f.extent.y_end - f.extent.y : 1);
  if (most > 0)
    draw_axes(&f);
  for (uint32_t y = f.extent.y; y < f.extent.y_end; y++)
    for (uint32_t x = f.extent.x; x < f.extent.x_end; x++)
      draw_cell(&f, x, y, quantity, most);
  svg_end(stream);
}
