/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How `hearth top` finds the numbers of a running program's allocator adapter and reads them out of its memory, without
 * stopping it and without its help.
 *
 * The status is one page, the first of a mapping, behind an inaccessible one: so it is found in /proc/PID/maps, in stripped
 * programs as well. It says where the counters lie and does not change; the counters do, meanwhile, and are read one by
 * one. Addresses are those of the process; integers are in its byte order. A reader refuses other versions. */
#ifndef HEARTH_HOTCOLD_STATUS_H
#define HEARTH_HOTCOLD_STATUS_H

#include <stdint.h>

#define HEARTH_HOTCOLD_STATUS_MAGIC   UINT64_C(0x746f485c68747248)
#define HEARTH_HOTCOLD_STATUS_VERSION 1

enum {
  HEARTH_HOTCOLD_STATUS_RANGES = 2, /* cold, hot */
  HEARTH_HOTCOLD_STATUS_CLASSES = 64,
  HEARTH_HOTCOLD_STATUS_PAGE_BYTES = 4096,
};

/* All addresses are of uint64_t. */
struct hearth_hotcold_range_status {
  uint64_t base;
  uint64_t bytes;
  uint64_t is_on;
  uint64_t class_blocks;        /* blocks handed out of the first size class; those in caches of threads count */
  uint64_t class_blocks_stride; /* bytes from one class to the next */
  uint64_t large_blocks;
  uint64_t large_pages;
  uint64_t large_ever;
  uint64_t clean_pages; /* that hold no memory */
  uint64_t fallbacks;
};

struct hearth_hotcold_status {
  uint64_t magic;
  uint32_t version;
  uint32_t bytes; /* of this struct */
  uint32_t cold_below;
  uint32_t hot_from;
  uint32_t classes; /* size classes, at most HEARTH_HOTCOLD_STATUS_CLASSES */
  uint32_t class_bytes[HEARTH_HOTCOLD_STATUS_CLASSES];
  uint32_t cache_bytes; /* of a thread's cache */
  struct hearth_hotcold_range_status range[HEARTH_HOTCOLD_STATUS_RANGES];
  /* The caches: address of the pointer to the first; each begins with the pointer to the next. In a cache: offsets of the
   * blocks ever taken, uint64_t for cold, hot and passed on; and of the blocks that lie in it, uint32_t for each class, all
   * of the cold range before the hot one. */
  uint64_t caches;
  uint32_t cache_ever_offset;
  uint32_t cache_count_offset;
  uint32_t cache_count_stride;
  uint32_t reserved;
  uint64_t uncached_ever; /* address of the same three of threads without a cache */
};

#endif
