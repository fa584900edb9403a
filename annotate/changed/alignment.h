/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two sequences with as much in common as possible, in order: a longest common subsequence. */
#ifndef HEARTH_ALIGNMENT_H
#define HEARTH_ALIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hearth/profile.h"

/* How alike item i of the first sequence and item k of the second are: 0 not at all. Sums are below 2^32. */
typedef uint32_t (*hearth_likeness)(size_t i, size_t k, void *data);

#define HEARTH_UNALIGNED       SIZE_MAX
#define HEARTH_ALIGNMENT_LIMIT (4u << 20) /* product of the lengths: 16 MiB while it runs */

/* For each of n items, the one of m that it is taken to be, or HEARTH_UNALIGNED; ascending. The sum of likenesses is the
 * greatest that there is; of several such alignments, that of the earliest items. False, and nothing written, if the sequences
 * are too long, or out of memory. */
bool hearth_align(size_t n, size_t m, hearth_likeness likeness, void *data, size_t *ret);

/* The possible partners of an item, over all alignments with the greatest sum. */
typedef struct hearth_choice {
  size_t first, last; /* items of the other sequence that it is in some of them; first > last: in none */
  bool may_be_none;   /* in some of them it is unaligned */
} hearth_choice;

/* The choices of all n items, and of all m. Takes twice the memory of hearth_align; false as there. */
bool hearth_align_choices(size_t n, size_t m, hearth_likeness likeness, void *data, hearth_choice *ret_of_n,
                          hearth_choice *ret_of_m);

/* ------------------------------------------------ doubts ------------------------------------------------ */

/* Which calls of an alignment (salvage.h) are guesses. Calls of one function look alike: where one of several was inserted,
 * deleted or put elsewhere, callees do not tell which of them is which. Columns do, where they are those of calls in lines of
 * their own and occur once, and lines do between two calls that are sure and moved by as many lines. Without either a pair is in
 * doubt. */

/* A call that the profile knows, of any discriminator. */
typedef struct hearth_old_call {
  uint32_t line, column;
  hearth_function_info callee; /* `name` NULL: unknown */
  uint64_t placements;         /* of contexts through it: a set */
  bool allocates;
  bool indirect; /* the callee is none that the function calls by name */
} hearth_old_call;

/* Calls of one place now: sites [first, end). */
typedef struct hearth_new_call {
  uint32_t line, column;
  size_t first, end;
} hearth_new_call;

typedef struct hearth_doubts {
  size_t n, m;
  const hearth_old_call *old; /* n, by line and column */
  const hearth_new_call *now; /* m, likewise */
  hearth_likeness is_alike;   /* do they call the same? */
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
