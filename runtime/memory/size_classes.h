/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Size classes of both heaps, and ranges of sizes of the allocator's: data.
 *
 * Up to 1 KiB each granule is a class, above it eight for each doubling: a block is at most an eighth larger than
 * its request. Requests of one range lie in their order. One range for all sizes keeps most neighbours, one for each
 * size tells most kinds of blocks apart; docs/decisions/engine.md has the figures by which three small ones were
 * chosen. */
#ifndef HEARTH_SIZE_CLASSES_H
#define HEARTH_SIZE_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#define HEARTH_GRANULE ((size_t)16) /* the alignment of all blocks; and what one access counter stands for */

enum {
  HEARTH_SMALL_CLASSES = 64,                                  /* classes 1 to 64: that many granules */
  HEARTH_SMALL_BYTES = HEARTH_SMALL_CLASSES * HEARTH_GRANULE, /* 1 KiB */
  HEARTH_MEDIUM_BYTES = 128 << 10,
  HEARTH_CLASSES = HEARTH_SMALL_CLASSES + 8 * 7 + 1, /* class 0 is none */
  HEARTH_RANGES = 5,
};

/* X(bytes of the largest block, slots that are taken at once) */
#define HEARTH_RANGE_TABLE(X)                                                                                          \
  X(64, 1)                                                                                                             \
  X(256, 1)                                                                                                            \
  X(HEARTH_SMALL_BYTES, 1)                                                                                             \
  X(8 << 10, 2)                                                                                                        \
  X(HEARTH_MEDIUM_BYTES, 4)

/* The class of a request of up to HEARTH_MEDIUM_BYTES bytes; none count as one. */
static inline size_t hearth_class_of(size_t bytes) {
  size_t granules = (bytes + HEARTH_GRANULE - 1) / HEARTH_GRANULE;
  if (granules <= HEARTH_SMALL_CLASSES)
    return granules + !granules;
  unsigned doubling = 63 - (unsigned)__builtin_clzll(granules - 1); /* 6 for 65 to 128 granules */
  return HEARTH_SMALL_CLASSES + 8 * (doubling - 6) + ((granules - 1) >> (doubling - 3)) - 7;
}

static inline size_t hearth_class_granules(size_t class) {
  if (class <= HEARTH_SMALL_CLASSES)
    return class;
  size_t step = class - HEARTH_SMALL_CLASSES - 1; /* 0: 72 granules */
  return (9 + step % 8) << (3 + step / 8);
}

/* The largest class of blocks of at most so many granules. */
static inline size_t hearth_class_below(size_t granules) {
  if (granules >= HEARTH_MEDIUM_BYTES / HEARTH_GRANULE)
    return HEARTH_CLASSES - 1;
  size_t class = hearth_class_of(granules * HEARTH_GRANULE);
  return class - (hearth_class_granules(class) > granules);
}

static inline unsigned hearth_class_range(size_t class) {
  size_t bytes = hearth_class_granules(class) * HEARTH_GRANULE;
  unsigned range = 0;
#define HEARTH_COUNT(largest, slots) range += bytes > (largest);
  HEARTH_RANGE_TABLE(HEARTH_COUNT)
#undef HEARTH_COUNT
  return range;
}

#endif
