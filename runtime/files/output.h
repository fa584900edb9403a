/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the runtime writes: bounded text, messages to the user, and files. No stdio, no allocation. */
#ifndef HEARTH_RUNTIME_OUTPUT_H
#define HEARTH_RUNTIME_OUTPUT_H

#include "os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- text and messages ------------------------------------------------------------------------------------------------ */

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

/* -- files ------------------------------------------------------------------------------------------------------------ */

/* A file that appears under its name only when it is complete: written in bounded buffers to a temporary name beside
 * it, then renamed; a device, as /dev/null, stays and is written to. */

#define HEARTH_OUTPUT_BUFFER 32768
#define HEARTH_OUTPUT_NAME   4352 /* longest name, with its NUL */

typedef struct hearth_file_output {
  int fd;
  bool is_device; /* written to in its place */
  int error;      /* the first error number; 0: none so far */
  size_t used;
  uint64_t size; /* bytes written so far, the buffer's included */
  char name[HEARTH_OUTPUT_NAME];
  char temporary[HEARTH_OUTPUT_NAME];
  char buffer[HEARTH_OUTPUT_BUFFER];
} hearth_file_output;

/* Begin the file `name`. Errors are kept until hearth_file_output_finish, and the calls between do nothing then. */
void hearth_file_output_begin(hearth_file_output *output, const char *name);

void hearth_file_output_write(hearth_file_output *output, const void *data, size_t size);

/* Of any descriptor. Returns 0, or the error number that ended it. */
int hearth_file_write_all(int fd, const void *from, size_t size);

/* Overwrite bytes that were written before, at `offset`. */
void hearth_file_output_patch(hearth_file_output *output, uint64_t offset, const void *data, size_t size);

/* Zeros up to the next multiple of 8. */
void hearth_file_output_pad(hearth_file_output *output);

/* Complete the file, or remove the partial file after any error.
 *   replace  a file of that name is replaced; else it stays, and ".2", ".3" ... is added to the name in `output`
 * Returns 0 or the first error number. */
int hearth_file_output_finish(hearth_file_output *output, bool replace);

/* The runtime's own writes. Where a file may not become larger, or nobody reads a pipe, the system sends a signal
 * besides the error. The signal would end the program, so it is taken back. */

#define HEARTH_WRITE_SIGNALS (UINT64_C(1) << (SIGXFSZ - 1) | UINT64_C(1) << (SIGPIPE - 1))

typedef struct hearth_own_writes {
  uint64_t blocked, pending; /* signals, before */
} hearth_own_writes;

/* The signals of `mask`, at least those that writes send, are blocked between the two. */
static inline hearth_own_writes hearth_own_writes_begin(uint64_t mask) {
  uint64_t blocked = hearth_os_block(mask | HEARTH_WRITE_SIGNALS);

  return (hearth_own_writes){blocked, hearth_os_pending()};
}

static inline void hearth_own_writes_end(hearth_own_writes before) {
  while (hearth_os_take_pending(HEARTH_WRITE_SIGNALS & ~before.pending))
    ;
  hearth_os_restore_signals(before.blocked);
}

/* Descriptors that the runtime keeps open. They have high numbers: the numbers that a program's own files get are those
 * that they get without the runtime. */

/* A copy of `fd`, close-on-exec, with a high number; -1: there is none. */
int hearth_own_descriptor_copy(int fd);

/* In place of `fd`, which is closed; `fd` itself if there is no copy, or if it is an error number. */
int hearth_own_descriptor_move(int fd);

#endif
