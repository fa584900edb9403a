/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* google/pprof's profile.proto, whose comments are the specification. Contexts are samples; a frame and what was
 * inlined into it are one location with several lines, leaf first. Fields of a message may come in any order:
 * samples are written as the contexts come, then the locations and functions that they use; strings where they are
 * first needed. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "array.h"
#include "exporter.h"
#include "groups.h"
#include "hearth/raw.h"
#include "hearth/status.h"
#include "utf8.h"

/* Fields are appended to one buffer: tag, and number or length and bytes. */

/* All zero is the empty message; `size = 0` empties it again. Free `data`. */
typedef struct hearth_protobuf {
  uint8_t *data;
  size_t size, room;
  bool failed; /* out of memory: `data` is not complete */
} hearth_protobuf;

enum { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

static bool reserve(hearth_protobuf *m, size_t size) {
  m->failed = m->failed || !hearth_array_reserve(&m->data, &m->room, m->size, size, 1);
  return !m->failed;
}

static void hearth_protobuf_raw(hearth_protobuf *m, const void *data, size_t size) {
  if (size == 0 || !reserve(m, size))
    return;
  memcpy(m->data + m->size, data, size);
  m->size += size;
}

static void hearth_protobuf_varint(hearth_protobuf *m, uint64_t value) {
  if (!reserve(m, HEARTH_RAW_VARINT_MOST))
    return;
  m->size = (size_t)(hearth_raw_put_varint(m->data + m->size, value) - m->data); /* raw profiles have the same */
}

static void hearth_protobuf_uint(hearth_protobuf *m, unsigned field, uint64_t value) {
  if (value == 0)
    return;
  hearth_protobuf_varint(m, field << 3 | WIRE_VARINT);
  hearth_protobuf_varint(m, value);
}

/* A message or packed field inside another. */
static void hearth_protobuf_nest(hearth_protobuf *m, unsigned field, const hearth_protobuf *inner) {
  m->failed |= inner->failed;
  hearth_protobuf_varint(m, field << 3 | WIRE_LENGTH);
  hearth_protobuf_varint(m, inner->size);
  hearth_protobuf_raw(m, inner->data, inner->size);
}

/* zlib's deflate with gzip's header and trailer. Errors of the stream stay in it. */
static hearth_status write_compressed(const hearth_protobuf *m, FILE *stream, hearth_error *err) {
  unsigned char buffer[1 << 16];
  z_stream z = {.next_in = m->data};
  int with_gzip = 15 + 16, result = Z_OK;
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, with_gzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return hearth_error_nomem(err);
  for (size_t left = m->size; result != Z_STREAM_END && result != Z_STREAM_ERROR;) {
    if (z.avail_in == 0) {
      z.avail_in = (unsigned)(left < UINT_MAX ? left : UINT_MAX);
      left -= z.avail_in;
    }
    z.next_out = buffer;
    z.avail_out = sizeof buffer;
    result = deflate(&z, left == 0 ? Z_FINISH : Z_NO_FLUSH);
    fwrite(buffer, 1, sizeof buffer - z.avail_out, stream);
  }
  deflateEnd(&z);
  return result == Z_STREAM_END ? HEARTH_OK : hearth_error_set(err, HEARTH_E_IO, "zlib refuses to compress");
}

enum { /* field numbers */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_MAPPING = 3,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING = 6,
       PROFILE_DURATION_NS = 10,
       PROFILE_DEFAULT_TYPE = 14,
       TYPE_TYPE = 1,
       TYPE_UNIT = 2,
       SAMPLE_LOCATIONS = 1,
       SAMPLE_VALUES = 2,
       SAMPLE_LABEL = 3,
       LABEL_KEY = 1,
       LABEL_STRING = 2,
       MAPPING_ID = 1,
       MAPPING_FILE = 5,
       MAPPING_BUILD_ID = 6,
       MAPPING_HAS_FUNCTIONS = 7, /* and files, line numbers, inlined frames: up to 10 */
       MAPPING_HAS_INLINED = 10,
       LOCATION_ID = 1,
       LOCATION_LINE = 4,
       LINE_FUNCTION = 1,
       LINE_LINE = 2,
       LINE_COLUMN = 3,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2,
       FUNCTION_LINKAGE_NAME = 3,
       FUNCTION_FILE = 4,
       FUNCTION_START_LINE = 5
};

typedef struct pprof {
  hearth_exporter *exporter;
  /* Locations are chains of inlined frames: (frame row, location of the rest of the chain). Location n has id n + 1. */
  hearth_pair_set locations;
  bool *used; /* by location: not only the rest of another one */
  size_t used_count, used_room;
  bool *functions; /* by row: in a location that is used */
  uint64_t strings;
  uint64_t class_key, class_names[HEARTH_CLASS_HOT + 1]; /* strings of the samples' label */
  hearth_protobuf top, message, inner, packed;           /* the profile, and one for each level of nesting in it */
} pprof;

/* A field of the profile itself that was built in p->message, which is empty afterwards. */
static void add_message(pprof *p, unsigned field) {
  hearth_protobuf_nest(&p->top, field, &p->message);
  p->message.size = 0;
}

/* Next row of the string table, which must be UTF-8. Uses p->packed. */
static uint64_t add_string(pprof *p, const char *string) {
  p->packed.size = 0;
  for (const char *at = string; *at;) {
    size_t length = hearth_utf8_length(at);
    const char *part = length ? at : HEARTH_UTF8_REPLACEMENT;
    hearth_protobuf_raw(&p->packed, part, length ? length : strlen(HEARTH_UTF8_REPLACEMENT));
    at += length ? length : 1;
  }
  hearth_protobuf_nest(&p->top, PROFILE_STRING, &p->packed);
  return p->strings++;
}

/* pprof's numbers are signed. */
static uint64_t clamp(uint64_t value) { return value < INT64_MAX ? value : INT64_MAX; }

static bool pprof_is_known(const hearth_exporter *e, hearth_quantity quantity) {
  if (quantity == HEARTH_QUANTITY_PEAK || quantity == HEARTH_QUANTITY_PEAK_ALLOCS)
    return e->has_peak;
  return quantity != HEARTH_QUANTITY_ACCESSES || e->summary.accesses_counted;
}

/* What viewers take for the heap, inuse_space, is that of the peak if it is known, and else that of the end. */
static const char *pprof_type_of(const hearth_exporter *e, hearth_quantity quantity) {
  static const char *const with_peak[HEARTH_QUANTITY_COUNT] = {[HEARTH_QUANTITY_LIVE] = "exit_space",
                                                               [HEARTH_QUANTITY_LIVE_ALLOCS] = "exit_objects",
                                                               [HEARTH_QUANTITY_PEAK] = "inuse_space",
                                                               [HEARTH_QUANTITY_PEAK_ALLOCS] = "inuse_objects"};
  return e->has_peak && with_peak[quantity] ? with_peak[quantity] : hearth_quantities[quantity].pprof_type;
}

static void pprof_write_types(pprof *p) {
  add_string(p, ""); /* the first string is the empty one */
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++) {
    if (!pprof_is_known(p->exporter, q))
      continue;
    uint64_t type = add_string(p, pprof_type_of(p->exporter, q));
    hearth_protobuf_uint(&p->message, TYPE_TYPE, type);
    hearth_protobuf_uint(&p->message, TYPE_UNIT, add_string(p, hearth_quantities[q].pprof_unit));
    add_message(p, PROFILE_SAMPLE_TYPE);
    if (q == p->exporter->options->value)
      hearth_protobuf_uint(&p->top, PROFILE_DEFAULT_TYPE, type);
  }
  hearth_protobuf_uint(&p->top, PROFILE_DURATION_NS, clamp(p->exporter->summary.duration_ns));
}

static hearth_status write_binary(pprof *p, uint32_t row, bool libraries, hearth_error *err) {
  hearth_binary_text binary;
  HEARTH_TRY(hearth_binary_text_get(p->exporter->profile, row, &binary, err));
  if (binary.is_library != libraries)
    return HEARTH_OK;
  hearth_protobuf_uint(&p->message, MAPPING_ID, (uint64_t)row + 1);
  hearth_protobuf_uint(&p->message, MAPPING_FILE, add_string(p, binary.name));
  hearth_protobuf_uint(&p->message, MAPPING_BUILD_ID, add_string(p, binary.build_id));
  for (unsigned field = MAPPING_HAS_FUNCTIONS; field <= MAPPING_HAS_INLINED; field++)
    hearth_protobuf_uint(&p->message, field, true);
  add_message(p, PROFILE_MAPPING);
  return HEARTH_OK;
}

/* pprof takes the first for the program. */
static hearth_status write_binaries(pprof *p, hearth_error *err) {
  for (int libraries = 0; libraries <= 1; libraries++)
    for (uint32_t i = 0; i < hearth_profile_binary_count(p->exporter->profile); i++)
      HEARTH_TRY(write_binary(p, i, libraries, err));
  return HEARTH_OK;
}

static void add_class_strings(pprof *p) {
  p->class_key = add_string(p, "class");
  for (hearth_class c = HEARTH_CLASS_UNKNOWN; c <= HEARTH_CLASS_HOT; c++)
    p->class_names[c] = add_string(p, hearth_class_name(c));
}

/* The location of frames [begin, end), of which all but the last are inlined into the next. */
static hearth_status add_location(pprof *p, size_t begin, size_t end, uint32_t *ret, hearth_error *err) {
  *ret = HEARTH_NONE;
  for (size_t i = end; i-- > begin;)
    HEARTH_TRY(hearth_pair_set_add(&p->locations, (hearth_pair){p->exporter->frames.frames[i], *ret}, ret, err));
  HEARTH_TRY(hearth_rows_extend(&p->used, &p->used_room, &p->used_count, (size_t)*ret + 1, sizeof *p->used, err));
  p->used[*ret] = true;
  return HEARTH_OK;
}

static hearth_status add_locations(pprof *p, hearth_error *err) {
  const hearth_frames *frames = &p->exporter->frames;
  size_t begin = 0;
  for (size_t i = 0; i < frames->count; i++) {
    hearth_frame_info frame;
    uint32_t location;
    HEARTH_TRY(hearth_profile_get_frame(p->exporter->profile, frames->frames[i], &frame, err));
    if (frame.inlined && i + 1 < frames->count)
      continue;
    HEARTH_TRY(add_location(p, begin, i + 1, &location, err));
    hearth_protobuf_varint(&p->packed, (uint64_t)location + 1);
    begin = i + 1;
  }
  return HEARTH_OK;
}

static hearth_status pprof_write_sample(hearth_exporter *e, const hearth_selected *selected, void *state,
                                        hearth_error *err) {
  pprof *p = state;
  p->packed.size = 0;
  HEARTH_TRY(add_locations(p, err));
  hearth_protobuf_nest(&p->message, SAMPLE_LOCATIONS, &p->packed);
  p->packed.size = 0;
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    if (pprof_is_known(e, q))
      hearth_protobuf_varint(&p->packed, clamp(hearth_quantity_of(q, &selected->mib)));
  hearth_protobuf_nest(&p->message, SAMPLE_VALUES, &p->packed);
  p->inner.size = 0;
  hearth_protobuf_uint(&p->inner, LABEL_KEY, p->class_key);
  hearth_protobuf_uint(&p->inner, LABEL_STRING, p->class_names[selected->hotness]);
  hearth_protobuf_nest(&p->message, SAMPLE_LABEL, &p->inner);
  add_message(p, PROFILE_SAMPLE);
  return HEARTH_OK;
}

static hearth_status write_location(pprof *p, uint32_t location, hearth_error *err) {
  hearth_protobuf_uint(&p->message, LOCATION_ID, (uint64_t)location + 1);
  while (location != HEARTH_NONE) {
    hearth_pair chain = p->locations.pairs[location];
    hearth_place place;
    HEARTH_TRY(hearth_place_get(p->exporter->profile, &p->exporter->names, chain.first, &place, err));
    p->functions[place.frame.function] = true;
    p->inner.size = 0;
    hearth_protobuf_uint(&p->inner, LINE_FUNCTION, (uint64_t)place.frame.function + 1);
    hearth_protobuf_uint(&p->inner, LINE_LINE, place.line);
    hearth_protobuf_uint(&p->inner, LINE_COLUMN, place.frame.column);
    hearth_protobuf_nest(&p->message, LOCATION_LINE, &p->inner);
    location = chain.second;
  }
  add_message(p, PROFILE_LOCATION);
  return HEARTH_OK;
}

/* If linkage name and name are equal, pprof demangles and shortens it itself, as it is told to. */
static const char *name_of(const pprof *p, const hearth_function_text *function) {
  bool short_one = p->exporter->names.style == HEARTH_NAMES_SHORT && *function->info.name;
  return short_one ? function->info.name : function->name;
}

static hearth_status write_function(pprof *p, uint32_t row, hearth_error *err) {
  hearth_function_text function;
  HEARTH_TRY(hearth_function_text_get(&p->exporter->names, row, &function, err));
  const char *name = name_of(p, &function);
  uint64_t name_string = add_string(p, name), linkage_string = name_string;
  if (*function.info.name && strcmp(function.info.name, name) != 0)
    linkage_string = add_string(p, function.info.name);
  hearth_protobuf_uint(&p->message, FUNCTION_ID, (uint64_t)row + 1);
  hearth_protobuf_uint(&p->message, FUNCTION_NAME, name_string);
  hearth_protobuf_uint(&p->message, FUNCTION_LINKAGE_NAME, linkage_string);
  hearth_protobuf_uint(&p->message, FUNCTION_FILE, add_string(p, function.path));
  hearth_protobuf_uint(&p->message, FUNCTION_START_LINE, function.info.start_line);
  add_message(p, PROFILE_FUNCTION);
  return HEARTH_OK;
}

static hearth_status pprof_write_profile(pprof *p, hearth_error *err) {
  hearth_profile *profile = p->exporter->profile;
  pprof_write_types(p);
  add_class_strings(p);
  HEARTH_TRY(write_binaries(p, err));
  HEARTH_TRY(hearth_export_each(p->exporter, pprof_write_sample, p, err));
  for (uint32_t i = 0; i < p->used_count; i++)
    if (p->used[i])
      HEARTH_TRY(write_location(p, i, err));
  for (uint32_t i = 0; i < hearth_profile_function_count(profile); i++)
    if (p->functions[i])
      HEARTH_TRY(write_function(p, i, err));
  return p->top.failed ? hearth_error_nomem(err) : write_compressed(&p->top, p->exporter->stream, err);
}

hearth_status hearth_export_pprof(hearth_exporter *e, hearth_error *err) {
  pprof p = {.exporter = e};
  p.functions = calloc((size_t)hearth_profile_function_count(e->profile) + 1, sizeof *p.functions);
  hearth_status status = p.functions ? pprof_write_profile(&p, err) : hearth_error_nomem(err);
  hearth_pair_set_destroy(&p.locations);
  HEARTH_FREE(p.used, p.functions, p.top.data, p.message.data, p.inner.data, p.packed.data);
  return status;
}
