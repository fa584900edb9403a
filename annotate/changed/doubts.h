/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which calls of an alignment (salvage.h) are guesses. Calls of one function look alike: where one of several was inserted,
 * deleted or put elsewhere, callees do not tell which of them is which. Columns do, where they are those of calls in lines of
 * their own and occur once, and lines do between two calls that are sure and moved by as many lines. Without either a pair is in
 * doubt. */
#ifndef HEARTH_DOUBTS_H
#define HEARTH_DOUBTS_H

#include "alignment.h"

/* A call of one of the two sequences, which are sorted by line and column. */
typedef struct hearth_call_place {
  uint32_t line, column;
} hearth_call_place;

typedef struct hearth_doubts {
  size_t n, m;
  const hearth_call_place *old, *now; /* n, m */
  const uint64_t *callees;            /* n: the callees of the old ones */
  const uint64_t *placements;         /* n: of each old call, the set of its contexts' placements */
  hearth_likeness is_alike;           /* do they call the same? */
  void *data;
  bool knows_end;  /* it is known by how many lines the code behind the function moved, against it */
  uint32_t end_by; /* lines that the code behind the function moved by, if knows_end */
} hearth_doubts;

/* Do all lines seem to be where they were? */
static inline bool hearth_is_end_moved(const hearth_doubts *doubts) { return doubts->knows_end && doubts->end_by != 0; }

/* `pairs` is the alignment. Of old calls that are in doubt, the pair is put right where lines decide it, kept where all that
 * the call may be have one class, or none that gets a hint, and else taken away (HEARTH_UNALIGNED). *ret_first: one of the
 * calls of the source that lost it, or may be one that did; m if there is none. False: out of memory. */
bool hearth_doubts_decide(const hearth_doubts *doubts, size_t *pairs, size_t *ret_first);

#endif
