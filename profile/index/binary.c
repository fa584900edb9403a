/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A binary's file and its debug information under one handle, with the errors that name the option which was meant. */
#include "index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hearth/program_tables.h"
#include "hearth/raw.h"

#define REMEDY "--binary takes the profiled program"

struct hearth_binary {
  char *path; /* where it was mapped from; NULL: the file's own */
  hearth_elf_file *file;
  hearth_debug_info *debug_info;
  const hearth_elf_segment *segments; /* of the file */
  size_t segment_count;
  uint32_t build_id_size;
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
  hearth_types types;
};

/* Where libtool keeps the program that this script starts; false: it is no such script. */
static bool find_wrapped(const char *path, char *to, size_t size) {
  char begin[2] = "";
  const char *name = hearth_base_name(path);
  snprintf(to, size, "%.*s.libs/%s", (int)(name - path), path, name);
  FILE *script = fopen(path, "re"), *program = script ? fopen(to, "re") : NULL;
  bool found = program && fread(begin, 1, sizeof begin, script) == sizeof begin && memcmp(begin, "#!", 2) == 0;
  if (program)
    fclose(program);
  if (script)
    fclose(script);
  return found;
}

static hearth_status binary_open_file(const char *path, hearth_elf_file **ret, hearth_error *err) {
  hearth_error why;
  char wrapped[400];
  hearth_status status = hearth_elf_file_open(path, ret, &why);
  if (status == HEARTH_OK)
    return HEARTH_OK;
  if (status != HEARTH_E_FORMAT)
    return hearth_error_set(err, status, "%s", why.message);
  if (find_wrapped(path, wrapped, sizeof wrapped))
    return hearth_error_set(err, HEARTH_E_FORMAT,
                            "%s: a script of libtool's, which starts the program: give --binary %s", path, wrapped);
  return hearth_error_set(err, HEARTH_E_FORMAT, "%s (" REMEDY ")", why.message);
}

static hearth_status check_type(const hearth_binary *b, hearth_error *err) {
  return hearth_elf_file_is_linked(b->file)
             ? HEARTH_OK
             : hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a linked 64-bit little-endian ELF file (" REMEDY ")",
                                hearth_binary_path(b));
}

static hearth_status binary_read_build_id(hearth_binary *b, hearth_error *err) {
  hearth_bytes id = hearth_elf_file_build_id(b->file);
  if (id.size == 0 || id.size > HEARTH_RAW_BUILD_ID_MAX)
    return hearth_error_set(err, HEARTH_E_NO_BUILD_ID,
                            "%s: no build id, so it cannot be matched with profiles (link with -Wl,--build-id)",
                            hearth_binary_path(b));
  memcpy(b->build_id, id.data, id.size);
  b->build_id_size = (uint32_t)id.size;
  return HEARTH_OK;
}

hearth_status hearth_binary_open(const char *path, hearth_binary **ret, hearth_error *err) {
  *ret = NULL;
  hearth_binary *b = calloc(1, sizeof *b);
  HEARTH_TRY(hearth_check_memory(b, err));
  hearth_status status = binary_open_file(path, &b->file, err);
  HEARTH_THEN(status, check_type(b, err));
  HEARTH_THEN(status, hearth_elf_file_segments(b->file, &b->segments, &b->segment_count, err));
  HEARTH_THEN(status, binary_read_build_id(b, err));
  HEARTH_THEN(status, hearth_types_read(hearth_elf_file_section(b->file, HEARTH_TYPES_SECTION), path, &b->types, err));
  if (status == HEARTH_OK && !(b->debug_info = hearth_debug_info_create(b->file)))
    status = hearth_error_nomem(err);
  if (status != HEARTH_OK) {
    hearth_binary_close(b);
    return status;
  }
  *ret = b;
  return HEARTH_OK;
}

void hearth_binary_close(hearth_binary *b) {
  if (!b)
    return;
  hearth_debug_info_destroy(b->debug_info);
  hearth_types_free(&b->types);
  hearth_elf_file_close(b->file);
  free(b->path);
  free(b);
}

const char *hearth_binary_path(const hearth_binary *b) { return b->path ? b->path : hearth_elf_file_path(b->file); }

hearth_status hearth_binary_rename(hearth_binary *b, const char *path, hearth_error *err) {
  b->path = strdup(path);
  return hearth_check_memory(b->path != NULL, err);
}

const uint8_t *hearth_binary_build_id(const hearth_binary *b, uint32_t *ret_size) {
  *ret_size = b->build_id_size;
  return b->build_id;
}

bool hearth_binary_address(const hearth_binary *b, uint64_t file_offset, uint64_t *ret_address) {
  for (size_t i = 0; i < b->segment_count; ++i) {
    const hearth_elf_segment *s = &b->segments[i];
    if (file_offset < s->offset || file_offset - s->offset >= s->file_size)
      continue;
    *ret_address = file_offset - s->offset + s->address;
    return true;
  }
  return false;
}

hearth_debug_info *hearth_binary_debug_info(hearth_binary *b) { return b->debug_info; }

const hearth_types *hearth_binary_types(const hearth_binary *b) { return &b->types; }

/* Records of the section, sorted by function and place; a look-up is a binary search. */

typedef struct hearth_type {
  uint64_t function;
  uint32_t line, column;
  hearth_bytes name; /* no bytes: several */
} hearth_type;

void hearth_types_free(hearth_types *types) {
  free(types->items);
  free(types->bytes);
  *types = (hearth_types){0};
}

static hearth_status corrupt(const char *path, size_t at, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_CORRUPT,
                          "%s: section " HEARTH_TYPES_SECTION
                          ", offset %zu: this is no type of an allocation (build the "
                          "program with the plugin of this release)",
                          path, at);
}

/* The record at *at; moves *at behind it. */
static hearth_status binary_take(hearth_bytes section, size_t *at, hearth_type *ret, const char *path,
                                 hearth_error *err) {
  hearth_type_record record;
  size_t rest = section.size - *at;
  if (rest < sizeof record)
    return corrupt(path, *at, err);
  memcpy(&record, section.data + *at, sizeof record);
  size_t padded = ((size_t)record.name_size + 7) & ~(size_t)7;
  if (record.reserved != 0 || record.name_size == 0 || padded > rest - sizeof record)
    return corrupt(path, *at, err);
  *ret = (hearth_type){
      record.function, record.line, record.column, {section.data + *at + sizeof record, record.name_size}};
  if (memchr(ret->name.data, 0, ret->name.size))
    return corrupt(path, *at, err);
  *at += sizeof record + padded;
  return HEARTH_OK;
}

static int binary_compare(const void *a, const void *b) {
  const hearth_type *x = a, *y = b;
  if (x->function != y->function)
    return x->function < y->function ? -1 : 1;
  if (x->line != y->line)
    return x->line < y->line ? -1 : 1;
  return (x->column > y->column) - (x->column < y->column);
}

static bool same_name(const hearth_type *a, const hearth_type *b) {
  return a->name.size == b->name.size && memcmp(a->name.data, b->name.data, a->name.size) == 0;
}

/* One row for each place. Calls of several types may have one: those of a macro. */
static void unite_places(hearth_types *types) {
  size_t kept = 0;
  for (size_t i = 0; i < types->count; i++) {
    hearth_type *last = kept ? &types->items[kept - 1] : NULL;
    if (!last || binary_compare(last, &types->items[i]) != 0)
      types->items[kept++] = types->items[i];
    else if (!same_name(last, &types->items[i]))
      last->name.size = 0;
  }
  types->count = kept;
}

hearth_status hearth_types_read(hearth_bytes section, const char *path, hearth_types *ret, hearth_error *err) {
  *ret = (hearth_types){0};
  if (section.size == 0)
    return HEARTH_OK;
  ret->items = malloc((section.size / sizeof(hearth_type_record) + 1) * sizeof *ret->items);
  ret->bytes = malloc(section.size);
  HEARTH_TRY(hearth_check_memory(ret->items && ret->bytes, err));
  memcpy(ret->bytes, section.data, section.size);
  section.data = ret->bytes;
  for (size_t at = 0; at < section.size;)
    HEARTH_TRY(binary_take(section, &at, &ret->items[ret->count++], path, err));
  qsort(ret->items, ret->count, sizeof *ret->items, binary_compare);
  unite_places(ret);
  return HEARTH_OK;
}

hearth_bytes hearth_types_find(const hearth_types *types, uint64_t function, uint32_t line, uint32_t column) {
  const hearth_type key = {.function = function, .line = line, .column = column};
  const hearth_type *found =
      types->count ? bsearch(&key, types->items, types->count, sizeof key, binary_compare) : NULL;
  return found ? found->name : (hearth_bytes){NULL, 0};
}
