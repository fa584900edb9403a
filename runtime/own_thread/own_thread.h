/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The thread of the runtime's own, which looks at memory while the program runs (docs/decisions/own-thread.md).
 * There is at most one. */
#ifndef HEARTH_RUNTIME_OWN_THREAD_H
#define HEARTH_RUNTIME_OWN_THREAD_H

#include "mib_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begin it. `with_beats`: it marks the clock's epochs (clock.h). False: there is no memory, or the system refuses. */
bool hearth_own_thread_begin(void (*run)(void), bool with_beats);

/* It was begun, in this process, to run this; NULL: anything. */
bool hearth_own_thread_runs(void (*run)(void));

/* In that thread: take a lap of the counters, if one is due; then wait, and mark the clock's epochs meanwhile.
 * False: the program, or its recording, has ended, and so must the thread. */
bool hearth_own_thread_wait(uint64_t ns);

/* The runtime's own thread reads all counters of the heap again and again, and notes in which half each is
 * (shadow.h). A lap begins 0.25 s after the last one, or later if laps take more than 1 % of the time, but not more
 * than 2 s. So totals are exact while no granule gets 2^31 counts between two laps: 8.6 billion accesses a second to
 * the same 16 bytes, one billion in heaps of several GB. */

/* At the start, and in a forked child that goes on recording: begin the thread (own_thread.h), if no other part of the
 * runtime has, and the program may have one (option own_thread). */
void hearth_counter_laps_begin(void);

/* Looks at the accessed bits of watched blocks' pages (heap/watched.h), by a thread of the runtime's own, summed up
 * by context. With the option accesses=pages, accesses are estimated from these sums where profiles are written
 * (profile/builder/estimates.c). In programs that count their accesses, they are the second witness of what memory
 * is idle (hearth/classify.h): code without counters touches pages, too. */

/* Is this wanted, as far as the way of recording allows it? A message says why not. May set the option sample. */
bool hearth_touches_are_wanted(void);

/* Begin to look, once; the process has one thread. Where the system does not allow it, a message says so, unless it
 * is a second witness that is missing. */
void hearth_touches_begin(void);

/* Forget all sums: of a profile that is reset, with signals blocked. */
void hearth_touches_forget(void);
/* In a forked child, which has no such thread, and no looks. */
void hearth_touches_end_in_child(void);

/* While all threads are stopped: set the fields about looks of all records in the view. `is_part`: others of the run
 * are elsewhere. False: accesses are not to be estimated. */
bool hearth_touches_show(hearth_mib_view *mibs, bool is_part);

/* The same, before the records in the table are forgotten: what the view shows is kept elsewhere. Looks at contexts
 * without a record stay. */
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

/* Read a piece; `visit` is called for each mapping within [begin, end). False: a mapping from `end` on is reached,
 * and what follows does not matter. */
bool hearth_page_counts_read(hearth_page_counts_reader *reader, const char *text, size_t size, uintptr_t begin,
                             uintptr_t end, hearth_page_counts_visit *visit);

#endif
