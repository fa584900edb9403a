#include "page_notes.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "json_scan.h"

/* A member that every object of a kind has, by which it is known. */
static const struct kind {
  const char *key, *value, *what; /* value: NULL: an object */
} kinds[] = {
    [PAGE_NOTE_HOTCOLD] = {"\"cold\"", NULL, "a line of 'hearth top --json'"},
    [PAGE_NOTE_ANNOTATION] = {"\"format\"", "\"hearth-match-report\"", "a line of -memprof-report=FILE"},
};

typedef struct recognition {
  const struct kind *kind;
  bool recognised;
} recognition;

static bool is_text(const char *text, size_t size, const char *wanted) {
  return size == strlen(wanted) && memcmp(text, wanted, size) == 0;
}

static void recognise(void *context, const char *key, size_t key_size, const char *value, size_t value_size) {
  recognition *r = context;
  if (is_text(key, key_size, r->kind->key))
    r->recognised = r->kind->value ? is_text(value, value_size, r->kind->value) : *value == '{';
}

/* JSON has '<' in strings only. */
static void write_checked(hearth_json *json, const char *line) {
  hearth_json_value_begin(json);
  for (; *line; line++)
    if (*line == '<')
      fputs("\\u003c", json->stream);
    else
      putc_unlocked(*line, json->stream);
}

static hearth_status write_line(const struct kind *kind, const char *path, size_t number, const char *line,
                                hearth_json *json, hearth_error *err) {
  recognition r = {.kind = kind};
  const char *wrong = hearth_json_scan_object(line, recognise, &r);
  if (wrong)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s:%zu:%zu: this is not JSON: each line is to be %s", path, number,
                            (size_t)(wrong - line) + 1, kind->what);
  if (!r.recognised)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s:%zu: this is not %s", path, number, kind->what);
  write_checked(json, line);
  return HEARTH_OK;
}

static hearth_status write_lines(const struct kind *kind, const char *path, char *text, hearth_json *json,
                                 hearth_error *err) {
  size_t number = 1;
  for (char *line = text, *next; line; line = next, number++) {
    next = strchr(line, '\n');
    if (next)
      *next++ = '\0';
    if (line[strspn(line, " \t\r")])
      HEARTH_TRY(write_line(kind, path, number, line, json, err));
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
  return *ret ? HEARTH_OK : hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", path);
}

hearth_status page_notes_write(page_note kind, const char *path, hearth_json *json, hearth_error *err) {
  char *text;
  HEARTH_TRY(read_text(path, &text, err));
  hearth_json_open(json, '[');
  hearth_status status = write_lines(&kinds[kind], path, text, json, err);
  hearth_json_close(json, ']');
  free(text);
  return status;
}
