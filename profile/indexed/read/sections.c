/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the sections that not every profile has: histograms, names of types, globals, variances, facts of runs. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/global.h"
#include "hearth/ids.h"
#include "hearth/raw.h"
#include "reader_internal.h"

/* Reads the HISTOGRAMS section: a binary search for the context's row, then variable-length numbers. A row's bytes end
 * where those of the next one begin. */

static hearth_status section_read_row(hearth_profile *profile, uint32_t row, hearth_indexed_histogram *ret,
                                      hearth_error *err) {
  return hearth_profile_read_row(profile, HEARTH_SECTION_HISTOGRAMS, row, ret, sizeof *ret, "histogram", err);
}

static uint32_t row_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_HISTOGRAMS)->count;
}

/* Where the bytes of a row lie in the file. */
static hearth_status find_bytes(hearth_profile *profile, uint32_t number, const hearth_indexed_histogram *row,
                                const uint8_t **ret, size_t *ret_size, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_HISTOGRAMS);
  uint64_t rows_size = (uint64_t)s->count * sizeof *row;
  hearth_indexed_histogram next;
  uint64_t end = s->size - rows_size;
  if (number + 1 < s->count) {
    HEARTH_TRY(section_read_row(profile, number + 1, &next, err));
    if (next.offset > end)
      return hearth_profile_corrupt(profile, err, "histogram %u lies outside", number + 1);
    end = next.offset;
  }
  if (row->offset > end)
    return hearth_profile_corrupt(profile, err, "histogram %u ends before it begins", number);
  *ret_size = end - row->offset;
  return hearth_profile_touch(profile, s->offset + rows_size + row->offset, *ret_size, ret, err);
}

/* Exactly the numbers that there should be, each of at least one byte. */
static hearth_status decode(hearth_profile *profile, uint32_t number, const uint8_t *from, size_t bytes,
                            hearth_histogram *ret, hearth_error *err) {
  const uint8_t *end = from + bytes;
  uint64_t size = 0;
  bool good = hearth_raw_take_varint(&from, end, &size) && size > 0 && size <= (size_t)(end - from);
  if (good)
    HEARTH_TRY(hearth_check_memory(
        hearth_array_reserve(&profile->counts, &profile->counts_room, 0, size, sizeof *profile->counts), err));
  for (uint64_t i = 0; good && i < size; i++)
    good = hearth_raw_take_varint(&from, end, &profile->counts[i]);
  if (!good || from != end || profile->counts[size - 1] == 0)
    return hearth_profile_corrupt(profile, err, "histogram %u does not fill its place", number);
  *ret = (hearth_histogram){profile->counts, size};
  return HEARTH_OK;
}

static hearth_status section_read_histogram(hearth_profile *profile, uint32_t number,
                                            const hearth_indexed_histogram *row, hearth_histogram *ret,
                                            hearth_error *err) {
  const uint8_t *from;
  size_t bytes = 0;
  HEARTH_TRY(find_bytes(profile, number, row, &from, &bytes, err));
  return decode(profile, number, from, bytes, ret, err);
}

/* Once: else rows that no search hits could make each histogram as long as all. */
static hearth_status check_histograms(hearth_profile *profile, hearth_error *err) {
  hearth_indexed_histogram row, last = {0};
  for (uint32_t i = 0; !profile->histograms_are_sorted && i < row_count(profile); i++, last = row) {
    HEARTH_TRY(section_read_row(profile, i, &row, err));
    if (row.context >= hearth_profile_context_count(profile) ||
        (i > 0 && (row.context <= last.context || row.offset < last.offset)))
      return hearth_profile_corrupt(profile, err, "histogram %u is not behind the one before", i);
  }
  profile->histograms_are_sorted = true;
  return HEARTH_OK;
}

hearth_status hearth_profile_get_histogram(hearth_profile *profile, uint32_t row, hearth_histogram *ret,
                                           hearth_error *err) {
  uint32_t first = 0, end = row_count(profile); /* 0 in most profiles */
  *ret = (hearth_histogram){NULL, 0};
  HEARTH_TRY(check_histograms(profile, err));
  while (first < end) {
    uint32_t middle = first + (end - first) / 2;
    hearth_indexed_histogram found;
    HEARTH_TRY(section_read_row(profile, middle, &found, err));
    if (found.context == row)
      return section_read_histogram(profile, middle, &found, ret, err);
    if (found.context < row)
      first = middle + 1;
    else
      end = middle;
  }
  return HEARTH_OK;
}

/* Reads the TYPES section: a binary search by id. */

uint32_t hearth_profile_type_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_TYPES)->count;
}

hearth_status hearth_profile_get_type(hearth_profile *profile, uint32_t row, uint64_t *ret_id, const char **ret_name,
                                      hearth_error *err) {
  hearth_indexed_type type;
  HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_TYPES, row, &type, sizeof type, "type", err));
  *ret_id = type.id;
  return hearth_profile_get_string(profile, type.name, ret_name, err);
}

hearth_status hearth_profile_type_name(hearth_profile *profile, uint64_t id, const char **ret_name, hearth_error *err) {
  uint32_t row;
  hearth_status status =
      hearth_profile_find_id(profile, HEARTH_SECTION_TYPES, sizeof(hearth_indexed_type), id, &row, err);
  *ret_name = "";
  if (status == HEARTH_E_NOT_FOUND)
    return HEARTH_OK;
  HEARTH_THEN(status, hearth_profile_get_type(profile, row, &id, ret_name, err));
  return status;
}

/* Reads the GLOBALS section: a binary search by id. */

uint32_t hearth_profile_global_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_GLOBALS)->count;
}

hearth_status hearth_profile_get_global(hearth_profile *profile, uint32_t row, hearth_global *ret, hearth_error *err) {
  hearth_indexed_global stored;
  HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_GLOBALS, row, &stored, sizeof stored, "global", err));
  if (!hearth_global_flags_are_valid(stored.flags & ~HEARTH_GLOBAL_HOT) ||
      (stored.stores && !(stored.flags & HEARTH_GLOBAL_STORES)))
    return hearth_profile_corrupt(profile, err, "global %u has impossible flags", row);
  *ret = (hearth_global){.line = stored.line,
                         .flags = stored.flags,
                         .size = stored.size,
                         .accesses = stored.accesses,
                         .touched_lines = stored.touched_lines,
                         .stores = stored.stores};
  HEARTH_TRY(hearth_profile_get_string(profile, stored.name, &ret->name, err));
  return hearth_profile_get_string(profile, stored.file, &ret->file, err);
}

hearth_status hearth_profile_find_global(hearth_profile *profile, uint64_t id, hearth_global *ret, hearth_error *err) {
  uint32_t row;
  HEARTH_TRY(hearth_profile_find_id(profile, HEARTH_SECTION_GLOBALS, sizeof(hearth_indexed_global), id, &row, err));
  return hearth_profile_get_global(profile, row, ret, err);
}

/* Reads the VARIANCES section, whole, when it is first asked for: a row for each context, empty where the section
 * has none. */

bool hearth_profile_has_variances(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_VARIANCES)->id != 0;
}

static hearth_status section_read_rows(hearth_profile *profile, const packed_table *table, hearth_variance *variances,
                                       hearth_error *err) {
  uint64_t v[HEARTH_VARIANCE_COLUMNS][HEARTH_PACKED_ROWS], lowest = 0;
  for (uint32_t i = 0; i < table->row_count; i++) {
    uint32_t k = i % HEARTH_PACKED_ROWS;
    if (k == 0)
      HEARTH_TRY(hearth_profile_read_block(profile, table, i, HEARTH_VARIANCE_COLUMNS, v, "variance", err));
    uint64_t context = v[HEARTH_VARIANCE_CONTEXT][k];
    if (context < lowest || context >= hearth_profile_context_count(profile))
      return hearth_profile_corrupt(profile, err, "its variances are not sorted at %u", i);
    for (size_t column = HEARTH_VARIANCE_RUNS; column < HEARTH_VARIANCE_COLUMNS; column++)
      variances[context].sums[column - HEARTH_VARIANCE_RUNS] = v[column][k];
    lowest = context + 1;
  }
  return HEARTH_OK;
}

static hearth_status decode_variance(hearth_profile *profile, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_VARIANCES);
  packed_table table = {.section = s->id, .row_count = s->count, .end = s->offset + s->size};
  hearth_variance *variances;
  if (s->count > hearth_profile_context_count(profile))
    return hearth_profile_corrupt(profile, err, "more contexts have variances than there are");
  HEARTH_TRY(hearth_profile_open_packed(profile, s->offset, &table, err));
  if (table.column_count < HEARTH_VARIANCE_COLUMNS)
    return hearth_profile_corrupt(profile, err, "its variances have too few columns");
  HEARTH_TRY(hearth_array_create(&variances, hearth_profile_context_count(profile), sizeof *variances, err));
  hearth_status status = section_read_rows(profile, &table, variances, err);
  if (status == HEARTH_OK)
    profile->variances = variances;
  else
    free(variances);
  return status;
}

hearth_status hearth_profile_get_variance(hearth_profile *profile, uint32_t context, hearth_variance *ret,
                                          hearth_error *err) {
  *ret = (hearth_variance){{0}};
  if (!hearth_profile_has_variances(profile))
    return HEARTH_OK;
  if (!profile->variances)
    HEARTH_TRY(decode_variance(profile, err));
  if (context < hearth_profile_context_count(profile))
    *ret = profile->variances[context];
  return HEARTH_OK;
}

/* Reads two sections about runs: RUN FACTS and HISTORY. */

hearth_status hearth_profile_get_run_facts(hearth_profile *profile, hearth_run_facts *ret, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_RUN_FACTS);
  hearth_indexed_run_facts stored = {0};
  const uint8_t *from;
  *ret = (hearth_run_facts){.command = ""};
  if (s->id == 0)
    return HEARTH_OK;
  if (s->size != sizeof stored)
    return hearth_profile_corrupt(profile, err, "its facts of runs have a wrong size");
  HEARTH_TRY(hearth_profile_touch(profile, s->offset, sizeof stored, &from, err));
  memcpy(&stored, from, sizeof stored);
  if (stored.flags > HEARTH_COMMANDS_DIFFER || (stored.flags & HEARTH_COMMANDS_DIFFER && stored.command) ||
      (stored.first_day == 0) != (stored.last_day == 0) || stored.first_day > stored.last_day ||
      (stored.peak_bytes == 0 && stored.command == 0 && stored.flags == 0 && stored.last_day == 0))
    return hearth_profile_corrupt(profile, err, "its facts of runs are impossible");
  ret->peak_bytes = stored.peak_bytes;
  ret->first_day = stored.first_day;
  ret->last_day = stored.last_day;
  ret->commands_differ = stored.flags & HEARTH_COMMANDS_DIFFER;
  return hearth_profile_get_string(profile, stored.command, &ret->command, err);
}

static hearth_status section_read_history(hearth_profile *profile, const hearth_indexed_section *s, const uint8_t *from,
                                          hearth_heap_history *ret, hearth_error *err) {
  const uint8_t *end = from + s->size;
  hearth_indexed_history header;
  uint64_t passed, context = 0;
  memcpy(&header, from, sizeof header);
  from += sizeof header;
  ret->runs = header.runs;
  ret->peak_ppm = header.peak_ppm;
  if (!hearth_raw_take_levels(&from, end, ret->levels))
    return hearth_profile_corrupt(profile, err, "its history has impossible levels");
  for (; ret->count < s->count; ret->count++, context++) {
    if (!hearth_raw_take_varint(&from, end, &passed) || passed >= hearth_profile_context_count(profile) ||
        (context += passed) >= hearth_profile_context_count(profile) ||
        !hearth_raw_take_levels(&from, end, ret->rows[ret->count].levels))
      return hearth_profile_corrupt(profile, err, "row %zu of its history is impossible", ret->count);
    ret->rows[ret->count].context = (uint32_t)context;
  }
  return from == end ? HEARTH_OK : hearth_profile_corrupt(profile, err, "its history does not fill its place");
}

hearth_status hearth_profile_get_history(hearth_profile *profile, hearth_heap_history *ret, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_HISTORY);
  const uint8_t *from;
  *ret = (hearth_heap_history){0};
  if (s->id == 0)
    return HEARTH_OK;
  if (s->size < sizeof(hearth_indexed_history) || s->count > hearth_profile_context_count(profile) ||
      s->count > s->size)
    return hearth_profile_corrupt(profile, err, "its history has a wrong size");
  HEARTH_TRY(hearth_profile_touch(profile, s->offset, s->size, &from, err));
  HEARTH_TRY(hearth_array_create(&ret->rows, s->count, sizeof *ret->rows, err));
  hearth_status status = section_read_history(profile, s, from, ret, err);
  if (status != HEARTH_OK)
    hearth_heap_history_free(ret);
  return status;
}

void hearth_heap_history_free(hearth_heap_history *history) {
  free(history->rows);
  *history = (hearth_heap_history){0};
}
