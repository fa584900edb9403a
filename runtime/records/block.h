/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The header of a block that is recorded: the facts that its record needs at its end. The user's bytes follow it. */
#ifndef HEARTH_RUNTIME_BLOCK_H
#define HEARTH_RUNTIME_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEARTH_GRANULE ((size_t)64) /* bytes that one access counter stands for */

typedef enum hearth_block_state {
  HEARTH_BLOCK_RAW = 0, /* memory never handed out, or not a header */
  HEARTH_BLOCK_LIVE = 0xa5,
  HEARTH_BLOCK_ENDING = 0x96, /* claimed, but not recorded yet */
  HEARTH_BLOCK_FREE = 0x5c,
  HEARTH_BLOCK_REDIRECT = 0xc3
} hearth_block_state;

/* The context of a block without record: allocated before the start, or by the runtime's callees. */
#define HEARTH_NO_CONTEXT UINT32_MAX

/* Header of a block. The user's bytes follow it. */
typedef struct hearth_block {
  uint64_t size; /* requested bytes; in a redirect: distance of the header in bytes */
  union {
    uint64_t alloc_ns;              /* since the start of the run */
    struct hearth_block *next_free; /* in the list of a size class */
  };
  union {
    struct {
      uint32_t context; /* id in the depot, or HEARTH_NO_CONTEXT */
      uint16_t cpu;
      uint8_t state; /* hearth_block_state; accessed atomically: live only while all other fields are valid */
      uint8_t
          size_class; /* of the chunk that the header begins; HEARTH_NO_CLASS: a large tract, or behind a redirect */
    };
    uint64_t life; /* all four at once; atomic */
  };
  uint64_t data_type_id;
} hearth_block;

_Static_assert(sizeof(hearth_block) == 32, "user pointers are aligned to 32");

_Static_assert(offsetof(hearth_block, state) == offsetof(hearth_block, life) + 6, "as in HEARTH_LIFE_UNRECORDED");

static inline void *hearth_block_memory(hearth_block *block) { return block + 1; }

/* The life of a live block without record whose header begins a chunk of class 0; other classes are added from the bit
 * HEARTH_LIFE_CLASS_BIT on. */
#define HEARTH_LIFE_UNRECORDED ((uint64_t)HEARTH_BLOCK_LIVE << 48 | HEARTH_NO_CONTEXT)
#define HEARTH_LIFE_CLASS_BIT  56

#define HEARTH_NO_CLASS UINT8_MAX

static inline uint8_t hearth_block_state_of(const hearth_block *block) {
  return __atomic_load_n(&block->state, __ATOMIC_ACQUIRE);
}

static inline void hearth_block_set_state(hearth_block *block, hearth_block_state state) {
  __atomic_store_n(&block->state, (uint8_t)state, __ATOMIC_RELEASE);
}

#endif
