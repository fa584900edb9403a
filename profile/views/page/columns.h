/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Columns of numbers as a page holds them: a JSON string, base64 (RFC 4648) of LEB128 numbers. JSON's own numbers would
 * take half as much room again and several times as long to read. */
#ifndef HEARTH_PAGE_COLUMNS_H
#define HEARTH_PAGE_COLUMNS_H

#include "hearth/json_writer.h"

typedef struct hearth_page_column {
  hearth_json *json;
  uint32_t group; /* bytes that are not written yet, last in the low bits */
  int bytes;      /* of them: 0 to 2 */
} hearth_page_column;

void hearth_page_column_begin(hearth_page_column *column, hearth_json *json);
void hearth_page_column_add(hearth_page_column *column, uint64_t value);
void hearth_page_column_end(hearth_page_column *column);

#endif
