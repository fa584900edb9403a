/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* YAML as llvm-profdata reads it, event by event, so that memory holds one record at a time. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "array.h"
#include "hearth/llvm_profile.h"
#include "import.h"
#include "mib_entries.h"

typedef struct site {
  size_t first_frame, frame_count;
  hearth_mib mib;
} site;

typedef struct reader {
  yaml_parser_t parser;
  yaml_event_t event; /* the one at hand */
  hearth_llvm_import import;
  hearth_llvm_skipped skipped;
  hearth_builder_frame *frames; /* of the record at hand, and its sites */
  site *sites;
  size_t frame_count, frame_room, site_count, site_room;
} reader;

/* -------------------------------------------------- events -------------------------------------------------- */

static hearth_status bad(reader *r, const char *reason, const char *what) {
  return hearth_error_set(r->import.err, HEARTH_E_FORMAT, "%s:%zu: %s%s%.100s%s", r->import.name,
                          r->event.start_mark.line + 1, reason, *what ? " '" : "", what, *what ? "'" : "");
}

static hearth_status next(reader *r) {
  yaml_event_delete(&r->event);
  if (yaml_parser_parse(&r->parser, &r->event)) {
    if (r->event.type == YAML_ALIAS_EVENT)
      return bad(r, "aliases are not part of this form", "");
    return HEARTH_OK;
  }
  if (r->parser.error == YAML_MEMORY_ERROR)
    return hearth_error_nomem(r->import.err);
  return hearth_error_set(r->import.err, HEARTH_E_FORMAT, "%s:%zu: not YAML: %s", r->import.name,
                          r->parser.problem_mark.line + 1, r->parser.problem ? r->parser.problem : "unreadable");
}

static bool is(const reader *r, yaml_event_type_t type) { return r->event.type == type; }

static const char *text(const reader *r) { return (const char *)r->event.data.scalar.value; }

/* The event at hand as a scalar without NULs; it stays at hand. */
static hearth_status check_scalar(reader *r, const char *what) {
  if (!is(r, YAML_SCALAR_EVENT))
    return bad(r, "a plain value is expected for", what);
  if (strlen(text(r)) != r->event.data.scalar.length)
    return bad(r, "a NUL character in", what);
  return HEARTH_OK;
}

/* A list or mapping without content is also written as nothing. */
static bool is_nothing(const reader *r) { return is(r, YAML_SCALAR_EVENT) && r->event.data.scalar.length == 0; }

/* Read past the value that begins with the event at hand. */
static hearth_status skip_value(reader *r) {
  for (size_t depth = 0;;) {
    depth += is(r, YAML_SEQUENCE_START_EVENT) || is(r, YAML_MAPPING_START_EVENT);
    depth -= is(r, YAML_SEQUENCE_END_EVENT) || is(r, YAML_MAPPING_END_EVENT);
    if (depth == 0)
      return HEARTH_OK;
    HEARTH_TRY(next(r));
  }
}

typedef hearth_status read_value(reader *r, void *data);

typedef struct key {
  const char *name;
  read_value *read; /* the value begins with the event at hand, and ends with the one it leaves at hand */
  bool required;
} key;

/* A mapping of these keys, at most 8 and each at most once. */
static hearth_status read_mapping(reader *r, const char *what, const key *keys, size_t count, void *data) {
  unsigned seen = 0;
  if (!is(r, YAML_MAPPING_START_EVENT))
    return bad(r, "a mapping is expected for", what);
  for (;;) {
    size_t i = 0;
    HEARTH_TRY(next(r));
    if (is(r, YAML_MAPPING_END_EVENT))
      break;
    HEARTH_TRY(check_scalar(r, "a key"));
    while (i < count && strcmp(text(r), keys[i].name) != 0)
      i++;
    if (i == count)
      return bad(r, "unknown key", text(r));
    if (seen & 1u << i)
      return bad(r, "given twice:", keys[i].name);
    seen |= 1u << i;
    HEARTH_TRY(next(r));
    HEARTH_TRY(keys[i].read(r, data));
  }
  for (size_t i = 0; i < count; i++)
    if (keys[i].required && !(seen & 1u << i))
      return bad(r, "a key is missing:", keys[i].name);
  return HEARTH_OK;
}

static hearth_status read_sequence(reader *r, const char *what, read_value *read, void *data) {
  if (is_nothing(r))
    return HEARTH_OK;
  if (!is(r, YAML_SEQUENCE_START_EVENT))
    return bad(r, "a list is expected for", what);
  for (;;) {
    HEARTH_TRY(next(r));
    if (is(r, YAML_SEQUENCE_END_EVENT))
      return HEARTH_OK;
    HEARTH_TRY(read(r, data));
  }
}

/* -------------------------------------------------- plain values -------------------------------------------------- */

static int digit_of(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool is_hexadecimal(const char *s) { return s[0] == '0' && (s[1] == 'x' || s[1] == 'X'); }

static hearth_status parse_number(reader *r, uint64_t limit, uint64_t *ret) {
  HEARTH_TRY(check_scalar(r, "a number"));
  const char *c = text(r);
  uint64_t base = is_hexadecimal(c) ? 16 : 10;
  c += base == 16 ? 2 : 0;
  if (!*c)
    return bad(r, "not a number:", text(r));
  for (*ret = 0; *c; c++) {
    uint64_t digit = (uint64_t)digit_of(*c);
    if (digit >= base)
      return bad(r, "not a number:", text(r));
    if (digit > limit || *ret > (limit - digit) / base)
      return bad(r, "too great a number:", text(r));
    *ret = *ret * base + digit;
  }
  return HEARTH_OK;
}

static hearth_status read_u32(reader *r, void *into) {
  uint64_t value;
  HEARTH_TRY(parse_number(r, UINT32_MAX, &value));
  *(uint32_t *)into = (uint32_t)value;
  return HEARTH_OK;
}

/* A GUID, or the name that it is made of. */
static hearth_status read_function(reader *r, uint32_t *ret) {
  uint64_t guid;
  HEARTH_TRY(check_scalar(r, "a function"));
  if (is_hexadecimal(text(r))) {
    HEARTH_TRY(parse_number(r, UINT64_MAX, &guid));
    return hearth_builder_function_by_id(r->import.builder, guid, "", "", 0, ret, r->import.err);
  }
  if (text(r)[strspn(text(r), "0123456789")] == '\0')
    return bad(r, "a function is its name or its GUID in hexadecimal, not", text(r));
  return hearth_builder_function(r->import.builder, text(r), "", 0, ret, r->import.err);
}

/* -------------------------------------------------- frames -------------------------------------------------- */

static hearth_status read_frame_function(reader *r, void *frame) {
  return read_function(r, &((hearth_builder_frame *)frame)->function);
}

static hearth_status read_frame_line(reader *r, void *frame) {
  return read_u32(r, &((hearth_builder_frame *)frame)->line);
}

static hearth_status read_frame_column(reader *r, void *frame) {
  return read_u32(r, &((hearth_builder_frame *)frame)->column);
}

static hearth_status read_frame_inlined(reader *r, void *frame) {
  HEARTH_TRY(check_scalar(r, "IsInlineFrame"));
  bool yes = strcmp(text(r), "true") == 0;
  if (!yes && strcmp(text(r), "false") != 0)
    return bad(r, "IsInlineFrame is true or false, not", text(r));
  ((hearth_builder_frame *)frame)->inlined = yes;
  return HEARTH_OK;
}

static hearth_status read_frame(reader *r, void *data) {
  static const key keys[] = {{"Function", read_frame_function, true},
                             {"LineOffset", read_frame_line, true},
                             {"Column", read_frame_column, true},
                             {"IsInlineFrame", read_frame_inlined, true}};
  (void)data;
  HEARTH_TRY(hearth_check_memory(hearth_array_grow(&r->frames, &r->frame_room, r->frame_count, sizeof *r->frames),
                                 r->import.err));
  hearth_builder_frame *frame = &r->frames[r->frame_count++];
  *frame = (hearth_builder_frame){0};
  HEARTH_TRY(read_mapping(r, "a frame", keys, sizeof keys / sizeof keys[0], frame));
  frame->line = hearth_llvm_line(frame->line, frame->column);
  return HEARTH_OK;
}

/* -------------------------------------------------- sites -------------------------------------------------- */

static hearth_status read_stack(reader *r, void *data) {
  site *s = data;
  s->first_frame = r->frame_count;
  HEARTH_TRY(read_sequence(r, "Callstack", read_frame, NULL));
  s->frame_count = r->frame_count - s->first_frame;
  return s->frame_count ? HEARTH_OK : bad(r, "a call stack without frames", "");
}

static hearth_status read_mib(reader *r, void *data) {
  site *s = data;
  uint32_t seen = 0;
  if (!is(r, YAML_MAPPING_START_EVENT))
    return bad(r, "a mapping is expected for", "MemInfoBlock");
  for (;;) {
    uint64_t value;
    HEARTH_TRY(next(r));
    if (is(r, YAML_MAPPING_END_EVENT))
      return HEARTH_OK;
    HEARTH_TRY(check_scalar(r, "a key"));
    uint32_t tag = hearth_llvm_entry_by_name(text(r));
    if (!tag)
      return bad(r, "LLVM's memory info block has no field", text(r));
    if (seen & 1u << tag)
      return bad(r, "given twice:", text(r));
    seen |= 1u << tag;
    HEARTH_TRY(next(r));
    HEARTH_TRY(parse_number(r, hearth_llvm_entries[tag].bytes == 4 ? UINT32_MAX : UINT64_MAX, &value));
    hearth_llvm_entry_load(tag, value, &s->mib);
  }
}

static hearth_status read_site(reader *r, void *data) {
  static const key keys[] = {{"Callstack", read_stack, true}, {"MemInfoBlock", read_mib, true}};
  (void)data;
  HEARTH_TRY(
      hearth_check_memory(hearth_array_grow(&r->sites, &r->site_room, r->site_count, sizeof *r->sites), r->import.err));
  site *s = &r->sites[r->site_count++];
  *s = (site){0};
  return read_mapping(r, "an allocation site", keys, sizeof keys / sizeof keys[0], s);
}

/* -------------------------------------------------- records -------------------------------------------------- */

static hearth_status read_guid(reader *r, void *function) { return read_function(r, function); }

static hearth_status read_allocations(reader *r, void *data) { return read_sequence(r, "AllocSites", read_site, data); }

/* They follow from the call stacks of the contexts. */
static hearth_status read_calls(reader *r, void *data) {
  (void)data;
  return skip_value(r);
}

static hearth_status read_record(reader *r, void *data) {
  static const key keys[] = {
      {"GUID", read_guid, true}, {"AllocSites", read_allocations, false}, {"CallSites", read_calls, false}};
  uint32_t function = 0;
  (void)data;
  r->frame_count = r->site_count = 0;
  HEARTH_TRY(read_mapping(r, "a record", keys, sizeof keys / sizeof keys[0], &function));
  for (size_t i = 0; i < r->site_count; i++) {
    const site *s = &r->sites[i];
    HEARTH_TRY(hearth_llvm_import_site(&r->import, function, r->frames + s->first_frame, s->frame_count, &s->mib));
  }
  return HEARTH_OK;
}

static hearth_status read_heap(reader *r, void *data) {
  return read_sequence(r, "HeapProfileRecords", read_record, data);
}

static hearth_status read_data_accesses(reader *r, void *data) {
  (void)data;
  r->skipped.data_accesses = true;
  return skip_value(r);
}

/* -------------------------------------------------- all -------------------------------------------------- */

static hearth_status read_documents(reader *r) {
  static const key keys[] = {{"HeapProfileRecords", read_heap, false},
                             {"DataAccessProfiles", read_data_accesses, false}};
  bool any = false;
  for (;;) {
    HEARTH_TRY(next(r));
    if (is(r, YAML_STREAM_END_EVENT))
      return any ? HEARTH_OK : bad(r, "there is no heap profile in it", "");
    if (!is(r, YAML_DOCUMENT_START_EVENT))
      continue; /* the begin of the stream, ends of documents */
    HEARTH_TRY(next(r));
    if (is_nothing(r)) /* the first document that llvm-profdata prints has nothing but comments */
      continue;
    any = true;
    HEARTH_TRY(read_mapping(r, "the profile", keys, sizeof keys / sizeof keys[0], NULL));
  }
}

static hearth_status read_pass(reader *r, const void *data, size_t size) {
  if (!yaml_parser_initialize(&r->parser))
    return hearth_error_nomem(r->import.err);
  yaml_parser_set_input_string(&r->parser, data, size);
  memset(&r->event, 0, sizeof r->event);
  hearth_status status = read_documents(r);
  yaml_event_delete(&r->event);
  yaml_parser_delete(&r->parser);
  return status;
}

hearth_status hearth_llvm_read_yaml(const void *data, size_t size, const char *name, hearth_builder *into,
                                    hearth_llvm_skipped *ret, hearth_error *err) {
  reader r = {.import = {.builder = into, .name = name, .err = err}};
  hearth_builder_begin_run(into);
  hearth_status status = HEARTH_OK;
  for (; status == HEARTH_OK && r.import.pass < HEARTH_LLVM_PASSES; r.import.pass++)
    status = read_pass(&r, data, size);
  if (status == HEARTH_OK)
    status = hearth_llvm_import_finish(&r.import, &r.skipped);
  *ret = r.skipped;
  free(r.frames);
  free(r.sites);
  hearth_llvm_import_free(&r.import);
  return status;
}

/* By the first line that says something: comments and the begin of a document do not. */
bool hearth_llvm_is_yaml(const void *data, size_t size) {
  static const char *const first_keys[] = {"HeapProfileRecords:", "DataAccessProfiles:"};
  const char *at = data, *end = at + size;
  while (at < end) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((line_end ? line_end : end) - at);
    for (size_t i = 0; i < sizeof first_keys / sizeof first_keys[0]; i++)
      if (length >= strlen(first_keys[i]) && memcmp(at, first_keys[i], strlen(first_keys[i])) == 0)
        return true;
    bool says_nothing = length == 0 || *at == '#' || *at == '\r' || (length >= 3 && memcmp(at, "---", 3) == 0);
    if (!says_nothing)
      return false;
    at += length + 1;
  }
  return false;
}
