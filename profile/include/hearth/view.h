/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The options that all views of a profile share: which contexts they take, how they name functions, which quantity they
 * measure. And the first of them, the listing. */
#ifndef HEARTH_VIEW_H
#define HEARTH_VIEW_H

#include "hearth/classify.h"
#include "hearth/profile.h"

HEARTH_C_BEGIN

/* All zero: every context, classes by default, short names, whole stacks. Strings are borrowed. */
typedef struct hearth_view_options {
  size_t size;                             /* sizeof(hearth_view_options), or 0 */
  const hearth_classify_options *classify; /* NULL: defaults */
  hearth_class only;                       /* contexts of this class; HEARTH_CLASS_UNKNOWN: of any */
  const char *function;        /* contexts with this text in a function's name, in any form of it; NULL: all */
  const char *file;            /* contexts with this text in the path of a function's file; NULL: all */
  const char *type;            /* contexts with this text in the name of their type; NULL: all */
  bool full_names;             /* print demangled names with parameters and template arguments */
  const char *const *wrappers; /* patterns of functions to look through, beside those that are known (docs/tools.md) */
  size_t wrapper_count;
  size_t depth; /* most lines of a printed stack; 0: all */
} hearth_view_options;

/* Quantities that views sort by, draw and compare. */
typedef enum hearth_quantity {
  HEARTH_QUANTITY_BYTES,
  HEARTH_QUANTITY_ALLOCS,
  HEARTH_QUANTITY_ACCESSES,
  HEARTH_QUANTITY_BYTE_SECONDS,
  HEARTH_QUANTITY_LIVE,
  HEARTH_QUANTITY_LIVE_ALLOCS,
  HEARTH_QUANTITY_PEAK,
  HEARTH_QUANTITY_PEAK_ALLOCS,
  HEARTH_QUANTITY_COUNT
} hearth_quantity;

typedef struct hearth_quantity_texts {
  const char *name; /* on the command line */
  const char *key;  /* in JSON and in conditions of `hearth diff` */
  /* Of a sample value of pprof; types are those of Go's heap profiles where the meaning is the same. */
  const char *pprof_type, *pprof_unit;
  const char *description;
} hearth_quantity_texts;

extern const hearth_quantity_texts hearth_quantities[HEARTH_QUANTITY_COUNT];

/* A quantity of one record, rounded to the nearest, saturating. Of merged profiles it is the sum over all runs. */
uint64_t hearth_quantity_of(hearth_quantity quantity, const hearth_mib *mib);
/* The quantity with this name; false if there is none. */
bool hearth_quantity_find(const char *name, hearth_quantity *ret);
/* E_NOT_FOUND if the profile, called `title` in the message, does not have it. */
hearth_status hearth_quantity_check(hearth_quantity quantity, const hearth_profile_summary *summary, const char *title,
                                    hearth_error *err);

/* ------------------------------------------------ listing ------------------------------------------------ */

/* The output of `hearth show`: contexts summed by function or another key, heaviest first, and one by one. */

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
