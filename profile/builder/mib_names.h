/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of the fields of a MIB, as in mib_fields.def. */
#ifndef HEARTH_MIB_NAMES_H
#define HEARTH_MIB_NAMES_H

#include <stddef.h>

const char *hearth_mib_column_name(int column); /* enum hearth_mib_column */
/* The column whose name is these bytes; -1: none. */
int hearth_mib_column_find(const char *name, size_t length);

#endif
