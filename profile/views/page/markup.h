/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a page is written of: text, and columns of numbers. */
#ifndef HEARTH_PAGE_MARKUP_H
#define HEARTH_PAGE_MARKUP_H

#include <stdio.h>

#include "hearth/json_writer.h"

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

#endif
