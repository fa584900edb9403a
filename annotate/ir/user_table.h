/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tables of functions that users write: a line each, '#' begins a comment. */
#ifndef HEARTH_USER_TABLE_H
#define HEARTH_USER_TABLE_H

#include <llvm-c/Core.h>

#include "hearth/status.h"

#define HEARTH_TABLE_SPACE "\t\n\v\f\r "

typedef struct hearth_user_table {
  LLVMModuleRef module;
  const char *path;
  unsigned line; /* from 1 on */
  hearth_error *err;
} hearth_user_table;

/* `line` has no comment, and may be changed. */
typedef hearth_status hearth_user_table_line(const hearth_user_table *table, char *line);

/* `what` names the table in messages. Stops at the first error. Errors: E_IO, E_FORMAT for a NUL byte, those of `read_line`. */
hearth_status hearth_user_table_read(LLVMModuleRef module, const char *path, const char *what,
                                     hearth_user_table_line *read_line, hearth_error *err);

#endif
