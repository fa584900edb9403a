/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which body an address is in. Ranges of bodies are added in any order; they may nest, overlap and be equal. Once they are
 * put in order they are disjoint pieces, each labelled with its innermost body, so that a look-up is one binary search:
 *
 *     main    |-----------------------------|            pieces   main foo bar foo  main
 *     foo          |-------------|                                |---|---|---|----|-----|
 *     bar               |---|
 */
#ifndef HEARTH_BODY_PIECES_H
#define HEARTH_BODY_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
