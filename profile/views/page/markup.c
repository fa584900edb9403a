/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of a page: text in HTML and XML, columns of numbers, lines of other files. */
#include "markup.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "utf8.h"

static void put_byte(unsigned char c, FILE *stream) {
  switch (c) {
  case '&':
    fputs("&amp;", stream);
    break;
  case '<':
    fputs("&lt;", stream);
    break;
  case '>':
    fputs("&gt;", stream);
    break;
  case '"':
    fputs("&quot;", stream);
    break;
  default:
    fputc(c < ' ' || c == 0x7f ? '?' : c, stream);
  }
}

void hearth_page_put_text(const char *text, FILE *stream) {
  while (*text) {
    size_t length = hearth_utf8_length(text);
    if (length == 1)
      put_byte((unsigned char)*text, stream);
    else if (length == 0)
      fputs(HEARTH_UTF8_REPLACEMENT, stream);
    else if (hearth_utf8_is_control(text))
      fputc('?', stream);
    else
      fwrite(text, 1, length, stream);
    text += length ? length : 1;
  }
}

/* LEB128 bytes in groups of three, each written as four characters of base64. */

void hearth_page_column_begin(hearth_page_column *column, hearth_json *json) {
  hearth_json_value_begin(json);
  putc_unlocked('"', json->stream);
  *column = (hearth_page_column){.json = json};
}

/* Three bytes as four digits; of a group that is not full, one more than it has bytes, and padding. */
static void put_group(const hearth_page_column *column, uint32_t group, int bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0; i < 4; i++)
    putc_unlocked(i <= bytes ? digits[group >> (18 - 6 * i) & 63] : '=', column->json->stream);
}

static void put_column_byte(hearth_page_column *column, uint32_t byte) {
  column->group = column->group << 8 | byte;
  if (++column->bytes < 3)
    return;
  put_group(column, column->group, 3);
  column->group = 0;
  column->bytes = 0;
}

void hearth_page_column_add(hearth_page_column *column, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    put_column_byte(column, (uint32_t)(value & 0x7f) | 0x80);
  put_column_byte(column, (uint32_t)value);
}

void hearth_page_column_end(hearth_page_column *column) {
  if (column->bytes > 0)
    put_group(column, column->group << (8 * (3 - column->bytes)), column->bytes);
  putc_unlocked('"', column->json->stream);
}

/* Lines are checked for the keys of their kind and written as JSON strings; the page parses them. */

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
