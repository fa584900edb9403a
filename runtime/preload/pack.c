/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* zstd with a workspace of fixed size: it allocates nothing. */
#define ZSTD_STATIC_LINKING_ONLY /* contexts in given memory */
#include "pack.h"

#include "hearth/trace_blocks.h"

#include <string.h>
#include <zstd.h>

#define WINDOW_LOG 16

/* Columns are a few KiB of numbers that look random in part: the fastest search finds all that can be found. */
static const ZSTD_compressionParameters search = {.windowLog = WINDOW_LOG,
                                                  .chainLog = 6,
                                                  .hashLog = 12,
                                                  .searchLog = 1,
                                                  .minMatch = 5,
                                                  .targetLength =
                                                      0, /* with ZSTD_fast, others switch off the coding of literals */
                                                  .strategy = ZSTD_fast};

static size_t compressor_size(void) { return (ZSTD_estimateCCtxSize_usingCParams(search) + 63) & ~(size_t)63; }

size_t hearth_packer_memory(size_t most) {
  return compressor_size() + most + most / 128 + HEARTH_TRACE_COLUMNS_MOST * (sizeof(hearth_trace_column_size) + 128);
}

static bool set(ZSTD_CCtx *compressor, ZSTD_cParameter parameter, int value) {
  return !ZSTD_isError(ZSTD_CCtx_setParameter(compressor, parameter, value));
}

bool hearth_packer_create(hearth_packer *packer, void *memory, size_t most) {
  ZSTD_CCtx *compressor = ZSTD_initStaticCCtx(memory, compressor_size());

  packer->compressor = compressor;
  packer->packed = (uint8_t *)memory + compressor_size();
  packer->room = hearth_packer_memory(most) - compressor_size();
  packer->size = 0;
  return compressor && set(compressor, ZSTD_c_windowLog, WINDOW_LOG) &&
         set(compressor, ZSTD_c_chainLog, (int)search.chainLog) &&
         set(compressor, ZSTD_c_hashLog, (int)search.hashLog) &&
         set(compressor, ZSTD_c_searchLog, (int)search.searchLog) &&
         set(compressor, ZSTD_c_minMatch, (int)search.minMatch) &&
         set(compressor, ZSTD_c_targetLength, (int)search.targetLength) &&
         set(compressor, ZSTD_c_strategy, (int)search.strategy) && set(compressor, ZSTD_c_contentSizeFlag, 0);
}

void hearth_packer_begin(hearth_packer *packer) { packer->size = 0; }

void hearth_packer_add(hearth_packer *packer, const void *column, size_t size) {
  hearth_trace_column_size sizes = {(uint32_t)size, (uint32_t)size};
  uint8_t *to = packer->packed + packer->size;
  size_t room = packer->room - packer->size - sizeof sizes;
  size_t packed = ZSTD_compress2(packer->compressor, to + sizeof sizes, room, column, size);

  if (ZSTD_isError(packed) || packed >= size)
    memcpy(to + sizeof sizes, column, size);
  else
    sizes.packed = (uint32_t)packed;
  memcpy(to, &sizes, sizeof sizes);
  packer->size += sizeof sizes + sizes.packed;
}
