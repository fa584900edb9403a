/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory accesses of a function that are to be counted, and how fewer additions count them. */
#ifndef HEARTH_ACCESS_H
#define HEARTH_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "counter.h"
#include "flow.h"
#include "passes.h"

/* One access, counted before the instruction that makes it. */
typedef struct hearth_access {
  LLVMValueRef instruction;
  LLVMBasicBlockRef block;
  LLVMValueRef pointer;
  int64_t displacement; /* bytes from the pointer to the accessed memory */
  uint64_t weight;      /* its count; 0: counted together with another one */
  uint32_t alignment;   /* of the address, in bytes */
  /* The address again: constant offsets apart from the rest. */
  LLVMValueRef base;
  int64_t offset;
  /* Accesses of one object and place have one counter. Where granules are to be exact, these are base and offset. Else
   * the object is the pointer that the base is computed from, which lies in the same block. The place is then a granule
   * of a block that starts at the object, as if all its variable indices were 0 and all loops in their first
   * iteration. */
  LLVMValueRef object;
  int64_t place;
  /* Where in its block: interruptions (flow.h) before it, and whether one comes behind. */
  uint32_t interruptions;
  bool interrupted_after;
} hearth_access;

/* Accesses of each iteration of a loop, counted where the loop is entered, at the end of a block. */
typedef struct hearth_walk {
  LLVMBasicBlockRef preheader;
  LLVMValueRef object;       /* of all of them */
  LLVMValueRef start, trips; /* i64: address of the first one, number of iterations */
  int64_t stride;            /* bytes; 0: always the same address */
  uint64_t weight;
} hearth_walk;

typedef struct hearth_accesses {
  bool by_block;        /* the counts of blocks are to be exact, not those of granules */
  hearth_access *items; /* in the order of blocks and instructions */
  size_t count, capacity;
  hearth_walk *walks; /* that stand for items without weight */
  size_t n_walks, walks_capacity;
  LLVMValueRef *calls; /* that are left to count: memory intrinsics, library functions */
  size_t n_calls, calls_capacity;
} hearth_accesses;

/* Collect them. False: no memory. Free in either case. `flow`, of the function, is needed for HEARTH_COALESCE_BLOCK. */
bool hearth_accesses_collect(LLVMValueRef function, const hearth_pass_options *options, const hearth_flow *flow,
                             hearth_accesses *ret);
void hearth_accesses_free(hearth_accesses *accesses);

/* Whether the pointer may point into a heap block, or to a global that counts (global_table.h). Counters of other memory are never
 * read. */
bool hearth_may_be_heap(LLVMValueRef pointer);

/* Does a name of so many characters begin with the prefix? */
bool hearth_starts_with(const char *text, size_t length, const char *prefix);

/* --- fewer updates for the same counts, in this order --- */

/* Accesses near each other in one block, through one pointer, with no interruption between them, are counted with the
 * first: the weights of the others become 0. A counter is for `granule` bytes. Where there is no memory for that, nothing
 * changes. */
void hearth_coalesce_neighbours(hearth_accesses *accesses, unsigned granule);

/* Accesses that a loop makes in each iteration, and whose addresses move evenly or not at all, are counted before the
 * loop; exact for each counter, or where blocks matter only for each block. Their weights become 0; they become walks. */
void hearth_coalesce_loops(hearth_accesses *accesses, hearth_flow *flow, hearth_counters *counters);

/* An access that others may follow on the path that control takes is not counted where it happens: its count is kept
 * in a register down to the last of them, or to the edge where the path to them is left. No path through the
 * function has more updates than before, and at each interruption (flow.h) all counters have the same values as before.
 * Weights of sunk accesses become 0. Splits edges of the flow. Without memory for that, nothing changes. */
void hearth_sink_counts(hearth_accesses *accesses, hearth_flow *flow, hearth_counters *counters);

/* Count the walks. This makes blocks: nothing may be asked of a flow of the function from then on. */
void hearth_coalesce_walks(const hearth_accesses *accesses, hearth_counters *counters);

#endif
