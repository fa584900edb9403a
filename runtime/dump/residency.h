/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where bytes of the heap are: in memory, swapped out, or nowhere since nobody wrote to them; and whether they were written
 * to lately. Source: /proc/self/pagemap and clear_refs (Linux, Documentation/admin-guide/mm/pagemap.rst, soft-dirty.rst). */
#ifndef HEARTH_RUNTIME_RESIDENCY_H
#define HEARTH_RUNTIME_RESIDENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of blocks: those of a block that shares its page with others count by themselves. */
typedef struct hearth_residency {
  uint64_t resident;
  uint64_t swapped;
  uint64_t unwritten; /* in memory or swapped, and not written to since the dump before; 0 if that is not known */
} hearth_residency;

#define HEARTH_PAGE_BATCH 512

typedef struct hearth_page_map {
  int fd;
  bool knows_writes; /* since the dump before */
  uintptr_t first;   /* page of entries[0] */
  size_t count;      /* of entries that were read */
  uint64_t entries[HEARTH_PAGE_BATCH];
} hearth_page_map;

/* Returns 0, or an error number: the kernel has no page map, or does not show it. */
int hearth_page_map_open(hearth_page_map *map);
void hearth_page_map_close(hearth_page_map *map);

/* Where the bytes [address, address + size) are; bytes whose place cannot be read count as nowhere. Addresses that
 * follow each other are looked up fastest. */
hearth_residency hearth_page_map_find(hearth_page_map *map, uintptr_t address, uint64_t size);

/* From now on, pages that are written to are known. False: the kernel does not tell, or does not let us ask. */
bool hearth_page_map_watch(void);

#endif
