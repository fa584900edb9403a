/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the plugin writes into a program: tables of its global variables and of the types of its allocation calls, and
 * which build each object is of. */
#ifndef HEARTH_PROGRAM_TABLES_H
#define HEARTH_PROGRAM_TABLES_H

#include <stdbool.h>

#include "hearth/expect.h"

/* ------------------------------------------------ global variables ------------------------------------------------ */

/* Global variables, as the instrumentation describes them to the profiling runtime: a constructor of each module
 * passes the address of its table. Runtime and plugin are of one release, so this is no format on disk. */

#define HEARTH_GLOBALS_MAGIC UINT64_C(0x8157424c47524881)

/* Which section a global lies in, and string literals. */
enum hearth_global_kind {
  HEARTH_GLOBAL_DATA = 0,
  HEARTH_GLOBAL_BSS = 1,
  HEARTH_GLOBAL_RODATA = 2,
  HEARTH_GLOBAL_RELRO = 3,   /* constant once the loader has relocated it */
  HEARTH_GLOBAL_LITERAL = 4, /* a string, which linkers merge with equal ones */
  HEARTH_GLOBAL_UNKNOWN = 5, /* from LLVM's profiles */
  HEARTH_GLOBAL_KINDS = 6
};

#define HEARTH_GLOBAL_KIND_MASK 7u
#define HEARTH_GLOBAL_LOCAL     8u  /* of the flags: its file is part of its identity */
#define HEARTH_GLOBAL_STORES    32u /* stores to it were counted, too */

static inline bool hearth_global_flags_are_valid(uint64_t flags) {
  return (flags & ~(uint64_t)HEARTH_GLOBAL_STORES) < 2 * HEARTH_GLOBAL_LOCAL &&
         (flags & HEARTH_GLOBAL_KIND_MASK) < HEARTH_GLOBAL_KINDS;
}

#define HEARTH_GLOBAL_NAME_MAX 1023u /* bytes; globals with longer names are left out */

typedef struct hearth_global_row {
  uint64_t address, size;
  uint32_t name, file; /* offsets of NUL-terminated strings in the table's names */
  uint32_t line;       /* 0: unknown */
  uint32_t flags;      /* enum hearth_global_kind, HEARTH_GLOBAL_LOCAL, HEARTH_GLOBAL_STORES */
} hearth_global_row;

typedef struct hearth_global_table {
  uint64_t magic;
  uint64_t rows, names; /* addresses */
  uint32_t row_count, names_size;
} hearth_global_table;

HEARTH_CHECK_LAYOUT(sizeof(hearth_global_row) == 32);
HEARTH_CHECK_LAYOUT(sizeof(hearth_global_table) == 32);

/* ------------------------------------------------ types ------------------------------------------------ */

/* Types of allocation calls, as the instrumentation writes them into the section "hearth_types" of a program. No
 * code reads it as the program runs; stripping keeps it. It has no version: another layout will have another name.
 *
 * The section is a sequence of records, aligned to 8 bytes, in any order. A record is this struct, then the type's
 * name, with namespaces, without `struct` or `class`, without NUL, then zeros up to a multiple of 8. If a place has
 * several names (calls in one macro), its type is not known. A reader refuses a record that is cut short or not
 * valid. */

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
