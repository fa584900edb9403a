/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory accesses of a function that are to be counted. */
#ifndef HEARTH_ACCESS_H
#define HEARTH_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>

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

#endif
