/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of classes; its numbers are computed by the macro that writes each row. */
#include "size_class.h"

/* Spans are 64 KiB, or eight blocks where that would be fewer. */
#define SPAN_BYTES(bytes) ((bytes) * 8 > 65536 ? (bytes) * 8 : 65536)
/* Rounded up; exact for every offset in a span, as offset (below 2^18) * size (at most 2^15) < 2^HEARTH_DIVIDE_SHIFT.
 */
#define RECIPROCAL(bytes) (((UINT64_C(1) << HEARTH_DIVIDE_SHIFT) + (bytes) - 1) / (bytes))
/* 16 KiB per class and thread, but at least two blocks. */
#define CACHED(bytes) ((bytes) < 512 ? HEARTH_CACHED_MAX : (bytes) > 8192 ? 2 : 16384 / (bytes))
#define CLASS(bytes)                                                                                                   \
  {(bytes), SPAN_BYTES(bytes) / HEARTH_PAGE_BYTES, SPAN_BYTES(bytes) / (bytes), CACHED(bytes), RECIPROCAL(bytes)}
#define DOUBLING(step) CLASS(5 * (step)), CLASS(6 * (step)), CLASS(7 * (step)), CLASS(8 * (step))

const struct hearth_size_class hearth_size_class_table[HEARTH_SIZE_CLASSES] = {
    CLASS(16),     CLASS(32),      CLASS(48),      CLASS(64),      CLASS(80),     CLASS(96),
    CLASS(112),    CLASS(128),     DOUBLING(32),   DOUBLING(64),   DOUBLING(128), DOUBLING(256),
    DOUBLING(512), DOUBLING(1024), DOUBLING(2048), DOUBLING(4096),
};

unsigned hearth_size_class_aligned(size_t bytes, size_t alignment) {
  unsigned size_class = hearth_size_class_of(bytes < alignment ? alignment : bytes);
  while (hearth_size_class_table[size_class].bytes & (alignment - 1))
    size_class++;
  return size_class;
}
