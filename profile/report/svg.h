/* SVG documents (1.1), and each plot in a file of its own: svg_PLOT.c. */
#ifndef HEARTH_SVG_H
#define HEARTH_SVG_H

#include "page_model.h"
#include "units.h"

typedef struct svg_color {
  int part[3];
} svg_color;

/* The light colours of the page (assets/report.css). */
static const svg_color svg_cold = {{0x74, 0xa9, 0xf0}}, svg_hot = {{0xf0, 0x79, 0x6a}},
                       svg_notcold = {{0xde, 0xd8, 0xc4}}, svg_plot = {{0x2f, 0x6f, 0x6a}},
                       svg_panel = {{0xf1, 0xf0, 0xec}};

/* Lengths are in pixels. */
void svg_begin(int width, int height, const char *title, FILE *stream);
void svg_end(FILE *stream);
/* `share` (0 to 1) of `to`, the rest of `from`. */
svg_color svg_mix(svg_color from, svg_color to, double share);
/* What follows, until svg_rectangle_end, is in the rectangle's element: its <title>. */
void svg_rectangle_begin(double x, double y, double width, double height, svg_color color, FILE *stream);
void svg_rectangle_end(FILE *stream);
/* `anchor`: "start", "middle" or "end". */
void svg_text(double x, double y, const char *anchor, const char *text, FILE *stream);
/* In the middle, turned to the left: the label of a vertical axis. */
void svg_text_upwards(double x, double y, const char *text, FILE *stream);
/* A quantity with its unit. */
hearth_units_text svg_quantity(hearth_quantity quantity, double value);

/* Values of an axis that are worth a label, between two of its bins: powers, or on linear axes multiples of a round number. Returns how many, at most SVG_TICKS. */
enum { SVG_TICKS = 12 };
int svg_ticks(const page_axis *axis, uint32_t first, uint32_t end, double ret[SVG_TICKS]);

/* A value of an axis, with its unit. */
hearth_units_text svg_value(const page_axis *axis, double value);

hearth_status svg_flame(const page_model *model, FILE *stream, hearth_error *err);
void svg_grid(const page_model *model, const page_grid *grid, FILE *stream);
void svg_live(const page_model *model, FILE *stream);
void svg_threads(const page_model *model, FILE *stream);

#endif
