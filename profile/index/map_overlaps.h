/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Mappings of a dump that are not the only ones at their addresses: a library was closed, and another one loaded where it
 * had been. An address does not tell which of them is meant. */
#ifndef HEARTH_MAP_OVERLAPS_H
#define HEARTH_MAP_OVERLAPS_H

#include "raw_dump.h"

/* One flag for each mapping of the dump, that the caller frees. Mappings that give an address the same meaning may
 * overlap. Errors: E_NOMEM. */
hearth_status hearth_map_overlaps_find(const hearth_raw_dump *dump, bool **ret_flags, hearth_error *err);

#endif
