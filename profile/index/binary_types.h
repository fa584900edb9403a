/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The types of a binary's allocation calls (hearth/type_table.h). */
#ifndef HEARTH_BINARY_TYPES_H
#define HEARTH_BINARY_TYPES_H

#include <stddef.h>

#include "bytes.h"
#include "hearth/status.h"

typedef struct hearth_types {
  struct hearth_type *items; /* sorted */
  size_t count;
  uint8_t *bytes; /* of the section */
} hearth_types;

/* Read a section; without bytes there are no types. Copied. `path` is the binary's, for messages. Free
 * also after an error. Errors: E_CORRUPT, E_NOMEM. */
hearth_status hearth_types_read(hearth_bytes section, const char *path, hearth_types *ret, hearth_error *err);
void hearth_types_free(hearth_types *types);

/* Name of the type that is allocated at a place; no bytes if that is not known, or if several types are. */
hearth_bytes hearth_types_find(const hearth_types *types, uint64_t function, uint32_t line, uint32_t column);

#endif
