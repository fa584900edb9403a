/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each row has a copy of its path. */
#include "input_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "file.h"

void hearth_input_list_free(input_list *list) {
  for (size_t i = 0; i < list->count; i++)
    free((char *)list->rows[i].path);
  free(list->rows);
  *list = (input_list){0};
}

bool hearth_input_list_add(input_list *list, const char *path, uint64_t weight) {
  if (list->count == list->room) {
    size_t room = list->room * 2 + 16;
    hearth_input *rows = realloc(list->rows, room * sizeof *rows);
    if (!rows)
      return false;
    list->rows = rows;
    list->room = room;
  }
  char *copy = strdup(hearth_tool_input_path(path));
  if (copy)
    list->rows[list->count++] = (hearth_input){copy, weight};
  return copy != NULL;
}

/* Digits and a separator at the beginning of the text: their number, and the text behind them. */
static bool parse_weight(const char *text, char separator, uint64_t *ret_weight, const char **ret_rest) {
  char *end;
  if (!isdigit((unsigned char)*text))
    return false;
  errno = 0;
  *ret_weight = strtoull(text, &end, 10);
  *ret_rest = end + 1;
  return *end == separator && errno == 0;
}

bool hearth_input_list_add_weighted(input_list *list, const char *text, char separator) {
  uint64_t weight;
  const char *path;
  return parse_weight(text, separator, &weight, &path) && weight > 0 && *path &&
         hearth_input_list_add(list, path, weight);
}

static bool add_line(input_list *list, char *line) {
  uint64_t weight;
  const char *path;
  while (isspace((unsigned char)*line))
    line++;
  for (size_t n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]); n--)
    line[n - 1] = '\0';
  if (*line == '\0' || *line == '#')
    return true;
  if (!parse_weight(line, ',', &weight, &path) || weight == 0) /* a file name may well look like this */
    return hearth_input_list_add(list, line, 1);
  return hearth_input_list_add(list, path, weight);
}

hearth_status hearth_input_list_add_file(input_list *list, const char *path, hearth_error *err) {
  hearth_file file;
  HEARTH_TRY(hearth_file_read(path, &file, err));
  bool ok = true;
  for (size_t at = 0, end; ok && at < file.size; at = end + 1) {
    const uint8_t *newline = memchr(file.data + at, '\n', file.size - at);
    end = newline ? (size_t)(newline - file.data) : file.size;
    char *line = strndup((const char *)file.data + at, end - at);
    ok = line && add_line(list, line);
    free(line);
  }
  hearth_file_close(&file);
  return ok ? HEARTH_OK : hearth_error_nomem(err);
}

/* A kind is a hash of the text behind the input's name, digits left out (FNV-1a). */

static uint64_t input_list_kind_of(const char *text) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  const char *behind = strstr(text, ": ");
  for (const char *c = behind ? behind : text; *c; c++)
    if (!isdigit((unsigned char)*c))
      hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  return hash;
}

bool hearth_repeats_tell(hearth_repeats *r, const char *text) {
  uint64_t hash = input_list_kind_of(text);
  unsigned i = 0;
  while (i < r->kind_count && r->kinds[i].hash != hash)
    i++;
  if (i == HEARTH_REPEATS_KINDS)
    return true;
  if (i == r->kind_count)
    r->kinds[r->kind_count++].hash = hash;
  bool told = ++r->kinds[i].count <= HEARTH_REPEATS_TOLD;
  r->untold += !told;
  return told;
}
