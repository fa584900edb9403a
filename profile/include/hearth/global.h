/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Global variables of the profiled programs, and how often they were accessed. */
#ifndef HEARTH_GLOBAL_H
#define HEARTH_GLOBAL_H

#include "hearth/builder.h"
#include "hearth/program_tables.h"

HEARTH_C_BEGIN

/* Hot: those of most accesses per byte, which together have this share, in 1/1000, of all accesses to globals of
 * their kind; all accessed ones of unknown kind. */
#define HEARTH_GLOBALS_HOT_SHARE 999u

/* Strings are borrowed. */
typedef struct hearth_global {
  const char *name;       /* linkage name; of a string literal, its first characters in quotes, '#' and a hash */
  const char *file;       /* base name: of a local one, that of its source file; else where it is declared */
  uint32_t line;          /* 0: unknown */
  uint32_t flags;         /* as in hearth_global_row, and of a profile's HEARTH_GLOBAL_HOT */
  uint64_t size;          /* bytes; the greatest of all builds */
  uint64_t accesses;      /* of all runs */
  uint64_t touched_lines; /* 64 bytes each; the most of all runs */
  uint64_t stores;        /* of all runs; with HEARTH_GLOBAL_STORES only, else 0: not counted in some run */
} hearth_global;

#define HEARTH_GLOBAL_HOT 16u /* of the flags */

static inline enum hearth_global_kind hearth_global_kind_of(uint32_t flags) {
  return (enum hearth_global_kind)(flags & HEARTH_GLOBAL_KIND_MASK);
}

/* The name of the section: data, bss, rodata, data.rel.ro; or literal, unknown. */
const char *hearth_global_kind_name(enum hearth_global_kind kind);

/* By which a global is found: a hash of its name, and of its file if it is local. Of a stripped name, what that
 * says. */
uint64_t hearth_global_id(const char *name, const char *file, uint32_t flags);

/* The part of a name that LLVM's profiles keep: up to the first dot that is not its first character, nor of
 * ".__uniq.". So static variables of one function, f.a and f.b, are one there. */
size_t hearth_llvm_global_name_length(const char *name);

/* Merge with what the builder knows of the same global. E_FULL, E_NOMEM. */
hearth_status hearth_builder_add_global(hearth_builder *builder, const hearth_global *global, hearth_error *err);

/* Rows are by ascending id. E_CORRUPT. */
uint32_t hearth_profile_global_count(const hearth_profile *profile);
hearth_status hearth_profile_get_global(hearth_profile *profile, uint32_t row, hearth_global *ret, hearth_error *err);
/* E_NOT_FOUND, E_CORRUPT. */
hearth_status hearth_profile_find_global(hearth_profile *profile, uint64_t id, hearth_global *ret, hearth_error *err);

/* `hearth show --globals`: sums by section, the `most` hottest and the `most` largest untouched ones. E_IO, E_CORRUPT. */
hearth_status hearth_globals_print_text(hearth_profile *profile, size_t most, FILE *stream, hearth_error *err);

struct hearth_json;
/* Members of an open object: "sections"; "hottest" and "untouched", the `most` first of each. E_CORRUPT, E_NOMEM. */
hearth_status hearth_globals_write_json(hearth_profile *profile, size_t most, struct hearth_json *json,
                                        hearth_error *err);

HEARTH_C_END
#endif
