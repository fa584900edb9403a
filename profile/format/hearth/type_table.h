/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Types of allocation calls, as the instrumentation writes them into the section "hearth_types" of a program. Change
 * docs/formats/types.md in the same commit.
 *
 * The section is a sequence of records, those of all files one behind the other. A record is this struct, then the type's
 * name, without NUL, then zeros up to a multiple of 8. */
#ifndef HEARTH_TYPE_TABLE_H
#define HEARTH_TYPE_TABLE_H

#include "hearth/layout.h"

#define HEARTH_TYPES_SECTION "hearth_types"

typedef struct hearth_type_record {
  uint64_t function; /* where the call is: function id of Hearth's scheme ... */
  uint32_t line;     /* ... line offset in the function ... */
  uint32_t column;   /* ... and column; both are known */
  uint32_t name_size;
  uint32_t reserved; /* 0 */
} hearth_type_record;

HEARTH_CHECK_LAYOUT(sizeof(hearth_type_record) == 24);

#endif
