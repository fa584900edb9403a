#include "svg.h"

#include "page_markup.h"

void svg_begin(int width, int height, const char *title, FILE *stream) {
  fprintf(stream,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
          "font-family=\"sans-serif\" font-size=\"12\">\n<title>",
          width, height, width, height);
  page_put_text(title, stream);
  fprintf(stream, "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#fcfcfa\"/>\n", width, height);
}

void svg_end(FILE *stream) { fputs("</svg>\n", stream); }

svg_color svg_mix(svg_color from, svg_color to, double share) {
  svg_color mixed;
  for (int i = 0; i < 3; i++)
    mixed.part[i] = (int)(from.part[i] * (1 - share) + to.part[i] * share + 0.5);
  return mixed;
}

void svg_rectangle_begin(double x, double y, double width, double height, svg_color color, FILE *stream) {
  fprintf(stream, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%02x%02x%02x\"><title>", x, y,
          width, height, (unsigned)color.part[0], (unsigned)color.part[1], (unsigned)color.part[2]);
}

void svg_rectangle_end(FILE *stream) { fputs("</title></rect>\n", stream); }

void svg_text(double x, double y, const char *anchor, const char *text, FILE *stream) {
  fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
  page_put_text(text, stream);
  fputs("</text>\n", stream);
}

void svg_text_upwards(double x, double y, const char *text, FILE *stream) {
  fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\">", x, y, x,
          y);
  page_put_text(text, stream);
  fputs("</text>\n", stream);
}

hearth_units_text svg_quantity(hearth_quantity quantity, double value) {
  hearth_units_text text;
  if (quantity == HEARTH_QUANTITY_BYTES || quantity == HEARTH_QUANTITY_LIVE)
    return hearth_units_bytes(value >= 0x1p64 ? UINT64_MAX : (uint64_t)value);
  snprintf(text.c, sizeof text.c, "%.0f", value);
  return text;
}
