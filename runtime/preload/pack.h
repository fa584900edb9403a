/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Payloads of a trace's blocks: columns, each compressed for itself (docs/formats/trace.md, "Columns"). zstd works in
 * memory that is given to it and calls no allocator. */
#ifndef HEARTH_RUNTIME_PACK_H
#define HEARTH_RUNTIME_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hearth_packer {
  void *compressor; /* ZSTD_CCtx */
  uint8_t *packed;  /* the payload so far */
  size_t size, room;
} hearth_packer;

/* Memory that a packer needs for payloads of `most` bytes before compression. */
size_t hearth_packer_memory(size_t most);

/* Set up in that memory. False: zstd refuses it. */
bool hearth_packer_create(hearth_packer *packer, void *memory, size_t most);

/* Begin a payload; earlier columns are gone. */
void hearth_packer_begin(hearth_packer *packer);

/* Add the next column; stored uncompressed where compression gains nothing. */
void hearth_packer_add(hearth_packer *packer, const void *column, size_t size);

#endif
