/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opens an indexed profile: header, table of sections, and the shape of every table. Costs the same whatever the size. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "reader_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the format is little-endian and these files load structs as they are: add byte swaps for this machine"
#endif

static hearth_status reader_open_refuse_foreign(const hearth_profile *profile, hearth_error *err) {
  char begin[9] = {0};
  const char *kind = hearth_file_kind(profile->data, profile->size);
  if (kind)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not an indexed Hearth profile: it is %s", profile->name, kind);
  for (size_t i = 0; i < sizeof begin - 1 && i < profile->size; i++)
    begin[i] = profile->data[i] < 128 && isprint(profile->data[i]) ? (char)profile->data[i] : '.';
  return hearth_error_set(err, HEARTH_E_FORMAT,
                          "%s: not an indexed Hearth profile (starts with '%s'); make one with 'hearth index'",
                          profile->name, begin);
}

static hearth_status reader_open_truncated(const hearth_profile *profile, uint64_t expected, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_TRUNCATED,
                          "%s: the profile is truncated: %zu of %llu bytes are there; make it again with 'hearth "
                          "index'",
                          profile->name, profile->size, (unsigned long long)expected);
}

static hearth_status reader_open_read_header(hearth_profile *profile, hearth_error *err) {
  hearth_indexed_header *header = &profile->header;
  uint64_t magic = HEARTH_INDEXED_MAGIC;
  if (profile->size == 0)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: the file is empty; make a profile with 'hearth index'",
                            profile->name);
  size_t begin = profile->size < sizeof magic ? profile->size : sizeof magic;
  if (memcmp(profile->data, &magic, begin) != 0)
    return reader_open_refuse_foreign(profile, err);
  if (profile->size < sizeof *header)
    return reader_open_truncated(profile, sizeof *header, err);
  memcpy(header, profile->data, sizeof *header);
  if (header->version != HEARTH_INDEXED_VERSION || header->required_flags > HEARTH_FLAG_DENSITIES)
    return hearth_error_set(err, HEARTH_E_VERSION,
                            "%s: format version %u with flags %#x; this release of Hearth reads version %u: use the "
                            "release that wrote it, or make the profile again",
                            profile->name, header->version, header->required_flags, HEARTH_INDEXED_VERSION);
  if (profile->size < header->file_size)
    return reader_open_truncated(profile, header->file_size, err);
  if (profile->size > header->file_size)
    return hearth_profile_corrupt(profile, err, "%llu bytes follow its end",
                                  (unsigned long long)(profile->size - header->file_size));
  return HEARTH_OK;
}

static hearth_status check_header_checksum(const hearth_profile *profile, hearth_error *err) {
  const hearth_indexed_header *header = &profile->header;
  if (header->header_size < sizeof *header || header->header_size > profile->size ||
      header->section_count > (profile->size - header->header_size) / sizeof(hearth_indexed_section))
    return hearth_profile_corrupt(profile, err, "its header or section table exceeds the file");
  size_t at = offsetof(hearth_indexed_header, checksum), behind = at + sizeof header->checksum;
  size_t covered = header->header_size + header->section_count * sizeof(hearth_indexed_section);
  uint64_t zero = 0;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, profile->data, at);
  XXH3_64bits_update(&state, &zero, sizeof zero);
  XXH3_64bits_update(&state, profile->data + behind, covered - behind);
  if (XXH3_64bits_digest(&state) != header->checksum)
    return hearth_profile_corrupt(profile, err, "wrong checksum of the header");
  if (header->id_scheme != HEARTH_IDS_HEARTH && header->id_scheme != HEARTH_IDS_LLVM)
    return hearth_error_set(err, HEARTH_E_VERSION,
                            "%s: function ids of scheme %u, which this release of Hearth does not know", profile->name,
                            header->id_scheme);
  return HEARTH_OK;
}

/* Bytes of a row of the sections that are tables. */
static const uint32_t row_sizes[HEARTH_SECTIONS + 1] = {
    [HEARTH_SECTION_SCHEMA] = sizeof(hearth_indexed_field),
    [HEARTH_SECTION_PATHS] = sizeof(hearth_indexed_path),
    [HEARTH_SECTION_FUNCTIONS] = sizeof(hearth_indexed_function),
    [HEARTH_SECTION_BINARIES] = sizeof(hearth_indexed_binary),
    [HEARTH_SECTION_TYPES] = sizeof(hearth_indexed_type),
    [HEARTH_SECTION_GLOBALS] = sizeof(hearth_indexed_global),
    [HEARTH_SECTION_CHECKSUMS] = sizeof(uint64_t),
};

static hearth_status read_sections(hearth_profile *profile, hearth_error *err) {
  const hearth_indexed_header *header = &profile->header;
  for (uint32_t i = 0; i < header->section_count; i++) {
    hearth_indexed_section s;
    memcpy(&s, profile->data + header->header_size + i * sizeof s, sizeof s);
    if (s.offset % 8 != 0 || s.offset > profile->size || s.size > profile->size - s.offset)
      return hearth_profile_corrupt(profile, err, "section %u lies outside the file", s.id);
    if (s.id == 0 || s.id > HEARTH_SECTIONS)
      continue;
    if (row_sizes[s.id] && s.size != (uint64_t)s.count * row_sizes[s.id])
      return hearth_profile_corrupt(profile, err, "section %u has a wrong size", s.id);
    if (s.id == HEARTH_SECTION_HISTOGRAMS && s.size / sizeof(hearth_indexed_histogram) < s.count)
      return hearth_profile_corrupt(profile, err, "section %u is cut short", s.id);
    if (profile->sections[s.id].id != 0)
      return hearth_profile_corrupt(profile, err, "section %u occurs twice", s.id);
    profile->sections[s.id] = s;
  }
  for (uint32_t id = 1; id <= HEARTH_SECTION_CHECKSUMS; id++)
    if (profile->sections[id].id == 0)
      return hearth_profile_corrupt(profile, err, "section %u is missing", id);
  if (hearth_profile_section(profile, HEARTH_SECTION_STRINGS)->size > UINT32_MAX)
    return hearth_profile_corrupt(profile, err, "its strings exceed 4 GiB");
  for (uint32_t id = 1; id <= HEARTH_SECTIONS; id++)
    if (id != HEARTH_SECTION_CHECKSUMS && profile->sections[id].offset + profile->sections[id].size >
                                              hearth_profile_section(profile, HEARTH_SECTION_CHECKSUMS)->offset)
      return hearth_profile_corrupt(profile, err, "section %u is not covered by the checksums", id);
  return HEARTH_OK;
}

static hearth_status prepare_checksums(hearth_profile *profile, hearth_error *err) {
  const hearth_indexed_section *checksums = hearth_profile_section(profile, HEARTH_SECTION_CHECKSUMS);
  uint64_t blocks = (checksums->offset + HEARTH_BLOCK_SIZE - 1) / HEARTH_BLOCK_SIZE;
  if (checksums->count != blocks || checksums->offset + checksums->size != profile->size)
    return hearth_profile_corrupt(profile, err, "it has %u checksums for %llu blocks", checksums->count,
                                  (unsigned long long)blocks);
  profile->checked = calloc(blocks / 8 + 1, 1);
  return profile->checked ? HEARTH_OK : hearth_error_nomem(err);
}

/* Column of the MIB that a tag stands for, or -1. */
static int column_of_tag(uint32_t tag) {
  switch (tag) {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  case tag:                                                                                                            \
    return HEARTH_COL_##Name;
#include "hearth/mib_fields.def"
  default:
    return -1;
  }
}

static hearth_status read_columns(hearth_profile *profile, packed_table *table, uint64_t at, hearth_error *err) {
  const uint8_t *from;
  HEARTH_TRY(hearth_profile_touch(profile, at, table->column_count * sizeof table->columns[0], &from, err));
  memcpy(table->columns, from, table->column_count * sizeof table->columns[0]);
  for (size_t i = 0; i < table->column_count; i++)
    if (table->columns[i].bits > 64 || (table->columns[i].reference >= i && table->columns[i].reference != HEARTH_NONE))
      return hearth_profile_corrupt(profile, err, "column %zu of section %u is impossible", i, table->section);
  return HEARTH_OK;
}

static uint64_t block_count(uint32_t rows) { return ((uint64_t)rows + HEARTH_PACKED_ROWS - 1) / HEARTH_PACKED_ROWS; }

hearth_status hearth_profile_open_packed(hearth_profile *profile, uint64_t at, packed_table *table, hearth_error *err) {
  hearth_indexed_packed header;
  const uint8_t *from;
  if (table->end - at < sizeof header)
    return hearth_profile_corrupt(profile, err, "section %u is cut short", table->section);
  HEARTH_TRY(hearth_profile_touch(profile, at, sizeof header, &from, err));
  memcpy(&header, from, sizeof header);
  uint64_t starts = sizeof header + (uint64_t)header.column_count * sizeof table->columns[0];
  uint64_t blocks = starts + ((block_count(table->row_count) + 1) * sizeof(uint32_t) + 7) / 8 * 8;
  if (header.column_count > HEARTH_PACKED_COLUMNS || blocks > table->end - at)
    return hearth_profile_corrupt(profile, err, "section %u is cut short", table->section);
  table->column_count = header.column_count;
  table->starts = at + starts;
  table->blocks = at + blocks;
  return read_columns(profile, table, at + sizeof header, err);
}

static hearth_status open_section(hearth_profile *profile, uint32_t id, packed_table *table, hearth_error *err) {
  const hearth_indexed_section *s = hearth_profile_section(profile, id);
  *table = (packed_table){.section = id, .row_count = s->count, .end = s->offset + s->size};
  return hearth_profile_open_packed(profile, s->offset, table, err);
}

static hearth_status reader_open_read_schema(hearth_profile *profile, hearth_error *err) {
  uint64_t seen = 0;
  if (profile->frames.column_count < HEARTH_FRAME_COLUMNS || profile->stacks.column_count < HEARTH_STACK_COLUMNS)
    return hearth_profile_corrupt(profile, err, "its frames or stacks have too few columns");
  if (hearth_profile_section(profile, HEARTH_SECTION_SCHEMA)->count != profile->contexts.column_count)
    return hearth_profile_corrupt(profile, err, "its schema does not describe the columns of its contexts");
  for (uint32_t i = 0; i < profile->contexts.column_count; i++) {
    hearth_indexed_field field;
    HEARTH_TRY(hearth_profile_read_row(profile, HEARTH_SECTION_SCHEMA, i, &field, sizeof field, "field", err));
    if ((i == 0) != (field.tag == HEARTH_TAG_StackID))
      return hearth_profile_corrupt(profile, err, "field %u is in the wrong place", field.tag);
    int number = profile->mib_columns[i] = column_of_tag(field.tag);
    if (number >= 0 && seen & UINT64_C(1) << number)
      return hearth_profile_corrupt(profile, err, "field %u occurs twice", field.tag);
    if (number >= 0)
      seen |= UINT64_C(1) << number;
  }
  if (profile->contexts.column_count == 0)
    return hearth_profile_corrupt(profile, err, "its contexts have no stacks");
  return HEARTH_OK;
}

static hearth_status check_summary(hearth_profile *profile, hearth_error *err) {
  hearth_indexed_summary summary;
  const hearth_indexed_section *s = hearth_profile_section(profile, HEARTH_SECTION_SUMMARY);
  const uint8_t *from;
  if (s->size >= sizeof summary) {
    HEARTH_TRY(hearth_profile_touch(profile, s->offset, sizeof summary, &from, err));
    memcpy(&summary, from, sizeof summary);
    if (summary.cutoffs <= (s->size - sizeof summary) / sizeof(hearth_indexed_cutoff))
      return HEARTH_OK;
  }
  return hearth_profile_corrupt(profile, err, "its summary is cut short");
}

static hearth_status reader_open_open_parts(hearth_profile *profile, hearth_error *err) {
  HEARTH_TRY(reader_open_read_header(profile, err));
  if ((uintptr_t)profile->data % sizeof(uint64_t) != 0) /* the structs of a plan are used where they lie */
    return hearth_error_set(err, HEARTH_E_USAGE, "%s: the bytes of a profile must lie at a multiple of 8",
                            profile->name);
  HEARTH_TRY(check_header_checksum(profile, err));
  HEARTH_TRY(read_sections(profile, err));
  HEARTH_TRY(prepare_checksums(profile, err));
  HEARTH_TRY(open_section(profile, HEARTH_SECTION_FRAMES, &profile->frames, err));
  HEARTH_TRY(open_section(profile, HEARTH_SECTION_STACKS, &profile->stacks, err));
  HEARTH_TRY(open_section(profile, HEARTH_SECTION_CONTEXTS, &profile->contexts, err));
  HEARTH_TRY(reader_open_read_schema(profile, err));
  return check_summary(profile, err);
}

hearth_status hearth_profile_open_bytes(const hearth_profile_bytes *bytes, const char *name, hearth_profile **ret,
                                        hearth_error *err) {
  hearth_profile *profile = calloc(1, sizeof *profile);
  hearth_profile_bytes own = *bytes;
  *ret = NULL;
  if (!profile || !(profile->name = strdup(name))) {
    free(profile);
    free(own.converted);
    hearth_file_close(&own.file);
    return hearth_error_nomem(err);
  }
  profile->file = own.file;
  profile->data = own.data;
  profile->size = own.size;
  profile->converted = own.converted;
  hearth_status status = reader_open_open_parts(profile, err);
  if (status == HEARTH_OK)
    *ret = profile;
  else
    hearth_profile_close(profile);
  return status;
}

void hearth_profile_close(hearth_profile *profile) {
  if (!profile)
    return;
  hearth_file_close(&profile->file);
  for (size_t i = 0; i < BLOCKS_KEPT; i++)
    HEARTH_FREE(profile->frames.kept[i].values, profile->stacks.kept[i].values, profile->contexts.kept[i].values);
  HEARTH_FREE(profile->converted, profile->name, profile->checked, profile->counts, profile->variances, profile);
}
