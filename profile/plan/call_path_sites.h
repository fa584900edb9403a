/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The return addresses of a profile's call paths, each with its key: planned_call_paths.c finds them, call_path_listing.c
 * prints them. */
#ifndef HEARTH_CALL_PATH_SITES_H
#define HEARTH_CALL_PATH_SITES_H

#include "hearth/call_path.h"
#include "hearth/path_keys.h"

typedef struct path {
  hearth_call_path row;
  hearth_placement placement;
  uint64_t bytes;
} path;

/* The paths of one return address: [first, end). */
typedef struct path_site {
  size_t first, end;
  hearth_placement rest; /* at heights that are not known; UNKNOWN: as without profile */
  bool by_height, has_hint;
  uint64_t bytes[HEARTH_PATH_KEYS];
} path_site;

/* Bytes of contexts. Those of a context with several paths are shared out among them. */
typedef struct path_sums {
  uint64_t with_path, unplaced;     /* of the former, those without a placement */
  uint64_t bytes[HEARTH_PATH_KEYS]; /* the others */
} path_sums;

/* `sites` lie in the order of their files and offsets. */
typedef struct path_sites {
  hearth_profile *profile;
  hearth_plan plan;
  path *paths;
  path_site *sites;
  size_t path_count, site_count;
  bool has_hints;
  path_sums sums;
} path_sites;

/* All zero but the profile; to be freed also after an error: E_EMPTY (no paths), E_NOMEM, and those of reading. */
hearth_status hearth_path_sites_find(path_sites *sites, hearth_error *err);
void hearth_path_sites_free(path_sites *sites);

#endif
