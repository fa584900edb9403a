/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The lines that are wanted are sorted by file, so that each file is passed over once. */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file.h"

enum { LINE_MOST = 200 }; /* bytes shown */

typedef struct wanted {
  uint32_t file, line;
} wanted;

static int source_compare(const void *a, const void *b) {
  const wanted *x = a, *y = b;
  if (x->file != y->file)
    return x->file < y->file ? -1 : 1;
  return (x->line > y->line) - (x->line < y->line);
}

static size_t list_wanted(const hearth_page_model *m, wanted *ret) {
  size_t count = 0;
  for (uint32_t i = 0; i < m->lines.count; i++) {
    const wanted one = {m->functions[m->lines.pairs[i].first].file, m->lines.pairs[i].second};
    if (one.file != HEARTH_NONE && one.line > 0)
      ret[count++] = one;
  }
  qsort(ret, count, sizeof *ret, source_compare);
  return count;
}

/* -- files ------------------------------------------------------------------------------------------------------------ */

static bool open_source(const hearth_page_options *options, const char *path, hearth_file *ret) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_mtime <= options->written &&
         hearth_file_map(path, ret, NULL) == HEARTH_OK;
}

/* DIRECTORY and the name, without its first folder, without its first two, ... */
static hearth_status find_below(const hearth_page_options *options, const char *name, bool *ret_found, hearth_file *ret,
                                hearth_error *err) {
  size_t size = strlen(options->source_directory) + strlen(name) + 2;
  char *path = malloc(size);
  if (!path)
    return hearth_error_nomem(err);
  for (const char *end = name; end && !*ret_found; end = strchr(end, '/')) {
    end += strspn(end, "/");
    snprintf(path, size, "%s/%s", options->source_directory, end);
    *ret_found = open_source(options, path, ret);
  }
  free(path);
  return HEARTH_OK;
}

static hearth_status find_file(const hearth_page_options *options, const char *name, bool *ret_found, hearth_file *ret,
                               hearth_error *err) {
  *ret_found = false;
  if (options->source_directory)
    HEARTH_TRY(find_below(options, name, ret_found, ret, err));
  if (!*ret_found)
    *ret_found = open_source(options, name, ret);
  return HEARTH_OK;
}

/* -- lines ------------------------------------------------------------------------------------------------------------ */

static void write_line(hearth_json *json, uint32_t number, const char *begin, const char *end) {
  char key[16], text[LINE_MOST + 1];
  while (begin < end && strchr(" \t", *begin))
    begin++;
  while (end > begin && strchr(" \t\r", end[-1]))
    end--;
  snprintf(key, sizeof key, "%u", number);
  snprintf(text, sizeof text, "%.*s", end - begin < LINE_MOST ? (int)(end - begin) : LINE_MOST, begin);
  hearth_json_key_string(json, key, text);
}

static void write_lines(hearth_json *json, const hearth_file *file, const wanted *lines, size_t count) {
  const char *at = (const char *)file->data, *end = at ? at + file->size : at;
  uint32_t number = 1;
  for (size_t i = 0; i < count && at < end; number++) {
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    if (!line_end)
      line_end = end;
    if (number == lines[i].line)
      write_line(json, number, at, line_end);
    while (i < count && lines[i].line <= number)
      i++;
    at = line_end + (line_end < end);
  }
}

static hearth_status source_write_file(const hearth_page_model *m, const wanted *lines, size_t count, hearth_json *json,
                                       hearth_error *err) {
  const char *name = m->files[lines->file];
  hearth_file file;
  bool found;
  HEARTH_TRY(find_file(m->options, name, &found, &file, err));
  if (!found)
    return HEARTH_OK;
  hearth_json_line(json);
  hearth_json_key_object(json, name);
  write_lines(json, &file, lines, count);
  hearth_json_close(json, '}');
  hearth_file_close(&file);
  return HEARTH_OK;
}

hearth_status hearth_page_sources_write(const hearth_page_model *m, hearth_json *json, hearth_error *err) {
  hearth_status status = HEARTH_OK;
  wanted *lines = malloc(((size_t)m->lines.count + 1) * sizeof *lines);
  if (!lines)
    return hearth_error_nomem(err);
  size_t count = list_wanted(m, lines);
  hearth_json_open(json, '{');
  for (size_t i = 0, end; status == HEARTH_OK && i < count; i = end) {
    for (end = i + 1; end < count && lines[end].file == lines[i].file;)
      end++;
    status = source_write_file(m, lines + i, end - i, json, err);
  }
  hearth_json_close(json, '}');
  free(lines);
  return status;
}
