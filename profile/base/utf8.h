/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* UTF-8 as Unicode 15 section 3.9, table 3-7, defines it. */
#ifndef HEARTH_UTF8_H
#define HEARTH_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define HEARTH_UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, in place of a byte that is in no valid sequence */

/* Bytes of the sequence at `text` (NUL-terminated, not empty): 1 to 4, or 0 if it is none. */
static inline size_t hearth_utf8_length(const char *text) {
  const unsigned char *t = (const unsigned char *)text;
  unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
  size_t length = t[0] >= 0xf0 ? 4 : t[0] >= 0xe0 ? 3 : 2;
  if (t[0] < 0x80)
    return 1;
  if (t[0] < 0xc2 || t[0] > 0xf4)
    return 0;
  if (t[0] == 0xe0) /* would be too long a form */
    low = 0xa0;
  else if (t[0] == 0xed) /* surrogates */
    high = 0x9f;
  else if (t[0] == 0xf0)
    low = 0x90;
  else if (t[0] == 0xf4) /* beyond U+10FFFF */
    high = 0x8f;
  if (t[1] < low || t[1] > high)
    return 0;
  for (size_t i = 2; i < length; i++)
    if (t[i] < 0x80 || t[i] > 0xbf)
      return 0;
  return length;
}

/* Is the sequence at `text` (not empty) one that may change how the text around it is shown: a control character, a
 * mark that reorders text (Unicode annex 9: ALM, LRM, RLM, embeddings, overrides, isolates), or an end of a line or
 * paragraph? */
static inline bool hearth_utf8_is_control(const char *text) {
  const unsigned char *t = (const unsigned char *)text;
  if (t[0] == 0xc2)
    return t[1] < 0xa0;
  if (t[0] == 0xd8)
    return t[1] == 0x9c;
  if (t[0] != 0xe2)
    return t[0] < ' ' || t[0] == 0x7f;
  return t[1] == 0x80 ? t[2] == 0x8e || t[2] == 0x8f || (t[2] >= 0xa8 && t[2] <= 0xae)
                      : t[1] == 0x81 && t[2] >= 0xa6 && t[2] <= 0xa9;
}

/* Print text from elsewhere: '?' stands for each such sequence, and for each byte that is in none. Returns the
 * number of characters. */
size_t hearth_utf8_put(const char *text, FILE *stream);

#endif
