/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The output of `hearth show`: contexts summed by function or another key, heaviest first, and one by one. */
#ifndef HEARTH_LISTING_H
#define HEARTH_LISTING_H

#include "hearth/view.h"

HEARTH_C_BEGIN

#define HEARTH_SORT_LIFETIME    HEARTH_QUANTITY_COUNT       /* average lifetime */
#define HEARTH_SORT_SHORT_LIVED (HEARTH_QUANTITY_COUNT + 1) /* allocations of short-lived blocks (docs/tools.md) */

/* What contexts are summed by. Functions, callers, sites and files are those of the first function of a stack that
 * is no wrapper (docs/tools.md, "Wrappers"); libraries, of its first function. */
typedef enum hearth_group_kind {
  HEARTH_BY_FUNCTION,
  HEARTH_BY_CALLER,
  HEARTH_BY_SITE,
  HEARTH_BY_FILE,
  HEARTH_BY_LIBRARY,
  HEARTH_BY_TYPE,
  HEARTH_BY_SIZE, /* average size of a context's blocks, by powers of two */
  HEARTH_GROUP_KINDS
} hearth_group_kind;

/* "function", "caller" ... */
const char *hearth_group_kind_name(hearth_group_kind kind);
/* false: there is none of this name. */
bool hearth_group_kind_find(const char *name, hearth_group_kind *ret);

typedef struct hearth_listing_options {
  size_t size;                     /* sizeof(hearth_listing_options), or 0 */
  const hearth_view_options *view; /* NULL: every context */
  unsigned sort;                   /* a hearth_quantity or HEARTH_SORT_... */
  hearth_group_kind by;
  size_t groups, contexts; /* to print at most; of each group; none: no list of contexts */
  size_t lines;            /* 0: any number. Text has no more, unless its tables alone do: fewer contexts are printed */
  bool cumulative;         /* sort groups by their cumulative sums */
} hearth_listing_options;

/* `name` is the profile's name in the output. Memory is bounded by the number of contexts, not by the size of the
 * output. Errors: the reader's, E_NOMEM, E_IO when the stream reports one. */
hearth_status hearth_listing_print_text(hearth_profile *profile, const char *name,
                                        const hearth_listing_options *options, FILE *stream, hearth_error *err);
/* The shape is described in docs/tools.md, "hearth show --json". */
hearth_status hearth_listing_print_json(hearth_profile *profile, const char *name,
                                        const hearth_listing_options *options, FILE *stream, hearth_error *err);

/* The callers or callees of all functions named `function`, or else of all functions with that text in their names:
 * a tree with as many levels as view->depth says, by bytes or options->sort. E_NOT_FOUND: there are none. */
hearth_status hearth_call_tree_print(hearth_profile *profile, const hearth_listing_options *options,
                                     const char *function, bool callees, FILE *stream, hearth_error *err);

HEARTH_C_END
#endif
