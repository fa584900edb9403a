/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The part of the allocator that a program's code uses, to take a block of the main pool without malloc:
 *
 *   extern _Thread_local char *hearth_fast_pools_3[2];   of malloc, of operator new
 *
 *   list = hearth_fast_pools_3[family] + sizeof(void *) * class    class: granules of 16 bytes, rounded up; 0 to 64
 *   the list minus the pool's key is its first block, NULL: none; the block's first word becomes the list
 *   the block's byte of the map, at its segment's start plus its granule, becomes the class
 *   the pool's budget grows by the class
 *   no block: hearth_fast_malloc_3(pool, class), or hearth_fast_new_3, makes one, if the key is not 0
 *
 * Programs have a weak definition, of an empty pool whose key is 0. The allocator's own one comes to be that of the
 * program, as with every variable that both have. A thread's pools are set with its first block, if malloc and free
 * (operator new and delete) are the allocator's, and the user's options do not ask for other pools or for counts:
 * before that, and with any other allocator, nothing is found and the code calls. The number in the names is that of
 * this layout. */
#ifndef HEARTH_FAST_PATH_H
#define HEARTH_FAST_PATH_H

#define HEARTH_FAST_POOLS  "hearth_fast_pools_3"
#define HEARTH_FAST_MALLOC "hearth_fast_malloc_3"
#define HEARTH_FAST_NEW    "hearth_fast_new_3"

enum {
  HEARTH_FAST_GRANULE = 16,
  HEARTH_FAST_CLASSES = 64,
  HEARTH_FAST_SEGMENT = 2 << 20,
  HEARTH_FAST_BUDGET = 0x3c8, /* offsets in the pool */
  HEARTH_FAST_KEY = 0x500,
  HEARTH_FAST_POOL_BYTES = 0x508,
};

typedef enum hearth_fast_family {
  HEARTH_FAST_OF_MALLOC,
  HEARTH_FAST_OF_NEW,
  HEARTH_FAST_FAMILIES,
} hearth_fast_family;

#endif
