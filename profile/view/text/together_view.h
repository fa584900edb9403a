/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums over windows as views print them: the most touched contexts first, and the pairs that share most. */
#ifndef HEARTH_VIEW_TOGETHER_VIEW_H
#define HEARTH_VIEW_TOGETHER_VIEW_H

#include "hearth/together.h"
#include "selection.h"

typedef struct hearth_together_view {
  hearth_profile *profile;
  hearth_names names;
  hearth_together together;
  hearth_together_row *rows;    /* by lines */
  hearth_together_pair *pairs;  /* by lines, then windows */
  size_t row_count, pair_count; /* to print */
  uint32_t *positions;          /* of each context in `rows`; HEARTH_NONE: it has no row */
} hearth_together_view;

/* At most `most` of each. Destroy also after an error. */
hearth_status hearth_together_view_init(hearth_together_view *view, hearth_profile *profile, size_t most,
                                        hearth_error *err);
void hearth_together_view_destroy(hearth_together_view *view);

/* A sum's share of one window. */
double hearth_together_per_window(const hearth_together_view *view, uint64_t sum);

#endif
