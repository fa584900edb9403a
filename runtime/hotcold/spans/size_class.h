/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Size classes: 16-byte steps up to 128 bytes, then four classes per doubling up to 32 KiB, so that rounding up wastes
 * at most a fifth. Every size is a multiple of 16, which is the alignment malloc promises. */
#ifndef HEARTH_SIZE_CLASS_H
#define HEARTH_SIZE_CLASS_H

#include <stddef.h>
#include <stdint.h>

enum {
  HEARTH_PAGE_SHIFT = 12,
  HEARTH_PAGE_BYTES = 1 << HEARTH_PAGE_SHIFT,
  HEARTH_SIZE_CLASSES = 40,
  HEARTH_SMALL_MAX_BYTES = 32768,
  HEARTH_DIVIDE_SHIFT = 40,
  HEARTH_CACHED_MAX = 32,
};

struct hearth_size_class {
  uint32_t bytes;      /* of one block */
  uint16_t span_pages; /* of one span, in pages */
  uint16_t blocks;     /* in one span */
  uint32_t cached;     /* free blocks that one thread may hold back; at most HEARTH_CACHED_MAX */
  uint64_t reciprocal; /* index of a block in its span = (offset * reciprocal) >> HEARTH_DIVIDE_SHIFT */
};

extern const struct hearth_size_class hearth_size_class_table[HEARTH_SIZE_CLASSES];

/* The class for blocks of `bytes`, at most HEARTH_SMALL_MAX_BYTES; 0 is treated as 1. */
static inline unsigned hearth_size_class_of(size_t bytes) {
  size_t last = bytes ? bytes - 1 : 0;
  if (last < 128)
    return (unsigned)(last >> 4);
  unsigned log2 = 63 - (unsigned)__builtin_clzl(last);
  return 8 + (log2 - 7) * 4 + ((unsigned)(last >> (log2 - 2)) & 3);
}

/* The smallest class whose blocks hold `bytes` and are all aligned to `alignment`, a power of two of at most one page:
 * spans begin at a page, so a block is aligned when its class's size is a multiple. */
unsigned hearth_size_class_aligned(size_t bytes, size_t alignment);

#endif
