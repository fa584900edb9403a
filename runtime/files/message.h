/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages to the user and bounded text, without stdio. */
#ifndef HEARTH_RUNTIME_MESSAGE_H
#define HEARTH_RUNTIME_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text in a caller's buffer, always NUL-terminated. Text that does not fit is cut off, and `cut` is set. */
typedef struct hearth_text {
  char *start;
  size_t size; /* of the buffer, at least 1 */
  size_t length;
  bool cut;
} hearth_text;

hearth_text hearth_text_begin(char *buffer, size_t size);
void hearth_text_add(hearth_text *text, const char *string);
void hearth_text_add_bytes(hearth_text *text, const char *bytes, size_t length);
/* Add `format` with its directives replaced: %s const char *, %u uint64_t in decimal, %x uint64_t as 0x..., %% a
 * percent sign. */
void hearth_text_format(hearth_text *text, const char *format, ...);

/* Write "hearth: ", the formatted text and a newline to standard error in one piece; directives as above.
 * At most 1 KiB. */
void hearth_message(const char *format, ...);

/* A repeated error is reported once: is `error` different from *told? Then *told becomes `error`. */
bool hearth_message_is_new(int *told, int error);

/* The meaning of an error number; "error" if it has none. */
const char *hearth_error_name(int error);

/* Messages go to the standard error that the program was started with. Programs close it before they end (ls, sort,
 * grep and all others that look whether their output could be written), or replace it; another file with its number is
 * no place for messages. */

/* Call this at the start, while standard error is still the one that the program was given. */
void hearth_message_file_begin(void);

/* In a forked child. */
void hearth_message_file_begin_child(void);

#endif
