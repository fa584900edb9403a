/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calls of a module by their places in the source: they show which call stands where the profile has another
 * one. */
#ifndef HEARTH_CALL_SITES_H
#define HEARTH_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "hearth/status.h"

struct hearth_locator;

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
hearth_status hearth_call_sites_collect(hearth_call_sites *sites, LLVMModuleRef module, struct hearth_locator *locator,
                                        hearth_error *err);
void hearth_call_sites_free(hearth_call_sites *sites);

/* One call of each place at which calls of several discriminators stand, as those of a macro do. At all other places a call
 * is the one that the profile has there, whatever its discriminator: releases of LLVM number them differently, and so does
 * an edit further on in the line. E_NOMEM. Free in any case. */
hearth_status hearth_call_sites_find_crowded(hearth_call_sites *crowded, const hearth_call_sites *sites,
                                             hearth_error *err);

/* Position of the first one at this place or behind it. */
size_t hearth_call_sites_from(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column);

/* Is there one at this place? */
bool hearth_call_sites_has(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column);

#endif
