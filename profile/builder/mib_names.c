/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of a MIB's fields: an array made of mib_fields.def, searched from its beginning. */
#include "mib_names.h"

#include <string.h>

#include "hearth/mib.h"

static const char *const names[HEARTH_MIB_COLUMNS] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) #Name,
#include "hearth/mib_fields.def"
};

const char *hearth_mib_column_name(int column) { return names[column]; }

int hearth_mib_column_find(const char *name, size_t length) {
  for (int i = 0; i < HEARTH_MIB_COLUMNS; i++)
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
      return i;
  return -1;
}
