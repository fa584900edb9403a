/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pieces of a page: text in HTML and XML, and columns of numbers. */
#include "markup.h"

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
