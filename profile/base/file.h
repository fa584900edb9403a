/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Whole files: read as bytes in place, written whole or not at all; their names and kinds. And the end of a stream. */
#ifndef HEARTH_FILE_H
#define HEARTH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hearth/status.h"

typedef struct hearth_file {
  const uint8_t *data; /* NULL if empty */
  size_t size;
  bool mapped; /* else in memory of the heap */
} hearth_file;

/* Map a regular file. Never waits: other kinds of files are refused. Errors: E_IO; *ret is then all zero. */
hearth_status hearth_file_map(const char *path, hearth_file *ret, hearth_error *err);
/* Map a regular file; read a pipe or device to its end. Errors: E_IO, E_NOMEM. */
hearth_status hearth_file_read(const char *path, hearth_file *ret, hearth_error *err);
void hearth_file_close(hearth_file *file); /* accepts an all-zero file */

/* Tell that the bytes before `end` of a mapped file were read and need not stay in memory: pages of a mapping count as
 * the process's own until they are taken away. They may be read again. */
void hearth_file_release(const hearth_file *file, size_t begin, size_t end);

/* Write `path` as a hearth_replacement. Errors: E_IO, E_NOMEM. */
hearth_status hearth_file_write(const char *path, const void *data, size_t size, hearth_error *err);

/* E_IO if not all that was printed could be written. */
hearth_status hearth_stream_flush(FILE *stream, hearth_error *err);

/* /proc/PID/NAME to read; NULL with errno. */
FILE *hearth_open_proc(int pid, const char *name);

/* Names of files. */

/* Base name of a path: the part behind the last '/' or '\\'. A pointer into `path`. */
const char *hearth_base_name(const char *path);

/* The kind of a file, for messages about one that is of another kind than was wanted. */

/* The kind of a file by its first bytes, and the command that takes it, as in "a trace: use 'hearth trace'"; NULL: not
 * known. */
const char *hearth_file_kind(const void *data, size_t size);

#define HEARTH_TEXT_FIRST_WORD "hearth-profile-text"
#define HEARTH_TEXT_VERSION    1u /* the grammar is in docs/formats/indexed.md, "Text" */

/* Do these bytes begin like a text twin? */
bool hearth_is_text_profile(const void *data, size_t size);

/* Do these bytes begin like a container (of any version)? */
bool hearth_llvm_is_container(const void *data, size_t size);

/* ------------------------------------------------ replacement ------------------------------------------------ */

/* A file that is replaced whole or not at all: it is written under another name beside its place and then renamed,
 * so that no reader ever sees half of it. Devices and pipes are written in place: a rename would put a file there. */

typedef struct hearth_replacement {
  const char *path; /* for messages; borrowed until the end */
  int fd;           /* to write to; the caller closes it */
  char *target;     /* `path`, or where a symbolic link leads: the link stays */
  char *temporary;  /* NULL: fd is `path` itself */
} hearth_replacement;

/* An existing file keeps its mode. Errors: E_IO, E_NOMEM; there is nothing to end then. */
hearth_status hearth_replacement_begin(hearth_replacement *replacement, const char *path, hearth_error *err);
/* After fd was closed: put the file in place if `keep`, else take it away. Error: E_IO; it is taken away. */
hearth_status hearth_replacement_end(hearth_replacement *replacement, bool keep, hearth_error *err);

/* For handlers of signals that end the process: take away the files that were begun and not ended. */
void hearth_replacement_remove_all(void);

#endif
