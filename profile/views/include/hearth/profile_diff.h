/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Changes between two profiles of a program: contexts that changed class, appeared, vanished or only weigh more or
 * less; and conditions on them, for continuous integration.
 *
 * Contexts are the same if their frames have equal functions, line offsets, columns and discriminators; whether a
 * frame was inlined does not count, as it differs between builds. Each profile has its own thresholds of the
 * classes. Quantities are averages per run, so that a profile of ten runs can be compared with one of a single run. */
#ifndef HEARTH_PROFILE_DIFF_H
#define HEARTH_PROFILE_DIFF_H

#include "hearth/view.h"

HEARTH_C_BEGIN

typedef struct hearth_diff hearth_diff;

/* The two sides, for arrays. */
enum { HEARTH_DIFF_A, HEARTH_DIFF_B, HEARTH_DIFF_SIDES };

typedef enum hearth_change {
  HEARTH_CHANGE_CLASS,    /* another class in B */
  HEARTH_CHANGE_NEW,      /* in B only */
  HEARTH_CHANGE_VANISHED, /* in A only */
  HEARTH_CHANGE_SIZE,     /* the same class, other bytes */
  HEARTH_CHANGE_NONE,
  HEARTH_CHANGE_COUNT
} hearth_change;

/* Compare. The profiles are borrowed, as are the names to call them by; options->only is not used. Destroy accepts
 * NULL. E_MISMATCH when their function ids are of different schemes; errors of the reader; E_NOMEM. */
hearth_status hearth_diff_create(hearth_profile *const profiles[HEARTH_DIFF_SIDES],
                                 const char *const names[HEARTH_DIFF_SIDES], const hearth_view_options *options,
                                 hearth_diff **ret, hearth_error *err);
void hearth_diff_destroy(hearth_diff *diff);

/* What A has of each context of B, where B was merged from A and others: *ret is by B's rows; free it with free().
 * Errors: the reader's, E_NOMEM. */
hearth_status hearth_diff_match_contexts(hearth_profile *const profiles[HEARTH_DIFF_SIDES], hearth_mib **ret,
                                         hearth_error *err);

/* Print at most `top` contexts of each kind of change, heaviest first. Markdown: of those that grew, and of those
 * that shrank, by how much they did. */
hearth_status hearth_diff_print_text(hearth_diff *diff, size_t top, FILE *stream, hearth_error *err);
hearth_status hearth_diff_print_markdown(hearth_diff *diff, size_t top, FILE *stream, hearth_error *err);

/* The same of sums by function, caller, site, file, library, type or size: those whose own bytes changed, most
 * first. E_IO, E_NOMEM, errors of the reader. */
hearth_status hearth_diff_print_groups(hearth_diff *diff, hearth_group_kind kind, size_t top, FILE *stream,
                                       hearth_error *err);

enum { HEARTH_LESS = 1, HEARTH_EQUAL = 2, HEARTH_GREATER = 4 };

/* A condition such as "cold_bytes<50%"; grammar and meaning: `hearth diff --help`. */
typedef struct hearth_condition {
  enum { HEARTH_SET_ALL, HEARTH_SET_CLASS, HEARTH_SET_CHANGE } set;
  hearth_class hotness; /* SET_CLASS */
  hearth_change change; /* SET_CHANGE */
  unsigned measure;     /* a hearth_quantity or HEARTH_MEASURE_CONTEXTS */
  unsigned relation;    /* those of HEARTH_LESS, HEARTH_EQUAL and HEARTH_GREATER by which it holds */
  bool relative;        /* to A: the amount had a sign */
  bool percent;
  double amount;
} hearth_condition;

#define HEARTH_MEASURE_CONTEXTS HEARTH_QUANTITY_COUNT

/* E_USAGE: the message says where the text stops being a condition. */
hearth_status hearth_condition_parse(const char *text, hearth_condition *ret, hearth_error *err);
/* Says whether the condition holds, and gives the compared value (in percent if the condition is). E_NOT_FOUND when it
 * asks for accesses or classes and a profile has none. */
hearth_status hearth_condition_test(const hearth_condition *condition, const hearth_diff *diff, bool *ret_holds,
                                    double *ret_value, hearth_error *err);

HEARTH_C_END
#endif
