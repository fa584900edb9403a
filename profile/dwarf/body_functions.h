/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions that bodies are of. Bodies that were made from one function (its copies inlined here and there) share
 * it. */
#ifndef HEARTH_BODY_FUNCTIONS_H
#define HEARTH_BODY_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debug_info.h"
#include "entries.h"
#include "lines.h"
#include "symbols.h"

typedef struct hearth_body_functions {
  hearth_debug_function *rows;
  struct hearth_body_origin *origins; /* hash table from DIE to row */
  hearth_symbols symbols;
  hearth_elf_file *file; /* with the symbol table */
  char **paths;          /* that rows name */
  const void *files_of;  /* the unit that `files` is of, if it has them */
  hearth_line_header files;
  bool has_files;
  const char *last_path; /* of `files`, by last_number; NULL: none */
  uint64_t last_number;  /* asked for last */
  size_t count, capacity, slots, used, path_count, path_capacity;
} hearth_body_functions;

/* The function of a body's DIE.
 *   files    root of the unit whose table of source files counts
 *   inlined  the body has no address of its own
 *   ret      HEARTH_DEBUG_NO_FUNCTION: name or first line is unknown
 * False: out of memory. */
bool hearth_body_functions_get(hearth_body_functions *functions, const hearth_die *die, const hearth_die *files,
                               bool inlined, uint32_t *ret);
/* Does a function's DIE tell its first line? */
bool hearth_body_functions_has_line(const hearth_die *die);
void hearth_body_functions_free(hearth_body_functions *functions);

/* Which body an address is in. Ranges of bodies are added in any order; they may nest, overlap and be equal. Once they are
 * put in order they are disjoint pieces, each labelled with its innermost body, so that a look-up is one binary search:
 *
 *     main    |-----------------------------|            pieces   main foo bar foo  main
 *     foo          |-------------|                                |---|---|---|----|-----|
 *     bar               |---|
 */

#define HEARTH_NO_BODY UINT32_MAX

/* Addresses [start, end). */
typedef struct hearth_body_piece {
  uint64_t start, end;
  uint32_t body;
} hearth_body_piece;

/* All zero: there are none. */
typedef struct hearth_body_pieces {
  hearth_body_piece *rows; /* ranges of bodies; then pieces by address */
  size_t count, capacity;
} hearth_body_pieces;

/* Add a range of a body, which is not empty. Bodies are numbered from the outside to the inside. False: out of memory. */
bool hearth_body_pieces_add(hearth_body_pieces *pieces, uint64_t start, uint64_t end, uint32_t body);
/* Once, behind the last range. False: out of memory; they may be freed only. */
bool hearth_body_pieces_order(hearth_body_pieces *pieces);
/* The innermost body of an address, or HEARTH_NO_BODY. */
uint32_t hearth_body_pieces_find(const hearth_body_pieces *pieces, uint64_t address);
void hearth_body_pieces_free(hearth_body_pieces *pieces);

#endif
