/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The largest unit of which there is at least one; digits by size. */
#include "amount.h"

#include <stdio.h>

hearth_amount_text hearth_amount_bytes(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  hearth_amount_text text;
  double value = (double)bytes;
  size_t unit = 0;
  for (; value >= 1024 && unit < 6; unit++)
    value /= 1024;
  snprintf(text.c, sizeof text.c, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

hearth_amount_text hearth_amount_of(hearth_quantity quantity, uint64_t value) {
  hearth_amount_text text, bytes = hearth_amount_bytes(value);
  if (quantity == HEARTH_QUANTITY_BYTES || quantity == HEARTH_QUANTITY_LIVE)
    return bytes;
  if (quantity == HEARTH_QUANTITY_BYTE_SECONDS)
    snprintf(text.c, sizeof text.c, "%.28s s", bytes.c);
  else
    snprintf(text.c, sizeof text.c, "%llu", (unsigned long long)value);
  return text;
}

hearth_amount_text hearth_amount_time(double ns) {
  static const struct {
    double ns;
    const char *name;
  } units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
  hearth_amount_text text;
  size_t unit = 0;
  while (unit < 3 && ns >= units[unit + 1].ns)
    unit++;
  snprintf(text.c, sizeof text.c, "%.*f %s",
           ns < 10 * units[unit].ns && unit ? 2
           : unit                           ? 1
                                            : 0,
           ns / units[unit].ns, units[unit].name);
  return text;
}
