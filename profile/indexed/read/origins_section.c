/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads two sections about runs: RUN FACTS, and ORIGINS, whole, as it has few rows. Its rows agree with its grain, so that merges
 * may rely on it. */
#include <string.h>

#include "hearth/origin.h"
#include "reader_internal.h"

static int compare_rows(const hearth_origin *a, const hearth_origin *b) {
  int order = memcmp(a->build_id, b->build_id, sizeof a->build_id);
  if (order == 0)
    order = (a->build_id_size > b->build_id_size) - (a->build_id_size < b->build_id_size);
  if (order == 0)
    order = strcmp(a->host, b->host);
  return order ? order : (a->day > b->day) - (a->day < b->day);
}

/* Does the row have no more than the grain keeps? */
static bool is_coarse(const hearth_origin *row, uint32_t grain) {
  return (grain < HEARTH_ORIGINS_BY_WEEK || row->day == hearth_origin_week(row->day)) &&
         (grain < HEARTH_ORIGINS_NO_HOST || !*row->host) && (grain < HEARTH_ORIGINS_BUILDS || row->day == 0) &&
         (grain < HEARTH_ORIGINS_ONE || row->build_id_size == 0);
}

static bool is_padded(const hearth_origin *row) {
  uint8_t rest = 0;
  for (size_t i = row->build_id_size; i < sizeof row->build_id; i++)
    rest |= row->build_id[i];
  return rest == 0;
}

static hearth_status read_row(hearth_profile *profile, const uint8_t *from, uint32_t i, hearth_origins *ret,
                              hearth_error *err) {
  hearth_indexed_origin stored;
  memcpy(&stored, from, sizeof stored);
  hearth_origin *row = &ret->rows[i];
  *row = (hearth_origin){
      .day = stored.day, .build_id_size = stored.build_id_size, .runs = stored.runs, .total_bytes = stored.total_bytes};
  memcpy(row->build_id, stored.build_id, sizeof row->build_id);
  HEARTH_TRY(hearth_profile_get_string(profile, stored.host, &row->host, err));
  if (row->build_id_size > sizeof row->build_id || !is_padded(row) || !is_coarse(row, ret->grain) ||
      stored.reserved != 0 || (row->runs == 0 && row->total_bytes == 0))
    return hearth_profile_corrupt(profile, err, "origin %u is impossible", i);
  if (i > 0 && compare_rows(row - 1, row) >= 0)
    return hearth_profile_corrupt(profile, err, "its origins are not sorted at %u", i);
  return HEARTH_OK;
}

hearth_status hearth_profile_get_origins(hearth_profile *profile, hearth_origins *ret, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_ORIGINS);
  hearth_indexed_origins header;
  const uint8_t *from;
  ret->grain = ret->count = 0;
  if (s->id == 0)
    return HEARTH_OK;
  if (s->count == 0 || s->count > HEARTH_ORIGINS_MOST ||
      s->size != sizeof header + (uint64_t)s->count * sizeof(hearth_indexed_origin))
    return hearth_profile_corrupt(profile, err, "it has an impossible number of origins");
  HEARTH_TRY(hearth_profile_touch(profile, s->offset, s->size, &from, err));
  memcpy(&header, from, sizeof header);
  if (header.grain >= HEARTH_ORIGIN_GRAINS || header.reserved != 0)
    return hearth_profile_corrupt(profile, err, "its origins have an unknown grain");
  ret->grain = header.grain;
  for (uint32_t i = 0; i < s->count; i++)
    HEARTH_TRY(read_row(profile, from + sizeof header + i * sizeof(hearth_indexed_origin), i, ret, err));
  ret->count = s->count;
  return HEARTH_OK;
}

hearth_status hearth_profile_get_run_facts(hearth_profile *profile, hearth_run_facts *ret, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_RUN_FACTS);
  hearth_indexed_run_facts stored;
  const uint8_t *from;
  *ret = (hearth_run_facts){.command = ""};
  if (s->id == 0)
    return HEARTH_OK;
  if (s->size != sizeof stored)
    return hearth_profile_corrupt(profile, err, "its facts of runs have a wrong size");
  HEARTH_TRY(hearth_profile_touch(profile, s->offset, s->size, &from, err));
  memcpy(&stored, from, sizeof stored);
  if (stored.flags > HEARTH_COMMANDS_DIFFER || (stored.flags & HEARTH_COMMANDS_DIFFER && stored.command) ||
      (stored.peak_bytes == 0 && stored.command == 0 && stored.flags == 0))
    return hearth_profile_corrupt(profile, err, "its facts of runs are impossible");
  ret->peak_bytes = stored.peak_bytes;
  ret->commands_differ = stored.flags & HEARTH_COMMANDS_DIFFER;
  return hearth_profile_get_string(profile, stored.command, &ret->command, err);
}
