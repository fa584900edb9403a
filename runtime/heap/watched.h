/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Watched blocks: some blocks of the sample, on pages that they share with no other block, so that the accessed bits of
 * these pages tell whether the block was touched. The system counts accessed pages by mapping (touch_looks.c). So there
 * is one for each context's small blocks, with a page for each block, and one for each larger block:
 *
 *   | page page ... page | gap | page page ... page | gap | ...  large | gap | large | gap |
 *     small slot               small slot                   slots of one block
 *
 * All lie in one range at low addresses, which the system lists first; nothing is reserved, and only slots in use are
 * mapped. */
#ifndef HEARTH_RUNTIME_WATCHED_H
#define HEARTH_RUNTIME_WATCHED_H

#include "block.h"
#include "thread_state.h"

#define HEARTH_WATCHED_SMALL_SLOTS 384u
#define HEARTH_WATCHED_SMALL_PAGES 63u /* of a small slot; a bit for each */
#define HEARTH_WATCHED_CLASSES     13u /* larger blocks have up to 2, 4 ... 8192 pages */
#define HEARTH_WATCHED_CLASS_SLOTS 24u
#define HEARTH_WATCHED_SLOTS       (HEARTH_WATCHED_SMALL_SLOTS + HEARTH_WATCHED_CLASSES * HEARTH_WATCHED_CLASS_SLOTS)

/* A larger block's memory is being given back. */
#define HEARTH_WATCHED_ENDING UINT64_C(2)

/* Of a larger block, only the lowest bits count. */
typedef struct hearth_watched_slot {
  char *start;         /* of the mapping; NULL: there is none */
  uint32_t pages;      /* of the mapping */
  uint32_t context;    /* HEARTH_NO_CONTEXT: it is free */
  uint32_t high_pages; /* pages from the first one on that were ever used, since they were given back */
  uint64_t used;       /* pages with a block, as bits, ended ones included */
  uint64_t fresh;      /* of these: the block began after the last look */
  uint64_t ended; /* of these: the block has ended, and HEARTH_WATCHED_ENDING; atomic, all else is under the lock */
  uint8_t offsets[HEARTH_WATCHED_SMALL_PAGES]; /* of a page's block, in lines */
  uint16_t sizes
      [HEARTH_WATCHED_SMALL_PAGES]; /* of a page's block, in bytes: its header is not read, as that would touch it */
} hearth_watched_slot;

/* Of all that follows; an allocation never waits for it. */
extern hearth_lock hearth_watched_lock __attribute__((visibility("hidden")));

/* Once, before there are blocks. False: no memory. */
bool hearth_watched_create(void);

/* Begin and stop placing blocks; those that are there stay. */
void hearth_watched_switch(bool on);

/* A chunk for a block of the sample, or for some of all blocks if there is none, as hearth_heap_take; NULL: it is to
 * lie among all others. */
hearth_header *hearth_watched_take(size_t size, size_t alignment, uint32_t context, bool *ret_zeroed);

/* Does an address lie in the range? Never before it is created. */
bool hearth_watched_contains(const void *address);

/* The block that a user pointer in the range is of; NULL: of none. Its state is to be looked at. */
hearth_header *hearth_watched_find(const void *pointer);

/* The block has ended. Its page is not used again before the next look. */
void hearth_watched_give(hearth_header *block);

/* Bytes that it has for its user; 0: it cannot be resized in its place. */
size_t hearth_watched_capacity(const hearth_header *block);

/* A block that was resized in its place has begun a new life in this context. */
void hearth_watched_renew(hearth_header *block, uint32_t context);

/* Call `visit` for each block, live or not; under the lock. */
void hearth_watched_each(void (*visit)(hearth_header *block, void *closure), void *closure);

/* For the thread that looks, under the lock: the slots, the range as far as it may be mapped, and the slot of a
 * mapping, NULL if it is none of ours. */
hearth_watched_slot *hearth_watched_slots(void);
void hearth_watched_range(char **ret_start, char **ret_end);
hearth_watched_slot *hearth_watched_slot_of(const void *address);
bool hearth_watched_is_small(const hearth_watched_slot *slot);

/* The same, after a look: pages of ended blocks are free from now on. */
void hearth_watched_settle(void);

#endif
