/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The profiles to merge, with their weights. */
#ifndef HEARTH_INPUT_LIST_H
#define HEARTH_INPUT_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "hearth/indexer.h"

typedef struct input_list {
  hearth_input *rows; /* each with a path of its own */
  size_t count, room;
} input_list;

void hearth_input_list_free(input_list *list);

/* `path` is copied, "-" as standard input; false when out of memory. */
bool hearth_input_list_add(input_list *list, const char *path, uint64_t weight);
/* "N:FILE", or with another separator; false if it is not that, or when out of memory. */
bool hearth_input_list_add_weighted(input_list *list, const char *text, char separator);
/* All that a file lists, one a line: "FILE" or "N,FILE". Blanks around a line are not part of it; empty lines and such
 * that begin with '#' mean nothing. Errors: E_IO, E_NOMEM. */
hearth_status hearth_input_list_add_file(input_list *list, const char *path, hearth_error *err);

/* Warnings of many inputs: of each kind the first few are worth a line. */

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
