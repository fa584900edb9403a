/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Bytes up to the next one that must be escaped are written at once. */
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
