/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The output of `hearth show`: contexts by allocating function, heaviest first. */
#ifndef HEARTH_LISTING_H
#define HEARTH_LISTING_H

#include "hearth/view.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HEARTH_SORT_LIFETIME HEARTH_QUANTITY_COUNT /* average lifetime */

typedef struct hearth_listing_options {
  size_t size;                     /* sizeof(hearth_listing_options), or 0 */
  const hearth_view_options *view; /* NULL: every context */
  unsigned sort;                   /* a hearth_quantity or HEARTH_SORT_LIFETIME */
  size_t functions, contexts;      /* to print at most; of each function */
  bool histograms;                 /* print them in text, too; JSON always has them */
} hearth_listing_options;

/* `name` is the profile's name in the output. Memory is bounded by the number of contexts, not by the size of the
 * output. Errors: the reader's, E_NOMEM, E_IO when the stream reports one. */
hearth_status hearth_listing_print_text(hearth_profile *profile, const char *name,
                                        const hearth_listing_options *options, FILE *stream, hearth_error *err);
/* The shape is described in docs/tools.md, "hearth show --json". */
hearth_status hearth_listing_print_json(hearth_profile *profile, const char *name,
                                        const hearth_listing_options *options, FILE *stream, hearth_error *err);

#ifdef __cplusplus
}
#endif
#endif
