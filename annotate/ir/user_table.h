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

/* ------------------------------------------------ alloc table ------------------------------------------------ */

/* The user's table of allocation functions, -memprof-alloc-functions: functions of the program that take hints in a form
 * of their own. A line is
 *
 *   NAME [HINTED]     # comment
 *
 * HINTED, NAME_hot_cold if it is left out, has the parameters of NAME and one more, last: uint8_t hint. The program defines
 * it; where it does not, calls go to NAME all the same. */

/* Mark the module's declarations of functions in the table (alloc_functions.h). Those that it defines are left alone:
 * there inlining and bits reach the allocation itself. E_IO, E_FORMAT, E_NOMEM, with file, line and remedy; the module is
 * then marked in part. */
hearth_status hearth_alloc_table_mark(LLVMModuleRef module, const char *path, hearth_error *err);

#endif
