/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records of the section, sorted by function and place; a look-up is a binary search. */
#include "binary_types.h"

#include <stdlib.h>
#include <string.h>

#include "hearth/type_table.h"

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
static hearth_status take(hearth_bytes section, size_t *at, hearth_type *ret, const char *path, hearth_error *err) {
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

static int compare(const void *a, const void *b) {
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
    if (!last || compare(last, &types->items[i]) != 0)
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
  if (!ret->items || !ret->bytes)
    return hearth_error_nomem(err);
  memcpy(ret->bytes, section.data, section.size);
  section.data = ret->bytes;
  for (size_t at = 0; at < section.size;)
    HEARTH_TRY(take(section, &at, &ret->items[ret->count++], path, err));
  qsort(ret->items, ret->count, sizeof *ret->items, compare);
  unite_places(ret);
  return HEARTH_OK;
}

hearth_bytes hearth_types_find(const hearth_types *types, uint64_t function, uint32_t line, uint32_t column) {
  const hearth_type key = {.function = function, .line = line, .column = column};
  const hearth_type *found = types->count ? bsearch(&key, types->items, types->count, sizeof key, compare) : NULL;
  return found ? found->name : (hearth_bytes){NULL, 0};
}
