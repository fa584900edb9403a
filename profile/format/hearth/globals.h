/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Global variables, as the instrumentation describes them to the profiling runtime: a constructor of each module
 * passes the address of its table. Runtime and plugin are of one release, so this is no format on disk. */
#ifndef HEARTH_GLOBALS_H
#define HEARTH_GLOBALS_H

#include <stdbool.h>

#include "hearth/layout.h"

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

#endif
