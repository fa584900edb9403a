/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The user's table of allocation functions, -memprof-alloc-functions: functions of the program that take hints in a form
 * of their own. A line is
 *
 *   NAME [HINTED]     # comment
 *
 * HINTED, NAME_hot_cold if it is left out, has the parameters of NAME and one more, last: uint8_t hint. The program defines
 * it; where it does not, calls go to NAME all the same. */
#ifndef HEARTH_ALLOC_TABLE_H
#define HEARTH_ALLOC_TABLE_H

#include <llvm-c/Core.h>

#include "hearth/status.h"

/* Mark the module's declarations of functions in the table (alloc_functions.h). Those that it defines are left alone:
 * there inlining and bits reach the allocation itself. E_IO, E_FORMAT, E_NOMEM, with file, line and remedy; the module is
 * then marked in part. */
hearth_status hearth_alloc_table_mark(LLVMModuleRef module, const char *path, hearth_error *err);

#endif
