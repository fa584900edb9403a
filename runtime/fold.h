/* Folding of recursion: of each cycle of calls one is kept. Where an address occurs again further from the root, what lies
 * between is left out (and noted, left_out.h), as hearth_builder_fold_recursion does. Stacks are arrays of addresses, leaf first. */
#ifndef HEARTH_RUNTIME_FOLD_H
#define HEARTH_RUNTIME_FOLD_H

#include "unwind.h"

/* For each position of a stack, the position of the innermost address that is kept of the part from there to the root; the
 * next one that is kept is tops[that + 1]. One more ends the stack: it has itself. */
typedef uint8_t hearth_fold_tops[HEARTH_DEPTH_MOST + 1];

/* Fold pcs[first..end): the tops of the positions [from, end), from an earlier call, hold still. `end` is at most
 * HEARTH_DEPTH_MOST. */
void hearth_fold_extend(const uint64_t *pcs, hearth_fold_tops tops, size_t first, size_t from, size_t end);

/* Write what is kept of pcs[first..end), leaf first; ret_pcs may be pcs if `first` is 0. Returns how many addresses. */
size_t hearth_fold_collect(const uint64_t *pcs, const hearth_fold_tops tops, size_t first, size_t end,
                           uint64_t *ret_pcs);

/* Fold pcs[0..depth) in place. Returns the new depth. */
size_t hearth_fold_recursion(uint64_t *pcs, size_t depth);

#endif
