/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Strings and paths. Strings are sorted, each once, so that a binary search finds an offset. Paths become a tree of
 * components, made level by level: rows of one level are sorted by parent and name, so that parents come before their
 * children. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "writer.h"

static int compare_strings(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts, removes duplicates, returns how many remain. */
static size_t sort_unique(const char **strings, size_t n) {
  size_t kept = 0;
  qsort(strings, n, sizeof *strings, compare_strings);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || strcmp(strings[kept - 1], strings[i]) != 0)
      strings[kept++] = strings[i];
  return kept;
}

/* Position in a sorted list that has it. */
static size_t find_sorted(const char *const *strings, size_t n, const char *wanted) {
  return (size_t)((const char *const *)bsearch(&wanted, strings, n, sizeof *strings, compare_strings) - strings);
}

uint32_t hearth_writer_string_offset(const writer *w, const char *string) {
  return w->string_offsets[find_sorted(w->strings, w->string_count, string)];
}

/* Name or path of a function, by its new number. */
static const char *function_string(const writer *w, uint32_t new_row, bool path) {
  const builder_function *f = &w->builder->functions[w->functions.order[new_row]];
  return w->builder->pool + (path ? f->path : f->name);
}

hearth_status hearth_writer_collect_file_names(writer *w) {
  size_t n = 0, length = 0;
  HEARTH_TRY(hearth_array_create(&w->file_names, w->functions.count, sizeof *w->file_names, w->err));
  for (uint32_t i = 0; i < w->functions.count; i++)
    if (*function_string(w, i, true))
      w->file_names[n++] = function_string(w, i, true);
  w->file_count = sort_unique(w->file_names, n);
  HEARTH_TRY(hearth_array_create(&w->file_rows, w->file_count, sizeof *w->file_rows, w->err));
  for (size_t i = 0; i < w->file_count; i++)
    length += strlen(w->file_names[i]) + 1;
  HEARTH_TRY(hearth_array_create(&w->components, length, 1, w->err));
  char *to = w->components;
  for (size_t i = 0; i < w->file_count; i++) {
    size_t size = strlen(w->file_names[i]) + 1;
    memcpy(to, w->file_names[i], size);
    for (size_t k = 0; k < size; k++)
      to[k] = to[k] == '/' ? '\0' : to[k];
    to += size;
  }
  return HEARTH_OK;
}

/* Number of components of a path: "a/b" 2, "/a" 2 (the first is empty), "/" 1 (the root alone). */
static size_t component_count(const char *path) {
  size_t n = 1;
  if (strcmp(path, "/") == 0)
    return 1;
  for (; *path; path++)
    n += *path == '/';
  return n;
}

hearth_status hearth_writer_collect_strings(writer *w, const char *const *names, size_t name_count) {
  const hearth_builder *b = w->builder;
  size_t components = 0, n = 0, offset = 0;
  char *to;
  for (size_t i = 0; i < w->file_count; i++)
    components += component_count(w->file_names[i]);
  size_t room =
      2 + name_count + w->functions.count + components + b->binary_count + w->type_count + 2 * b->global_count;
  HEARTH_TRY(hearth_array_create(&w->strings, room, sizeof *w->strings, w->err));
  HEARTH_TRY(hearth_array_create(&w->string_offsets, room, sizeof *w->string_offsets, w->err));

  w->strings[n++] = "";
  for (size_t i = 0; i < name_count; i++)
    w->strings[n++] = names[i];
  for (uint32_t i = 0; i < w->functions.count; i++)
    w->strings[n++] = function_string(w, i, false);
  for (size_t i = 0; i < b->binary_count; i++)
    w->strings[n++] = b->pool + b->binaries[i].name;
  for (size_t i = 0; i < w->type_count; i++)
    w->strings[n++] = b->pool + w->types[i].name;
  for (size_t i = 0; i < b->global_count; i++) {
    w->strings[n++] = b->pool + b->globals[i].name;
    w->strings[n++] = b->pool + b->globals[i].file;
  }
  w->strings[n++] = hearth_builder_run_facts(b).command;
  const char *component = w->components;
  for (size_t i = 0; i < w->file_count; i++) {
    const char *end = component + strlen(w->file_names[i]);
    for (size_t k = component_count(w->file_names[i]); k-- > 0; component += strlen(component) + 1)
      w->strings[n++] = component;
    component = end + 1;
  }

  w->string_count = sort_unique(w->strings, n);
  for (size_t i = 0; i < w->string_count; i++) {
    if (offset > HEARTH_NONE - 1)
      return hearth_error_set(w->err, HEARTH_E_FULL, "the profile's strings exceed 4 GiB");
    w->string_offsets[i] = (uint32_t)offset;
    offset += strlen(w->strings[i]) + 1;
  }
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_STRINGS, w->string_count, offset, &to));
  for (size_t i = 0; i < w->string_count; i++)
    memcpy(to + w->string_offsets[i], w->strings[i], strlen(w->strings[i]) + 1);
  return HEARTH_OK;
}

typedef struct path_key {
  uint32_t parent, name; /* as in hearth_indexed_path */
  size_t file;
  const char *rest; /* of the components, behind `name` */
  size_t rest_count;
} path_key;

static int compare_path_keys(const void *a, const void *b) {
  const path_key *x = a, *y = b;
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  return (x->name > y->name) - (x->name < y->name);
}

/* Adds the rows of one level of the tree: the first components of all file names, then the second ones, ... As rows
 * are numbered level by level, they end up sorted by (parent, name) with every parent before its children. Returns how
 * many keys still have components. */
static size_t add_path_level(writer *w, path_key *keys, size_t n) {
  size_t remaining = 0;
  qsort(keys, n, sizeof *keys, compare_path_keys);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || compare_path_keys(&keys[i], &keys[i - 1]) != 0)
      w->paths[w->path_count++] = (hearth_indexed_path){.name = keys[i].name, .parent = keys[i].parent};
    w->file_rows[keys[i].file] = (uint32_t)(w->path_count - 1);
  }
  for (size_t i = 0; i < n; i++) {
    path_key next = keys[i];
    if (next.rest_count == 0)
      continue;
    next.parent = w->file_rows[next.file];
    next.name = hearth_writer_string_offset(w, next.rest);
    next.rest += strlen(next.rest) + 1;
    next.rest_count--;
    keys[remaining++] = next;
  }
  return remaining;
}

static hearth_status find_function_paths(writer *w) {
  HEARTH_TRY(hearth_array_create(&w->function_paths, w->functions.count, sizeof *w->function_paths, w->err));
  for (uint32_t i = 0; i < w->functions.count; i++) {
    const char *path = function_string(w, i, true);
    w->function_paths[i] = *path ? w->file_rows[find_sorted(w->file_names, w->file_count, path)] : HEARTH_NONE;
  }
  return HEARTH_OK;
}

hearth_status hearth_writer_build_paths(writer *w) {
  size_t components = 0;
  path_key *keys;
  for (size_t i = 0; i < w->file_count; i++)
    components += component_count(w->file_names[i]);
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_PATHS, 0, components * sizeof *w->paths, &w->paths));
  HEARTH_TRY(hearth_array_create(&keys, w->file_count, sizeof *keys, w->err));
  const char *first = w->components;
  for (size_t i = 0; i < w->file_count; i++) {
    keys[i] = (path_key){.parent = HEARTH_NONE,
                         .name = hearth_writer_string_offset(w, first),
                         .file = i,
                         .rest = first + strlen(first) + 1,
                         .rest_count = component_count(w->file_names[i]) - 1};
    first += strlen(w->file_names[i]) + 1;
  }
  for (size_t n = w->file_count; n > 0;)
    n = add_path_level(w, keys, n);
  w->sections[HEARTH_SECTION_PATHS].count = (uint32_t)w->path_count;
  w->sections[HEARTH_SECTION_PATHS].size = w->path_count * sizeof *w->paths;
  free(keys);
  return find_function_paths(w);
}
