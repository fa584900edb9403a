/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How many pages of each mapping were accessed: from the text of /proc/self/smaps. */
#ifndef HEARTH_RUNTIME_PAGE_COUNTS_H
#define HEARTH_RUNTIME_PAGE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hearth_page_counts {
  uintptr_t start; /* of the mapping */
  uint32_t accessed;
  bool shared; /* some page with a forked process */
} hearth_page_counts;

/* The text is given in pieces that may end anywhere. All zero at first. */
typedef struct hearth_page_counts_reader {
  hearth_page_counts counts; /* of the mapping that is being read */
  char line[64];             /* the beginning of the line that is being read */
  uint32_t length;           /* of the line so far, at most sizeof line */
} hearth_page_counts_reader;

typedef void hearth_page_counts_visit(const hearth_page_counts *counts);

/* Read a piece; `visit` is called for each mapping within [begin, end). False: a mapping from `end` on is reached, and what
 * follows does not matter. */
bool hearth_page_counts_read(hearth_page_counts_reader *reader, const char *text, size_t size, uintptr_t begin,
                             uintptr_t end, hearth_page_counts_visit *visit);

#endif
