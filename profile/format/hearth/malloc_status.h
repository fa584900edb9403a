/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How `hearth top` finds the numbers of a running program's allocator and reads them out of its memory, without
 * stopping it and without its help.
 *
 * The status is one page, the first of a mapping, behind an inaccessible one: so it is found in /proc/PID/maps, in
 * stripped programs as well. It says where the allocator's tables lie and does not change; these do, meanwhile.
 * Addresses are those of the process; integers are in its byte order. A reader refuses other versions.
 *
 *   kinds     a byte for each piece (two MiB) of the address space: what lies there, by placement
 *   segment   a piece of one placement; at its start, a byte for each of its granules, by which `granules` tells live blocks
 *   heap      of a thread; has the number of hinted requests for each placement */
#ifndef HEARTH_MALLOC_STATUS_H
#define HEARTH_MALLOC_STATUS_H

#include <stdint.h>

#define HEARTH_MALLOC_STATUS_MAGIC   UINT64_C(0x6c616d4868747248)
#define HEARTH_MALLOC_STATUS_VERSION 7

enum {
  /* Placements; also kinds of pieces, beside nothing (0) and large blocks. Others are of no interest. */
  HEARTH_MALLOC_STATUS_MAIN = 1,
  HEARTH_MALLOC_STATUS_COLD,
  HEARTH_MALLOC_STATUS_FIRST, /* of a plan's 31 pools */
  HEARTH_MALLOC_STATUS_PLACEMENTS = HEARTH_MALLOC_STATUS_FIRST + 31,
  HEARTH_MALLOC_STATUS_LARGE = 64,
  HEARTH_MALLOC_STATUS_LARGE_COLD,
  HEARTH_MALLOC_STATUS_GRANULE_BYTES = 16,
  HEARTH_MALLOC_STATUS_PAGE_BYTES = 4096,
};

struct hearth_malloc_status {
  uint64_t magic;
  uint32_t version;
  uint32_t bytes; /* of this struct */
  uint32_t cold_below, hot_from;
  uint64_t leaves; /* address of an array of leaf_count pointers, NULL or to leaf_bytes kinds */
  uint32_t leaf_count, leaf_bytes;
  uint32_t piece_bytes;
  uint32_t
      used_offset; /* in a segment: uint32_t, a bit for each 32nd of its granules, of which some may be of blocks */
  uint64_t heaps;  /* address of a pointer to the first heap */
  uint32_t heap_bytes, next_offset, hinted_offset, unused;
  uint64_t passed_on,
      fallbacks; /* addresses of uint64_t: hinted requests for no placement; for cold memory, of which there was none */
  uint64_t large[2]; /* addresses of two uint64_t: live large blocks, and their pages; ordinary ones, cold ones */
  uint16_t granules[UINT8_MAX + 1]; /* of the live block that begins where this byte is; 0: none does */
};

#endif
