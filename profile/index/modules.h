/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which binary each mapping of a raw profile is, and how far an indexer has used it. */
#ifndef HEARTH_MODULES_H
#define HEARTH_MODULES_H

#include "binaries.h"
#include "frame_cache.h"
#include "hearth/indexer.h"
#include "raw_dump.h"

typedef struct hearth_modules hearth_modules;

/* A mapping with code of a known binary. */
typedef struct hearth_placed_map {
  const hearth_raw_map *map;
  hearth_binary *binary;
  hearth_frame_cache *cache;
} hearth_placed_map;

/* `builder` and `binaries` are borrowed; options are copied. NULL when out of memory. */
hearth_modules *hearth_modules_create(hearth_builder *builder, hearth_binaries *binaries,
                                      const hearth_indexer_options *options);
void hearth_modules_destroy(hearth_modules *modules); /* accepts NULL */

/* Is this the preloaded runtime? */
bool hearth_modules_is_runtime(const hearth_raw_map *map);

/* Find the binaries of a dump's mappings.
 *   ret_placed  mappings with a binary, sorted by address, without overlaps (overlapping ones are left out and
 *               reported); the caller frees the array, not the memory that it points to
 * Errors: E_NOMEM. */
hearth_status hearth_modules_place(hearth_modules *modules, const char *name, const hearth_raw_dump *dump,
                                   hearth_placed_map **ret_placed, size_t *ret_count, hearth_error *err);

/* Is a dump worth adding?
 *   is_skipped  if it is not, it is left out already: that is no remedy
 * Errors: E_MISMATCH (binaries were given, and none of them is of the dump; or none is found at all),
 * those of opening the program, E_NOMEM. */
hearth_status hearth_modules_check(hearth_modules *modules, const char *name, const hearth_raw_dump *dump,
                                   bool is_skipped, hearth_error *err);

/* One more address of the dump lies in this mapping, for which hearth_modules_place found no binary. */
void hearth_modules_miss(hearth_modules *modules, const hearth_raw_map *map);

/* A context whose blocks were allocated in this mapping is lost. Returns why the mapping has no binary, if that is not for want
 * of debug information, until the next dump; hearth_modules_report tells of it. NULL: it has one, or is no file. */
const hearth_error *hearth_modules_lose(hearth_modules *modules, const hearth_raw_map *map, uint64_t bytes);
/* The text behind such a reason in a message; may be "". */
const char *hearth_modules_remedy(const hearth_error *reason);

/* Files that another set of modules used, and missed, count here as well. Errors: E_NOMEM. */
hearth_status hearth_modules_share_use(hearth_modules *modules, const hearth_modules *other, hearth_error *err);

/* Warn of given binaries that were in no dump (a library that these runs did not load, or a mistake), and of mapped files
 * with addresses in the dumps that could not be read: once each. */
void hearth_modules_report(const hearth_modules *modules);

#endif
