/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Warnings of many inputs: of each kind the first few are worth a line. */
#ifndef HEARTH_REPEATS_H
#define HEARTH_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

enum { HEARTH_REPEATS_TOLD = 8, HEARTH_REPEATS_KINDS = 64 };

/* All zero at first. */
typedef struct hearth_repeats {
  struct {
    uint64_t hash;
    uint64_t count;
  } kinds[HEARTH_REPEATS_KINDS]; /* texts of further kinds are all told */
  unsigned kind_count;
  uint64_t untold;
} hearth_repeats;

/* Is "NAME: TEXT" to be told? Texts are of one kind if they differ in the name of the input and in numbers only. */
bool hearth_repeats_tell(hearth_repeats *repeats, const char *text);

#endif
