/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Looks at the accessed bits of watched blocks' pages (heap/watched.h), by a thread of the runtime's own, summed up by
 * context. With the option accesses=pages, accesses are estimated from these sums where profiles are written
 * (profile/builder/estimates.c). In programs that count their accesses, they are the second witness of what memory is idle
 * (hearth/classify.h): code without counters touches pages, too. */
#ifndef HEARTH_RUNTIME_TOUCH_LOOKS_H
#define HEARTH_RUNTIME_TOUCH_LOOKS_H

#include "mib_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is this wanted, as far as the way of recording allows it? A message says why not. May set the option sample. */
bool hearth_touches_are_wanted(void);

/* Begin to look, once; the process has one thread. Where the system does not allow it, a message says so, unless it
 * is a second witness that is missing. */
void hearth_touches_begin(void);

/* Forget all sums: of a profile that is reset, with signals blocked. */
void hearth_touches_forget(void);
/* In a forked child, which has no such thread, and no looks. */
void hearth_touches_end_in_child(void);

/* While all threads are stopped: set the fields about looks of all records in the view. `is_part`: others of the run are
 * elsewhere. False: accesses are not to be estimated. */
bool hearth_touches_show(hearth_mib_view *mibs, bool is_part);

/* The same, before the records in the table are forgotten: what the view shows is kept elsewhere. Looks at contexts without
 * a record stay. */
void hearth_touches_forget_shown(const hearth_mib_view *mibs);

/* How many pages of each mapping were accessed: from the text of /proc/self/smaps. */

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
