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

static double step_of(double range) {
  static const double factors[] = {1, 2, 5};
  double unit = pow(10, floor(log10(range / (SVG_TICKS - 1))));
  for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++)
    if (unit * factors[i] * (SVG_TICKS - 1) >= range)
      return unit * factors[i];
  return unit * 10;
}

static int linear(double least, double greatest, double ret[SVG_TICKS]) {
  double step = step_of(greatest - least);
  int count = 0;
  for (double multiple = ceil(least / step); multiple * step <= greatest && count < SVG_TICKS; multiple++)
    ret[count++] = multiple * step;
  return count;
}

int svg_ticks(const page_axis *axis, uint32_t first, uint32_t end, double ret[SVG_TICKS]) {
  double least = page_axis_bound(axis, first), greatest = page_axis_bound(axis, end);
  return axis->step > 0 ? linear(least, greatest, ret)
                        : logarithmic(axis->unit == PAGE_NS ? 10 : 2, least, greatest, ret);
}
