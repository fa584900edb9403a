/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The members of a program's classes and structs, by its debug information. */
#ifndef HEARTH_TYPE_LAYOUT_H
#define HEARTH_TYPE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "hearth/status.h"

typedef struct hearth_type_layouts hearth_type_layouts;

typedef struct hearth_type_member {
  const char *name; /* of a base class, its own; "" if it has none */
  uint64_t offset;  /* in bytes */
} hearth_type_member;

/* Open a program or library with its debug information, which may be in a separate file. Errors: E_IO, E_FORMAT,
 * E_NO_DEBUG_INFO, E_NOMEM; *ret is NULL then. Close accepts NULL. */
hearth_status hearth_type_layouts_open(const char *path, hearth_type_layouts **ret, hearth_error *err);
void hearth_type_layouts_close(hearth_type_layouts *layouts);

/* The members of the type with this qualified name ("ns::item") and this size in bytes, by offset; members that
 * share bytes with others (bit-fields, members of a union) are left out. They live until the next call; none: no
 * such type is known. Looks through all debug information. Errors: E_NO_DEBUG_INFO (damaged), E_NOMEM. */
hearth_status hearth_type_layouts_find(hearth_type_layouts *layouts, const char *name, uint64_t size,
                                       const hearth_type_member **ret, size_t *ret_count, hearth_error *err);

#endif
