/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two sequences with as much in common as possible, in order: a longest common subsequence. */
#ifndef HEARTH_ALIGNMENT_H
#define HEARTH_ALIGNMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
