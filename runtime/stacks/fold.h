/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Folding of recursion: one of each cycle of calls is kept. Where an address occurs again further from the root, the
 * part between is left out (and noted), as hearth_builder_fold_recursion does. Stacks are arrays of
 * addresses, leaf first. */
#ifndef HEARTH_RUNTIME_FOLD_H
#define HEARTH_RUNTIME_FOLD_H

#include "unwind.h"

#include <stdint.h>

/* For each position of a stack, the kept addresses of the part from there to the root. One more entry ends the
 * stack. */
typedef struct hearth_folded {
  uint8_t tops[HEARTH_DEPTH_MOST + 1];  /* position of the innermost address; the next one is tops[that + 1] */
  uint64_t seen[HEARTH_DEPTH_MOST + 1]; /* a bit for each address that may be among them: others need not be searched */
} hearth_folded;

/* Fold pcs[first..end): the results of an earlier call for the positions [from, end) still hold. `end` is at most
 * HEARTH_DEPTH_MOST. */
void hearth_fold_extend(const uint64_t *pcs, hearth_folded *folded, size_t first, size_t from, size_t end);

/* Write the kept addresses of pcs[first..end), leaf first; ret_pcs may be pcs if `first` is 0. Returns how many
 * addresses. */
size_t hearth_fold_collect(const uint64_t *pcs, const hearth_folded *folded, size_t first, size_t end,
                           uint64_t *ret_pcs);

/* Fold pcs[0..depth) in place. Returns the new depth. */
size_t hearth_fold_recursion(uint64_t *pcs, size_t depth);

/* Return addresses of folded calls: calls that may be in progress where a stack lacks them. Any thread may
 * add and read at any time, signal handlers too. */

/* Further ones are not noted: plans may then heed calls that they should not. */
#define HEARTH_FOLDED_PCS_MOST 6144u

/* An address that is there is not added again. */
void hearth_folded_pcs_add(uint64_t pc);

/* Those added so far, in any order: the one behind `pc`, NULL for the first one. NULL: that was the last. */
const uint64_t *hearth_folded_pcs_next(const uint64_t *pc);

#endif
