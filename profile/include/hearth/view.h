/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The options that all views of a profile share: which contexts they take, how they name functions, which quantity they
 * measure. */
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

typedef enum hearth_quantity {
#define HEARTH_QUANTITY(NAME, name, key, pprof_type, unit, description) HEARTH_QUANTITY_##NAME,
#include "hearth/quantities.def"
  HEARTH_QUANTITY_COUNT
} hearth_quantity;

/* A quantity of one record, rounded to the nearest, saturating. Of merged profiles it is the sum over all runs. */
uint64_t hearth_quantity_of(hearth_quantity quantity, const hearth_mib *mib);
const char *hearth_quantity_name(hearth_quantity quantity);
const char *hearth_quantity_key(hearth_quantity quantity);
/* The quantity with this name; false if there is none. */
bool hearth_quantity_find(const char *name, hearth_quantity *ret);
/* E_NOT_FOUND if the profile, called `title` in the message, does not have it. */
hearth_status hearth_quantity_check(hearth_quantity quantity, const hearth_profile_summary *summary, const char *title,
                                    hearth_error *err);

HEARTH_C_END
#endif
