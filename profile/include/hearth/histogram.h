/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How often each 8 bytes of the blocks of a context were accessed, by their place in the block. Programs compiled in
 * histogram mode record it. */
#ifndef HEARTH_HISTOGRAM_H
#define HEARTH_HISTOGRAM_H

#include <stdint.h>

#define HEARTH_HISTOGRAM_BYTES 8 /* of a place */

typedef struct hearth_histogram {
  const uint64_t *counts; /* of the bytes [8 * i, 8 * i + 8) of all blocks, summed */
  uint64_t size;          /* 0: there is none, or nothing was accessed */
} hearth_histogram;

#endif
