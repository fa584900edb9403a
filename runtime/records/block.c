/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The layout of headers. Before it is settled, all blocks are without context, which looks alike in all layouts. */
#include "block.h"

hearth_granule_words hearth_block_types;

static unsigned bits_for(uint32_t values) {
  unsigned bits = 1;

  while (bits < 32 && values > UINT32_C(1) << bits)
    ++bits;
  return bits;
}

#define LAYOUT(CONTEXT_BITS, CPU_BITS)                                                                                 \
  {                                                                                                                    \
      .context_mask = (uint32_t)((UINT64_C(1) << (CONTEXT_BITS)) - 1),                                                 \
      .cpu_mask = (uint32_t)((UINT64_C(1) << (CPU_BITS)) - 1),                                                         \
      .cpu_shift = (uint8_t)(HEARTH_LIFE_SHIFT + (CONTEXT_BITS)),                                                      \
      .time_shift = (uint8_t)(HEARTH_LIFE_SHIFT + (CONTEXT_BITS) + (CPU_BITS)),                                        \
      .time_bits = (uint8_t)(63 - HEARTH_TIME_SHIFT_BITS - HEARTH_LIFE_SHIFT - (CONTEXT_BITS) - (CPU_BITS)),           \
  }

hearth_header_layout hearth_headers = LAYOUT(20, 1);

void hearth_header_begin(uint32_t contexts, uint32_t cpus) {
  unsigned context_bits = bits_for(contexts + 1), cpu_bits = bits_for(cpus); /* one more, for blocks without context */

  hearth_headers = (hearth_header_layout)LAYOUT(context_bits, cpu_bits);
}
