/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The binaries of one indexing, which all its workers share: each file is opened once, and its debug information read
 * once. Any thread may call these functions, once the files that the user names are given. */
#ifndef HEARTH_BINARIES_H
#define HEARTH_BINARIES_H

#include "binary.h"
#include "hearth/indexer.h"
#include "raw_dump.h"

typedef struct hearth_binaries hearth_binaries;

/* A file that was looked for. It lives as long as the set, and does not change. */
typedef struct hearth_known_binary {
  uint32_t build_id_size; /* 0: known by its path */
  uint8_t build_id[HEARTH_RAW_BUILD_ID_MAX];
  char *path;            /* of the mapping; NULL if it was given */
  hearth_binary *binary; /* NULL: it cannot be used */
  hearth_error reason;   /* why not */
  bool given, is_program;
} hearth_known_binary;

/* Notes go through `options`, which is copied. NULL when out of memory. */
hearth_binaries *hearth_binaries_create(const hearth_indexer_options *options);
void hearth_binaries_destroy(hearth_binaries *binaries); /* accepts NULL */

/* Name functions of binaries without debug information by their symbols (symbols.h). */
void hearth_binaries_use_symbols(hearth_binaries *binaries, bool use);
/* A folder with separate debug files, .dwo or .dwp files, or binaries by build id; before the first binary. Copied.
 * Errors: E_NOMEM. */
hearth_status hearth_binaries_add_directory(hearth_binaries *binaries, const char *path, hearth_error *err);
/* Open and load a binary that the user gave. The same one twice is harmless. */
hearth_status hearth_binaries_give(hearth_binaries *binaries, const char *path, hearth_error *err);
/* The folders, first to last; NULL behind the last one. */
const char *hearth_binaries_directory(const hearth_binaries *binaries, size_t number);
/* The `number`th binary that the user gave; NULL behind the last one. */
const hearth_known_binary *hearth_binaries_given(const hearth_binaries *binaries, size_t number);

/* Is a mapping one of this file? Files without build id are told apart by path. */
bool hearth_binaries_is_of(const hearth_known_binary *known, const hearth_raw_map *map);

/* The binary of a mapping: one of the given, or the file that it names, or that of its build id in one of the folders. It
 * is opened and loaded if it was not yet.
 *   is_program  its separate debug file is looked for in the system's folder, too
 *   ret         NULL: it is no file (vdso, generated code), or one of unknown place
 * Errors: E_NOMEM. */
hearth_status hearth_binaries_find(hearth_binaries *binaries, const hearth_raw_map *map, bool is_program,
                                   const hearth_known_binary **ret, hearth_error *err);

#endif
