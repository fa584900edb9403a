/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Heap dumps: the live blocks at one moment, each dump in a file of its own. In live mode they take the place of
 * profiles. */
#ifndef HEARTH_RUNTIME_LIVE_DUMP_H
#define HEARTH_RUNTIME_LIVE_DUMP_H

#include "dump.h"

#include "hearth/mib.h"
#include "hearth/raw.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where bytes of the heap are: in memory, swapped out, or nowhere since nobody wrote to them; and whether they were written
 * to lately. Source: /proc/self/pagemap and clear_refs (Linux, Documentation/admin-guide/mm/pagemap.rst, soft-dirty.rst). */

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

/* Write one to the next file: NAME.1, NAME.2 ...; those of peaks replace NAME.peak. A message names the error. The
 * caller has the lock of dumps, and has blocked signals. Returns whether it was written. */
bool hearth_live_dump(enum hearth_raw_occasion occasion);

/* Call this at the start of the run: with option residency, it starts to watch pages for the first dump. */
void hearth_live_begin(void);

/* A forked child's dumps have names of their own. */
void hearth_live_forget_files(void);

/* The live blocks at one moment, by context and type. Use it while threads are stopped; it maps memory, and gives it
 * back. */

/* Blocks of one context and type. */
typedef struct hearth_live_row {
  uint32_t next; /* row + 1 of the same context and another type; 0: none */
  hearth_mib mib;
  hearth_residency residency;
} hearth_live_row;

typedef struct hearth_live_census {
  uint32_t *first; /* by context: row + 1; 0: nothing is live */
  uint32_t context_count;
  hearth_live_row *rows;
  uint32_t row_count, row_room;
  bool incomplete; /* there was no memory for all rows */
} hearth_live_census;

/* Take the census. False: no memory.
 *   pages  tells where bytes are; NULL: the caller does not want that */
bool hearth_live_census_take(hearth_live_census *live, hearth_page_map *pages);
/* Add to the row of a context below context_count. */
void hearth_live_census_add(hearth_live_census *live, uint32_t context, const hearth_mib *mib);

void hearth_live_census_destroy(hearth_live_census *live);

/* The first row of a context; NULL: nothing is live. And the one behind a row. */
static inline const hearth_live_row *hearth_live_first(const hearth_live_census *live, uint32_t context) {
  return live->first[context] ? &live->rows[live->first[context] - 1] : NULL;
}

static inline const hearth_live_row *hearth_live_next(const hearth_live_census *live, const hearth_live_row *row) {
  return row->next ? &live->rows[row->next - 1] : NULL;
}

#endif
