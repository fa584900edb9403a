/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Amounts in the largest unit that makes them 1 or more, with digits by size. */
#include "amount.h"

#include <stdio.h>
#include <string.h>

#include "hearth/view.h"
#include "live_bytes.h"

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
  if (quantity == HEARTH_QUANTITY_BYTES || quantity == HEARTH_QUANTITY_LIVE || quantity == HEARTH_QUANTITY_PEAK)
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

/* The rows of quantities.def as names, and as numbers of a MIB. */

static const char *const names[] = {
#define HEARTH_QUANTITY(NAME, name, key, pprof_type, unit, description) name,
#include "hearth/quantities.def"
};

static const char *const keys[] = {
#define HEARTH_QUANTITY(NAME, name, key, pprof_type, unit, description) key,
#include "hearth/quantities.def"
};

static uint64_t round_saturating(double value) { return value >= 0x1p64 ? UINT64_MAX : (uint64_t)(value + 0.5); }

uint64_t hearth_quantity_of(hearth_quantity quantity, const hearth_mib *mib) {
  double average_size = mib->AllocCount ? (double)mib->TotalSize / (double)mib->AllocCount : 0;
  switch (quantity) {
  case HEARTH_QUANTITY_BYTES:
    return mib->TotalSize;
  case HEARTH_QUANTITY_ALLOCS:
    return mib->AllocCount;
  case HEARTH_QUANTITY_ACCESSES:
    return mib->TotalAccessCount;
  case HEARTH_QUANTITY_BYTE_SECONDS:
    return round_saturating(average_size * (double)mib->TotalLifetime / 1e9);
  case HEARTH_QUANTITY_LIVE:
    return hearth_live_bytes(mib);
  case HEARTH_QUANTITY_LIVE_ALLOCS:
    return mib->LiveAtExit;
  case HEARTH_QUANTITY_PEAK:
    return mib->PeakBytes;
  case HEARTH_QUANTITY_PEAK_ALLOCS:
    return mib->PeakBlocks;
  case HEARTH_QUANTITY_COUNT:
    break;
  }
  return 0;
}

const char *hearth_quantity_name(hearth_quantity quantity) { return names[quantity]; }

const char *hearth_quantity_key(hearth_quantity quantity) { return keys[quantity]; }

bool hearth_quantity_find(const char *name, hearth_quantity *ret) {
  for (*ret = 0; *ret < HEARTH_QUANTITY_COUNT; (*ret)++)
    if (strcmp(names[*ret], name) == 0)
      return true;
  return false;
}

hearth_status hearth_quantity_check(hearth_quantity quantity, const hearth_profile_summary *summary, const char *title,
                                    hearth_error *err) {
  if (quantity != HEARTH_QUANTITY_ACCESSES || summary->accesses_counted)
    return HEARTH_OK;
  return hearth_error_set(err, HEARTH_E_NOT_FOUND, "%s: accesses were not counted in every run: choose another value",
                          title);
}
