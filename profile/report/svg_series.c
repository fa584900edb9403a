/* Bytes that are live, by time. */
#include "svg.h"

enum { WIDTH = 800, HEIGHT = 320, LEFT = 88, RIGHT = 28, TOP = 28, BOTTOM = 44, Y_BINS = 100 };

static void draw_axes(const page_series *live, double top, FILE *stream) {
  const page_axis x = {.unit = PAGE_NS, .step = live->step_ns, .bins = live->count};
  const page_axis y = {.unit = PAGE_BYTES, .step = top / Y_BINS, .bins = Y_BINS};
  double ticks[SVG_TICKS], width = (WIDTH - LEFT - RIGHT) / (live->step_ns * live->count);
  int count = svg_ticks(&x, 0, x.bins, ticks);
  for (int i = 0; i < count; i++)
    svg_text(LEFT + ticks[i] * width, HEIGHT - BOTTOM + 16, "middle", svg_value(&x, ticks[i]).c, stream);
  count = svg_ticks(&y, 0, y.bins, ticks);
  for (int i = 0; i < count; i++)
    svg_text(LEFT - 4, HEIGHT - BOTTOM - ticks[i] / top * (HEIGHT - TOP - BOTTOM) + 4, "end", svg_value(&y, ticks[i]).c,
             stream);
  svg_text((LEFT + WIDTH) / 2.0, HEIGHT - 8, "middle", "time", stream);
  svg_text_upwards(16, (TOP + HEIGHT - BOTTOM) / 2.0, "bytes live", stream);
}

static void draw_area(const page_series *live, double top, FILE *stream) {
  double width = (double)(WIDTH - LEFT - RIGHT) / live->count;
  fprintf(stream, "<path fill=\"#2f6f6a\" d=\"M%d %d", LEFT, HEIGHT - BOTTOM);
  for (uint32_t i = 0; i < live->count; i++)
    fprintf(stream, "L%.1f %.1fH%.1f", LEFT + i * width,
            HEIGHT - BOTTOM - (double)live->bytes[i] / top * (HEIGHT - TOP - BOTTOM), LEFT + (i + 1) * width);
  fprintf(stream, "V%dZ\"/>\n", HEIGHT - BOTTOM);
}

void svg_live(const page_model *model, FILE *stream) {
  const page_series *live = &model->timeline.live;
  const page_axis time = {.unit = PAGE_NS};
  double top = live->peak_bytes > 0 ? (double)live->peak_bytes : 1;
  char title[96];
  snprintf(title, sizeof title, "bytes live by time: at most %s, at %s",
           svg_quantity(HEARTH_QUANTITY_LIVE, (double)live->peak_bytes).c, svg_value(&time, (double)live->peak_ns).c);
  svg_begin(WIDTH, HEIGHT, model->options->title, stream);
  svg_text(3, 16, "start", title, stream);
  draw_axes(live, top, stream);
  draw_area(live, top, stream);
  svg_end(stream);
}
