/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Types of allocation calls, as the instrumentation writes them into the section "hearth_types" of a program. No
 * code reads it as the program runs; stripping keeps it. It has no version: another layout will have another name.
 *
 * The section is a sequence of records, aligned to 8 bytes, in any order. A record is this struct, then the type's
 * name, with namespaces, without `struct` or `class`, without NUL, then zeros up to a multiple of 8. If a place has
 * several names (calls in one macro), its type is not known. A reader refuses a record that is cut short or not
 * valid. */
#ifndef HEARTH_TYPE_TABLE_H
#define HEARTH_TYPE_TABLE_H

#include "hearth/layout.h"

#define HEARTH_TYPES_SECTION "hearth_types"

typedef struct hearth_type_record {
  uint64_t function;  /* where the call is: function id of Hearth's scheme ... */
  uint32_t line;      /* ... line offset in the function (docs/formats/indexed.md) ... */
  uint32_t column;    /* ... and column; both are known */
  uint32_t name_size; /* not 0 */
  uint32_t reserved;  /* 0 */
} hearth_type_record;

HEARTH_CHECK_LAYOUT(sizeof(hearth_type_record) == 24);

/* What the plugin writes into the section .comment of each object that it compiles: which build the object is of. */

#define HEARTH_MARK_START      "hearth "
#define HEARTH_MARK_INSTRUMENT HEARTH_MARK_START "instrument"
#define HEARTH_MARK_USE        HEARTH_MARK_START "use %016" PRIx64 /* the profile's id */

#endif
