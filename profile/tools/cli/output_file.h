/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file that a command writes as a stream: replaced whole at the end, or left unchanged. */
#ifndef HEARTH_OUTPUT_FILE_H
#define HEARTH_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "file.h"
#include "hearth/plan.h"

/* Half an output does not stay when the command is ended by a signal, or meets the limit of a file's size, which is an
 * ordinary error from then on. For commands that write files, whether as a stream or not. */
void hearth_output_guard(void);

/* "-" means standard output. */
bool hearth_output_is_standard(const char *path);

/* All of a file at once. E_IO. */
hearth_status hearth_output_write(const char *path, const void *data, size_t size, hearth_error *err);

/* Have a view written to a stream, which replaces the file if all went well. Prints errors; returns the exit code. */
int hearth_output_view(const char *path, hearth_status (*write)(const void *arguments, FILE *stream, hearth_error *err),
                       const void *arguments);

/* The formats that `hearth merge --format=NAME` can write. */

typedef struct output_request {
  hearth_builder *builder;
  const hearth_plan_options *plan; /* NULL: defaults */
  const char *path;                /* "-": standard output */
  const void *code;                /* a profile of -fprofile-use that the output begins with; NULL: none */
  const char *code_name;
  size_t code_size;
  uint32_t section;               /* version of LLVM's MemProf section; 0: the default */
  void (*tell)(const char *text); /* the data that the output cannot hold */
} output_request;

typedef struct output_format {
  const char *name;
  hearth_status (*write)(const output_request *request, hearth_error *err);
  bool has_section; /* `section` may be chosen */
} output_format;

/* The first is the default. */
extern const output_format hearth_output_formats[];

/* NULL if there is no format of this name. */
const output_format *hearth_output_format_find(const char *name);

#endif
