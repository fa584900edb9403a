/* Which scope an address is in. Ranges of scopes are added in any order; they may nest, overlap and be equal. Once they are
 * put in order they are disjoint pieces, each labelled with its innermost scope, so that a look-up is one binary search:
 *
 *     main    |-----------------------------|            pieces   main foo bar foo  main
 *     foo          |-------------|                                |---|---|---|----|-----|
 *     bar               |---|
 */
#ifndef HEARTH_SCOPE_PIECES_H
#define HEARTH_SCOPE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_NO_SCOPE UINT32_MAX

/* Addresses [start, end). */
typedef struct hearth_scope_piece {
  uint64_t start, end;
  uint32_t scope;
} hearth_scope_piece;

/* All zero: there are none. */
typedef struct hearth_scope_pieces {
  hearth_scope_piece *rows; /* ranges of scopes; then pieces by address */
  size_t count, capacity;
} hearth_scope_pieces;

/* Add a range of a scope, which is not empty. Scopes are numbered from the outside to the inside. False: out of memory. */
bool hearth_scope_pieces_add(hearth_scope_pieces *pieces, uint64_t start, uint64_t end, uint32_t scope);
/* Once, behind the last range. False: out of memory; they may be freed only. */
bool hearth_scope_pieces_order(hearth_scope_pieces *pieces);
/* The innermost scope of an address, or HEARTH_NO_SCOPE. */
uint32_t hearth_scope_pieces_find(const hearth_scope_pieces *pieces, uint64_t address);
void hearth_scope_pieces_free(hearth_scope_pieces *pieces);

#endif
