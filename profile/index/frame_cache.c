/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hash table from address to a span of one growing array of rows, filled when an address is asked for first. */
#include "index.h"

#include <stdlib.h>
#include <string.h>

#include "builder_tables.h"
#include "file.h"
#include "hearth/ids.h"

typedef struct known_address {
  uint64_t address;
  hearth_frame_span span;
} known_address;

/* The facts that the builder needs about one of the binary's functions, once it was asked for. */
typedef struct function {
  uint32_t number; /* the builder's */
  bool is_known;
  bool of_runtime;
} function;

struct hearth_frame_cache {
  hearth_binary *binary;
  hearth_builder *builder;
  known_address *known;
  size_t known_count, known_room;
  id_table by_address;
  uint32_t *rows; /* of the builder's frames */
  size_t row_count, row_room;
  function *functions; /* by debug information's numbers */
  size_t function_count, function_room;
};

hearth_frame_cache *hearth_frame_cache_create(hearth_binary *binary, hearth_builder *builder) {
  hearth_frame_cache *cache = calloc(1, sizeof *cache);
  if (cache)
    *cache = (hearth_frame_cache){.binary = binary, .builder = builder};
  return cache;
}

void hearth_frame_cache_destroy(hearth_frame_cache *cache) {
  if (!cache)
    return;
  HEARTH_FREE(cache->known, cache->by_address.slots, cache->rows, cache->functions, cache);
}

static bool is_of_address(const void *owner, uint32_t item, const void *key) {
  return ((const hearth_frame_cache *)owner)->known[item].address == *(const uint64_t *)key;
}

/* Sources of the entry points of LLVM's runtime, which are on the stack when it was built with debug information. */
static bool is_runtime_source(const char *path) {
  static const char *const names[] = {"memprof_malloc_linux.cpp", "memprof_interceptors.cpp", "memprof_new_delete.cpp"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(hearth_base_name(path), names[i]) == 0)
      return true;
  return false;
}

static hearth_status frame_cache_find_function(hearth_frame_cache *cache, uint32_t number,
                                               const hearth_debug_function *f, function *ret, hearth_error *err) {
  HEARTH_TRY(hearth_rows_extend(&cache->functions, &cache->function_room, &cache->function_count, (size_t)number + 1,
                                sizeof *cache->functions, err));
  function *found = &cache->functions[number];
  if (!found->is_known) {
    HEARTH_TRY(hearth_builder_function(cache->builder, f->name, f->path, f->start_line, &found->number, err));
    found->of_runtime = is_runtime_source(f->path);
    found->is_known = true;
  }
  *ret = *found;
  return HEARTH_OK;
}

static hearth_status frame_cache_add_row(hearth_frame_cache *cache, const hearth_builder_frame *frame,
                                         hearth_frame_span *span, hearth_error *err) {
  HEARTH_TRY(hearth_rows_reserve(&cache->rows, &cache->row_room, cache->row_count, 1, sizeof *cache->rows, err));
  HEARTH_TRY(hearth_builder_frame_row(cache->builder, frame, &cache->rows[cache->row_count], err));
  ++cache->row_count;
  ++span->count;
  return HEARTH_OK;
}

/* Where debug information has nothing, only the function is known. */
static hearth_status frame_cache_add_name(hearth_frame_cache *cache, uint64_t address, hearth_frame_span *span,
                                          hearth_error *err) {
  const char *name = hearth_debug_info_name(hearth_binary_debug_info(cache->binary), address);
  hearth_builder_frame frame = {.line = HEARTH_LINE_UNKNOWN};
  if (!name)
    return HEARTH_OK;
  HEARTH_TRY(hearth_builder_function(cache->builder, name, hearth_binary_path(cache->binary), 0, &frame.function, err));
  return frame_cache_add_row(cache, &frame, span, err);
}

static hearth_status frame_cache_add_frame(hearth_frame_cache *cache, const hearth_debug_frame *from,
                                           hearth_frame_span *span, hearth_error *err) {
  const hearth_debug_function *f = hearth_debug_info_function(hearth_binary_debug_info(cache->binary), from->function);
  hearth_builder_frame frame = {.line = HEARTH_LINE_UNKNOWN, .inlined = from->inlined};
  function known;
  if (from->line != 0) {
    /* Lines above the function, from a macro or another file, wrap around as they do in the compiler. */
    frame.line = from->line - f->start_line;
    frame.column = from->column;
    frame.discriminator = from->discriminator;
  }
  HEARTH_TRY(frame_cache_find_function(cache, from->function, f, &known, err));
  frame.function = known.number;
  span->of_runtime = known.of_runtime;
  return frame_cache_add_row(cache, &frame, span, err);
}

static hearth_status add_debug_frames(hearth_frame_cache *cache, uint64_t address, hearth_frame_span *span,
                                      hearth_error *err) {
  const hearth_debug_frame *frames;
  size_t count;
  HEARTH_TRY(hearth_debug_info_frames(hearth_binary_debug_info(cache->binary), address, &frames, &count, err));
  for (size_t i = 0; i < count; ++i)
    if (frames[i].function != HEARTH_DEBUG_NO_FUNCTION)
      HEARTH_TRY(frame_cache_add_frame(cache, &frames[i], span, err));
  return HEARTH_OK;
}

/* Address by address: files are linked of objects with debug information and without, and a .dwo may be missing. */
static hearth_status frame_cache_add_frames(hearth_frame_cache *cache, uint64_t address, hearth_frame_span *span,
                                            hearth_error *err) {
  bool has_names = hearth_debug_info_has_names(hearth_binary_debug_info(cache->binary));
  hearth_status status = add_debug_frames(cache, address, span, err);
  if (status != HEARTH_OK && !(status == HEARTH_E_NO_DEBUG_INFO && has_names))
    return status;
  return span->count == 0 && has_names ? frame_cache_add_name(cache, address, span, err) : HEARTH_OK;
}

hearth_status hearth_frame_cache_get(hearth_frame_cache *cache, uint64_t address, hearth_frame_span *ret,
                                     hearth_error *err) {
  uint64_t hash = id_table_mix(address);
  uint32_t found = id_table_find(&cache->by_address, hash, is_of_address, cache, &address);
  if (found != HEARTH_NONE) {
    *ret = cache->known[found].span;
    return HEARTH_OK;
  }
  *ret = (hearth_frame_span){.first = (uint32_t)cache->row_count};
  HEARTH_TRY(frame_cache_add_frames(cache, address, ret, err));
  HEARTH_TRY(id_table_reserve_row(&cache->by_address, &cache->known, &cache->known_room, cache->known_count,
                                  sizeof *cache->known, err));
  id_table_insert(&cache->by_address, hash, (uint32_t)cache->known_count);
  cache->known[cache->known_count++] = (known_address){address, *ret};
  return HEARTH_OK;
}

const uint32_t *hearth_frame_cache_rows(const hearth_frame_cache *cache, hearth_frame_span span) {
  return cache->rows + span.first;
}
