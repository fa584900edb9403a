/* Labels of axes. */
#include <math.h>

#include "svg.h"

static const double SLACK = 1e-9; /* a power that is not quite one counts */

static int logarithmic(double base, double least, double greatest, double ret[SVG_TICKS]) {
  double first = ceil(log(least) / log(base) - SLACK), end = floor(log(greatest) / log(base) + SLACK);
  double step = ceil((end - first + 1) / SVG_TICKS);
  int count = 0;
  for (double exponent = first; exponent <= end; exponent += step)
    ret[count++] = pow(base, exponent);
  return count;
}

/* The least round number of which a range has few enough multiples: of bytes a power of two, else 1, 2 or 5 times a power of
 * ten. */
static double step_of(const page_axis *axis, double range) {
  static const double factors[] = {1, 2, 5};
  double least = range / (SVG_TICKS - 1), unit = pow(10, floor(log10(least)));
  if (axis->unit == PAGE_BYTES)
    return exp2(ceil(log2(least)));
  for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
    if (unit * factors[i] >= least)
      return unit * factors[i];
  return unit * 10;
}

static int linear(const page_axis *axis, double least, double greatest, double ret[SVG_TICKS]) {
  double step = step_of(axis, greatest - least);
  int count = 0;
  for (double multiple = ceil(least / step); multiple * step <= greatest && count < SVG_TICKS; multiple++)
    ret[count++] = multiple * step;
  return count;
}

int svg_ticks(const page_axis *axis, uint32_t first, uint32_t end, double ret[SVG_TICKS]) {
  double least = page_axis_bound(axis, first), greatest = page_axis_bound(axis, end);
  return axis->step > 0 ? linear(axis, least, greatest, ret)
                        : logarithmic(axis->unit == PAGE_NS ? 10 : 2, least, greatest, ret);
}

hearth_units_text svg_value(const page_axis *axis, double value) {
  return axis->unit == PAGE_NS ? hearth_units_time(value) : hearth_units_bytes((uint64_t)(value + 0.5));
}
