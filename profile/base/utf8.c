/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Text for terminals and for people who trust what they see. */
#include "utf8.h"

size_t hearth_utf8_put(const char *text, FILE *stream) {
  size_t count = 0;
  for (size_t length; *text; text += length ? length : 1, count++) {
    length = hearth_utf8_length(text);
    if (length == 0 || hearth_utf8_is_control(text))
      putc('?', stream);
    else
      fwrite(text, 1, length, stream);
  }
  return count;
}
