/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rows of quantities.def as names, and as numbers of a MIB. */
#include <string.h>

#include "hearth/view.h"
#include "live_bytes.h"

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
