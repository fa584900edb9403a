/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Frames of a binary's addresses as rows of the profile builder, computed once for each address. */
#ifndef HEARTH_FRAME_CACHE_H
#define HEARTH_FRAME_CACHE_H

#include "binary.h"
#include "hearth/builder.h"

typedef struct hearth_frame_cache hearth_frame_cache;

/* Frames [first, first + count) of the cache, innermost first. */
typedef struct hearth_frame_span {
  uint32_t first, count;
  bool of_runtime; /* code of LLVM's profiling runtime */
} hearth_frame_span;

/* `binary` (loaded) and `builder` are borrowed. NULL when out of memory. */
hearth_frame_cache *hearth_frame_cache_create(hearth_binary *binary, hearth_builder *builder);
void hearth_frame_cache_destroy(hearth_frame_cache *cache); /* accepts NULL */

/* Frames of the code at an ELF address: from debug information, or else one with the function's name, if the
 * binary's symbol names were loaded and have it. A frame whose line is unknown has line HEARTH_NONE, column 0.
 * Errors: E_NOMEM, E_FULL, those of hearth_builder_function. */
hearth_status hearth_frame_cache_get(hearth_frame_cache *cache, uint64_t address, hearth_frame_span *ret,
                                     hearth_error *err);
/* The builder's rows of a span; the pointer lives until the next hearth_frame_cache_get. */
const uint32_t *hearth_frame_cache_rows(const hearth_frame_cache *cache, hearth_frame_span span);

#endif
