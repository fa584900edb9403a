/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Lines are checked for the keys of their kind and written as JSON strings; the page parses them. */
#include "notes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

/* The browser parses the lines, and the page says which one is wrong. This check only keeps files of another kind, and
 * lines that were cut, out of pages. */
static const struct kind {
  const char *mark; /* every line contains it */
  const char *what;
} kinds[] = {
    [HEARTH_PAGE_NOTE_MALLOC] = {"\"cold_below\"", "a line of 'hearth top --json'"},
    [HEARTH_PAGE_NOTE_ANNOTATION] = {"\"hearth-match-report\"", "a line of -memprof-report=FILE"},
};

static bool is_blank(const char *line) { return line[strspn(line, " \t\r")] == '\0'; }

static bool is_of_kind(const struct kind *kind, const char *line) {
  const char *begin = line + strspn(line, " \t\r"), *end = line + strlen(line);
  while (end > begin && strchr(" \t\r", end[-1]))
    end--;
  return *begin == '{' && end[-1] == '}' && strstr(begin, kind->mark);
}

static hearth_status write_lines(const struct kind *kind, const char *path, char *text, hearth_json *json,
                                 hearth_error *err) {
  size_t number = 1;
  for (char *line = text, *next; line; line = next, number++) {
    next = strchr(line, '\n');
    if (next)
      *next++ = '\0';
    if (!is_blank(line) && !is_of_kind(kind, line))
      return hearth_error_set(err, HEARTH_E_FORMAT, "%s:%zu: this is not %s", path, number, kind->what);
    hearth_json_string(json, line);
  }
  return HEARTH_OK;
}

/* As a NUL-terminated copy. */
static hearth_status read_text(const char *path, char **ret, hearth_error *err) {
  hearth_file file;
  hearth_error why;
  if (hearth_file_read(path, &file, &why) != HEARTH_OK) /* E_IO is of the output */
    return hearth_error_set(err, HEARTH_E_NOT_FOUND, "%s", why.message);
  bool binary = file.size > 0 && memchr(file.data, '\0', file.size);
  *ret = binary ? NULL : strndup(file.size ? (const char *)file.data : "", file.size);
  hearth_file_close(&file);
  if (binary)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: this is no text", path);
  return *ret ? HEARTH_OK : hearth_error_nomem(err);
}

hearth_status hearth_page_notes_write(hearth_page_note kind, const char *path, hearth_json *json, hearth_error *err) {
  char *text;
  HEARTH_TRY(read_text(path, &text, err));
  hearth_json_open(json, '[');
  hearth_status status = write_lines(&kinds[kind], path, text, json, err);
  hearth_json_close(json, ']');
  free(text);
  return status;
}
