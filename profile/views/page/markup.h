/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a page is written of: text, columns of numbers, lines of other files. */
#ifndef HEARTH_PAGE_MARKUP_H
#define HEARTH_PAGE_MARKUP_H

#include <stdio.h>

#include "hearth/json_writer.h"
#include "hearth/status.h"

/* As content or attribute value: characters of markup are escaped, control bytes are '?', bytes that are not UTF-8 are
 * U+FFFD. */
void hearth_page_put_text(const char *text, FILE *stream);

/* Columns of numbers as a page holds them: a JSON string, base64 (RFC 4648) of LEB128 numbers. JSON's own numbers would
 * take half as much room again and several times as long to read. */

typedef struct hearth_page_column {
  hearth_json *json;
  uint32_t group; /* bytes that are not written yet, last in the low bits */
  int bytes;      /* of them: 0 to 2 */
} hearth_page_column;

void hearth_page_column_begin(hearth_page_column *column, hearth_json *json);
void hearth_page_column_add(hearth_page_column *column, uint64_t value);
void hearth_page_column_end(hearth_page_column *column);

/* An optimised build in a page: the compiler and the allocator write files of JSON objects, one a line. The page gets the
 * lines as strings. */

typedef enum hearth_page_note { HEARTH_PAGE_NOTE_MALLOC, HEARTH_PAGE_NOTE_ANNOTATION } hearth_page_note;

/* Write the file's lines as a JSON array of strings, blank ones included. E_NOT_FOUND: it cannot be read; E_NOMEM; E_FORMAT:
 * it is another kind of file, or a line was cut: the message names the line. */
hearth_status hearth_page_notes_write(hearth_page_note kind, const char *path, hearth_json *json, hearth_error *err);

#endif
