/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory that is used together. At random moments of a run the profiling runtime takes a window: it looks at the access
 * counters of a random sample of the heap's pages twice, a moment apart, and finds the blocks that were touched between.
 * A profile holds the sums over all windows of all runs, by context and by pair of contexts.
 *
 *   touched lines, pages   64-byte lines and 4-KiB pages of a context's blocks with an access in the window, scaled from
 *                          the sample to the whole heap; a line or page that two contexts share counts for both
 *   touched, live blocks   scaled alike; a block of several pages counts by the share of them that was touched
 *
 * Divide by the windows to get what one window sees: lines / totals.windows is the part of a context's memory that a
 * cache has to hold. Contexts that became one when they were merged count a window once for each. Runs that were not
 * linked with the runtime, were sampled, or had no window add nothing. */
#ifndef HEARTH_TOGETHER_H
#define HEARTH_TOGETHER_H

#include "hearth/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over all windows. */
typedef struct hearth_together_totals {
  uint64_t windows;
  uint64_t window_ns;     /* their lengths */
  uint64_t sampled_pages; /* pages that were looked at */
  uint64_t pages;         /* that the heap had */
  uint64_t lost_pairs;    /* pairs of contexts in a window for which the runtime had no room */
} hearth_together_totals;

/* The sums of one context. */
typedef struct hearth_touched {
  uint64_t windows; /* in which it was touched */
  uint64_t blocks, lines, pages;
  uint64_t live; /* blocks that were live, in all windows */
} hearth_touched;

typedef struct hearth_together_row {
  uint32_t context; /* row of the profile */
  hearth_touched touched;
} hearth_together_row;

/* Two contexts that were touched in the same windows. Of a window only its 64 most touched contexts make pairs. */
typedef struct hearth_together_pair {
  uint32_t a, b;    /* contexts, a < b */
  uint64_t windows; /* in which both were touched */
  uint64_t lines;   /* the sum over these windows of the lines of the context that had fewer */
} hearth_together_pair;

/* All of it, borrowed. */
typedef struct hearth_together {
  hearth_together_totals totals;
  const hearth_together_row *rows;   /* by context; contexts of which no window saw a block have none */
  const hearth_together_pair *pairs; /* by (a, b) */
  size_t row_count, pair_count;
} hearth_together;

/* What a profile knows; all zero if it knows nothing. It lives as long as the handle. The first call decodes it all; the
 * planner, which works while a profile is being written, finds the same in `writer.together` (indexed/write/writer.h),
 * with the rows of CONTEXTS that the profile will have. Errors: E_CORRUPT, E_NOMEM. */
hearth_status hearth_profile_get_together(hearth_profile *profile, hearth_together *ret, hearth_error *err);

/* A context's sums; all zero if there are none. */
hearth_touched hearth_together_find(const hearth_together *together, uint32_t context);

/* Number of the first pair whose `a` is not less than `context`; pair_count if there is none. A context's pairs with
 * greater ones begin there; with lower ones it stands as `b` in their rows. */
size_t hearth_together_first_pair(const hearth_together *together, uint32_t context);

/* The output of `hearth show --together`, and with `--json` (docs/tools.md): the `most` most touched contexts, and as many
 * pairs. */
hearth_status hearth_together_print_text(hearth_profile *profile, size_t most, FILE *stream, hearth_error *err);
hearth_status hearth_together_print_json(hearth_profile *profile, size_t most, FILE *stream, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
