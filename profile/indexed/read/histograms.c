/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the HISTOGRAMS section: a binary search for the context's row, then variable-length numbers. A row's bytes end
 * where those of the next one begin. */
#include <stdlib.h>

#include "array.h"
#include "hearth/raw_codec.h"
#include "reader_internal.h"

static hearth_status read_row(hearth_profile *profile, uint32_t row, hearth_indexed_histogram *ret, hearth_error *err) {
  return hearth_profile_read_row(profile, HEARTH_SECTION_HISTOGRAMS, row, ret, sizeof *ret, "histogram", err);
}

static uint32_t row_count(const hearth_profile *profile) {
  return hearth_profile_section(profile, HEARTH_SECTION_HISTOGRAMS)->count;
}

static hearth_status read_context(hearth_profile *profile, uint32_t row, uint64_t *ret, hearth_error *err) {
  hearth_indexed_histogram found;
  HEARTH_TRY(read_row(profile, row, &found, err));
  *ret = found.context;
  return HEARTH_OK;
}

/* Where the bytes of a row lie in the file. */
static hearth_status find_bytes(hearth_profile *profile, uint32_t number, const hearth_indexed_histogram *row,
                                const uint8_t **ret, size_t *ret_size, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_HISTOGRAMS);
  uint64_t rows_size = (uint64_t)s->count * sizeof *row;
  hearth_indexed_histogram next;
  uint64_t end = s->size - rows_size;
  if (number + 1 < s->count) {
    HEARTH_TRY(read_row(profile, number + 1, &next, err));
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

static hearth_status read_histogram(hearth_profile *profile, uint32_t number, const hearth_indexed_histogram *row,
                                    hearth_histogram *ret, hearth_error *err) {
  const uint8_t *from;
  size_t bytes = 0;
  HEARTH_TRY(find_bytes(profile, number, row, &from, &bytes, err));
  return decode(profile, number, from, bytes, ret, err);
}

hearth_status hearth_profile_get_histogram(hearth_profile *profile, uint32_t row, hearth_histogram *ret,
                                           hearth_error *err) {
  hearth_indexed_histogram found;
  uint32_t number;
  *ret = (hearth_histogram){NULL, 0};
  if (row_count(profile) == 0) /* most profiles */
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_search(profile, read_context, 0, row_count(profile), row, &number, err));
  if (number == row_count(profile))
    return HEARTH_OK;
  HEARTH_TRY(read_row(profile, number, &found, err));
  return found.context == row ? read_histogram(profile, number, &found, ret, err) : HEARTH_OK;
}

hearth_status hearth_profile_verify_histograms(hearth_profile *profile, hearth_error *err) {
  uint32_t contexts = 0; /* one more than the context before */
  for (uint32_t i = 0; i < row_count(profile); i++) {
    hearth_indexed_histogram row;
    hearth_histogram histogram;
    HEARTH_TRY(read_row(profile, i, &row, err));
    if (row.context < contexts || row.context >= hearth_profile_context_count(profile) || (i == 0 && row.offset != 0))
      return hearth_profile_corrupt(profile, err, "its histograms are not sorted at %u", i);
    HEARTH_TRY(read_histogram(profile, i, &row, &histogram, err));
    contexts = row.context + 1;
  }
  return HEARTH_OK;
}
