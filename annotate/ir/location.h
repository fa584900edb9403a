/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From debug locations to the ids of the profile, and the calls of a module by their places. */
#ifndef HEARTH_LOCATION_H
#define HEARTH_LOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "hearth/indexed.h"
#include "hearth/status.h"

/* Remembers the ids of subprograms. One for a module; not thread-safe. */
typedef struct hearth_locator hearth_locator;

/* ------------------------------------------------ call sites ------------------------------------------------ */

/* The calls of a module by their places in the source: they show which call stands where the profile has another
 * one. */

typedef struct hearth_call_site {
  uint64_t function; /* id of the function whose source it is in */
  uint32_t line, column, discriminator;
  uint64_t inlined;  /* id of the function that was inlined here; 0: `call` is the call that was written here */
  LLVMValueRef call; /* one of the calls that inlining put here, otherwise */
} hearth_call_site;

typedef struct hearth_call_sites {
  hearth_call_site *items; /* by function, line, column */
  size_t count, room;
} hearth_call_sites;

/* All calls with known places, inlined calls included; no intrinsics. E_NOMEM. Free `sites` also after an error. */
hearth_status hearth_call_sites_collect(hearth_call_sites *sites, LLVMModuleRef module, hearth_locator *locator,
                                        hearth_error *err);
void hearth_call_sites_free(hearth_call_sites *sites);

/* One call of each place at which calls of several discriminators stand, as those of a macro do. At all other places
 * a call is the one that the profile has there, whatever its discriminator: releases of LLVM number them
 * differently, and so does an edit further on in the line. E_NOMEM. Free in any case. */
hearth_status hearth_call_sites_find_crowded(hearth_call_sites *crowded, const hearth_call_sites *sites,
                                             hearth_error *err);

/* Position of the first one at this place or behind it. */
size_t hearth_call_sites_from(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column);

/* Is there one at this place? */
bool hearth_call_sites_has(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column);

/* ------------------------------------------------ locations ------------------------------------------------ */

#define HEARTH_CHAIN_MAX 256 /* longer inline chains are cut at the outside */

/* One frame of an inline chain. */
typedef struct hearth_location {
  uint64_t function; /* function id */
  uint32_t line;     /* offset from the function's first line */
  uint32_t column;
  uint32_t discriminator;
  bool moved;  /* the function has changed: this is the place in the profile */
  bool alone;  /* no call of another discriminator is known to stand there */
  uint64_t id; /* stack id; 0 if line or column are unknown: compiler-made and merged locations have neither */
} hearth_location;

/* Order of places within a function. Lines above the function's first are below 0. */
static inline int hearth_compare_places(uint32_t line, uint32_t column, uint32_t other_line, uint32_t other_column) {
  if (line != other_line)
    return (int32_t)line < (int32_t)other_line ? -1 : 1;
  return (column > other_column) - (column < other_column);
}

/* A call's place now, and in the profile. */
typedef struct hearth_moved_call {
  uint32_t line, column;
  uint32_t old_line, old_column;
} hearth_moved_call;

typedef struct hearth_moved_function {
  uint64_t id;
  uint64_t old_id;     /* in the profile: another one if its file was renamed; 0: the same */
  size_t first, count; /* of the calls */
} hearth_moved_function;

typedef struct hearth_moved_calls {
  hearth_moved_function *functions; /* functions that changed, by id */
  hearth_moved_call *calls;         /* of each function by line and column */
  size_t n_functions, functions_room, n_calls, calls_room;
} hearth_moved_calls;

/* NULL when out of memory. Function ids are made by `scheme`; stack ids are LLVM's own if `llvm_ids`. `moved` and
 * `crowded` (hearth_call_sites_find_crowded), both borrowed, hold facts that debug locations lack. `moved` NULL: no
 * function has changed; `crowded` NULL: no call is known to be alone at its place. */
hearth_locator *hearth_locator_create(enum hearth_id_scheme scheme, const hearth_moved_calls *moved,
                                      const hearth_call_sites *crowded, bool llvm_ids);
void hearth_locator_destroy(hearth_locator *locator);

/* The frames of an instruction, innermost first, outwards through inlining, as far as they can be compared with
 * contexts in which recursion is folded: it is folded in them, too. Returns their number; 0 without location. */
size_t hearth_locate(hearth_locator *locator, LLVMValueRef instruction, hearth_location chain[HEARTH_CHAIN_MAX]);

/* The id of a function with debug information, in the profile; false without. */
bool hearth_locate_function(hearth_locator *locator, LLVMValueRef function, uint64_t *ret_id);
/* Is it one that has changed? */
bool hearth_locate_moved(hearth_locator *locator, LLVMValueRef function);

/* For messages: " inlined into g at a.c:12, into h at b.c:3", outwards, cut to fit; "" if it was not inlined. size
 * >= 1. */
void hearth_describe_inlining(LLVMValueRef instruction, char *buffer, size_t size);

#endif
