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
#define HEARTH_HOTCOLD_STATUS_VERSION 4

enum {
  HEARTH_HOTCOLD_STATUS_RANGES = 2, /* cold, hot */
  HEARTH_HOTCOLD_STATUS_POOLS = 33, /* of cold blocks, of the plan's 31 pools, of other hot blocks */
  HEARTH_HOTCOLD_STATUS_BINS = 64,
  HEARTH_HOTCOLD_STATUS_HOLES = 3,
  HEARTH_HOTCOLD_STATUS_PAGE_BYTES = 4096,
  HEARTH_HOTCOLD_STATUS_QUANTUM_BYTES = 16,
};

/* All but the page are counters in the process. */

/* Free memory that a pool cuts blocks from: its addresses. */
struct hearth_hotcold_hole {
  uint64_t start, end;
};

/* One pool of one thread. Sums over all threads have a meaning, as a thread may free blocks of others. Its live blocks are
 * those cut, without those cached or released; so far there were those cut or reused. The quanta of live blocks are those
 * in use, without those of its holes, those of cached blocks, and the remote ones. */
struct hearth_hotcold_pool_counts {
  struct hearth_hotcold_hole hole[HEARTH_HOTCOLD_STATUS_HOLES];
  uint64_t cut;                                /* blocks from holes, ever */
  uint64_t reused;                             /* cached blocks that became live again, ever */
  uint32_t cached[HEARTH_HOTCOLD_STATUS_BINS]; /* freed blocks of 1, 2, ... quanta, kept for the next request */
  uint64_t released;                           /* blocks that became free memory, ever */
  uint64_t used_quanta;                        /* of its memory */
  uint64_t remote_quanta;                      /* freed by other threads, and not yet noticed by this one */
};

/* Large blocks of one pool. */
struct hearth_hotcold_large_counts {
  uint64_t blocks;
  uint64_t pages;
  uint64_t ever;
};

/* All addresses are of uint64_t, unless they say otherwise. */
struct hearth_hotcold_range_status {
  uint64_t base;
  uint64_t bytes;
  uint64_t is_on;
  uint64_t large;       /* address of HEARTH_HOTCOLD_STATUS_POOLS large counts */
  uint64_t clean_pages; /* that hold no memory */
  uint64_t fallbacks;
};

struct hearth_hotcold_status {
  uint64_t magic;
  uint32_t version;
  uint32_t bytes; /* of this struct */
  uint32_t cold_below;
  uint32_t hot_from;
  struct hearth_hotcold_range_status range[HEARTH_HOTCOLD_STATUS_RANGES];
  /* Pools of threads: address of the pointer to the first thread's; each begins with the pointer to the next thread's, and has
   * at these offsets its hinted requests that were passed on, uint64_t, and its pools' counts, pool_bytes apart. */
  uint64_t threads;
  uint32_t thread_bytes; /* that hold all this */
  uint32_t passed_on_offset;
  uint32_t pools_offset;
  uint32_t pool_bytes;
};

#endif
