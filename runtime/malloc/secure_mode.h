/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* HEARTH_MALLOC=secure=on: misuse that passes in silence otherwise stops the program, or hits nothing.
 *
 *   freed blocks   are marked, in no list: none is used again before a sweep, when a quarter of the heap is free
 *   holes          too small for the map's chains wait in lists whose links are checked
 *   segments       the slots behind the map and at the end are never opened: guards
 *   fresh slots    are taken at random
 *
 * docs/security.md says what that stops and costs. */
#ifndef HEARTH_MALLOC_SECURE_MODE_H
#define HEARTH_MALLOC_SECURE_MODE_H

#include "engine.h"

#pragma GCC visibility push(hidden)

enum { HEARTH_GUARDED_SLOTS = 1 << HEARTH_MAP_SLOTS | (int)(1u << (HEARTH_SLOTS - 1)) };

extern bool hearth_is_secure;

/* For all heaps, also those that are there; before the program has threads. */
void hearth_secure_mode_open(void);

/* A hole of below HEARTH_CHAINED_GRANULES granules. */
void hearth_checked_push(hearth_pool *pool, void *hole, size_t granules);
/* NULL: there is none. Ends the program if one was written to. */
void *hearth_checked_pop(hearth_pool *pool, size_t granules);

#pragma GCC visibility pop

#endif
