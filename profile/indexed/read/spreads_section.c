/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the SPREADS section, whole, when it is first asked for: a row for each context, empty where the section has none. */
#include <stdlib.h>

#include "array.h"
#include "reader_internal.h"

bool hearth_profile_has_spreads(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_SPREADS)->id != 0;
}

static hearth_status read_rows(hearth_profile *profile, const packed_table *table, hearth_spread *spreads,
                               hearth_error *err) {
  uint64_t v[HEARTH_SPREAD_COLUMNS][HEARTH_PACKED_ROWS], lowest = 0;
  for (uint32_t i = 0; i < table->row_count; i++) {
    uint32_t k = i % HEARTH_PACKED_ROWS;
    if (k == 0)
      HEARTH_TRY(hearth_profile_read_block(profile, table, i, HEARTH_SPREAD_COLUMNS, v, "spread", err));
    uint64_t context = v[HEARTH_SPREAD_CONTEXT][k];
    if (context < lowest || context >= hearth_profile_context_count(profile))
      return hearth_profile_corrupt(profile, err, "its spreads are not sorted at %u", i);
    for (size_t column = HEARTH_SPREAD_RUNS; column < HEARTH_SPREAD_COLUMNS; column++)
      spreads[context].sums[column - HEARTH_SPREAD_RUNS] = v[column][k];
    lowest = context + 1;
  }
  return HEARTH_OK;
}

static hearth_status decode(hearth_profile *profile, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_SPREADS);
  packed_table table = {.section = s->id, .row_count = s->count, .end = s->offset + s->size};
  hearth_spread *spreads;
  if (s->count > hearth_profile_context_count(profile))
    return hearth_profile_corrupt(profile, err, "more contexts have spreads than there are");
  HEARTH_TRY(hearth_profile_open_packed(profile, s->offset, &table, err));
  if (table.column_count < HEARTH_SPREAD_COLUMNS)
    return hearth_profile_corrupt(profile, err, "its spreads have too few columns");
  HEARTH_TRY(hearth_array_create(&spreads, hearth_profile_context_count(profile), sizeof *spreads, err));
  hearth_status status = read_rows(profile, &table, spreads, err);
  if (status == HEARTH_OK)
    profile->spreads = spreads;
  else
    free(spreads);
  return status;
}

hearth_status hearth_profile_get_spread(hearth_profile *profile, uint32_t context, hearth_spread *ret,
                                        hearth_error *err) {
  *ret = (hearth_spread){{0}};
  if (!hearth_profile_has_spreads(profile))
    return HEARTH_OK;
  if (!profile->spreads)
    HEARTH_TRY(decode(profile, err));
  if (context < hearth_profile_context_count(profile))
    *ret = profile->spreads[context];
  return HEARTH_OK;
}
