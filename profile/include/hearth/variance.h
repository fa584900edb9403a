/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How sure a class is. Runs differ: a profile of several holds, of each context, sums over the runs in which it
 * occurred, of the numbers that its class is made from and of their squares. They tell how far the numbers of
 * another such profile may be from these.
 *
 *   level    of a number: 1024 and 16 for each doubling above 1, within 0 to 2047. Linear between powers of two, so that it
 *            is four bits of the number's binary fraction and its exponent, and the same on every machine. As ratios count,
 *            one run of great numbers does not outweigh all others.
 *   run      as recorded, its records of one context summed. One of several files counts once, with the first. Runs without
 *            counted accesses have no variance.
 *   weight   a run that counts w times is w runs. In profiles of before it may be one run of which s were made: it adds s to
 *            `runs`, s times its levels, and s * s to `squares`; runs * runs / squares is the number of runs that tell
 *            something.
 *
 * A profile of a single run stores none: the numbers of its contexts are those of the run. Contexts that became one
 * when profiles of several runs were merged count a run once for each. */
#ifndef HEARTH_VARIANCE_H
#define HEARTH_VARIANCE_H

#include "hearth/classify.h"

HEARTH_C_BEGIN

/* Standard errors that a number may well be off by. */
enum { HEARTH_VARIANCE_ERRORS = 2 };

enum {
  HEARTH_VARIANCE_ONE = 1024,
  HEARTH_VARIANCE_DOUBLING = 16,
  HEARTH_VARIANCE_MOST = 2047,
  HEARTH_VARIANCE_SUMS = 8
};

/* All zero: nothing is known. */
typedef union hearth_variance {
  struct {
    uint64_t runs, squares;              /* scales of the runs in which the context occurred; squares of them */
    uint64_t density, density_squares;   /* accesses per byte and second; none counts as half an access */
    uint64_t lifetime, lifetime_squares; /* average lifetime by the duration of the run */
    uint64_t bytes, bytes_squares;
  };
  uint64_t sums[HEARTH_VARIANCE_SUMS];
} hearth_variance;

#define HEARTH_VARIANCE_NAMES                                                                                          \
  "runs", "squares", "density", "density_squares", "lifetime", "lifetime_squares", "bytes", "bytes_squares"

/* One run: the sums of a context's records in it, and its duration. */
void hearth_variance_of_run(const hearth_mib *mib, uint64_t duration_ns, hearth_variance *ret);
/* Add `from`, `weight` times; saturating. */
void hearth_variance_add(hearth_variance *into, const hearth_variance *from, uint64_t weight);

/* Standard errors of the mean levels, in doublings. */
typedef struct hearth_variance_errors {
  double runs; /* that count; below 1.5 nothing is known, and the errors are 0 */
  double density, lifetime, bytes;
} hearth_variance_errors;

hearth_variance_errors hearth_variance_get_errors(const hearth_variance *variance);

/* Is it uncertain whether the context is cold: is it within HEARTH_VARIANCE_ERRORS errors of its density and
 * lifetime, and elsewhere not? False also if nothing is known of the variance. The planner does not take such a
 * context for cold. */
bool hearth_may_be_cold_or_not(const hearth_classifier *classifier, const hearth_mib *mib,
                               const hearth_variance *variance);

/* Does the profile store variances? */
bool hearth_profile_has_variances(const hearth_profile *profile);
/* A context's variance; all zero if the profile has none. The first call decodes all. E_CORRUPT, E_NOMEM. */
hearth_status hearth_profile_get_variance(hearth_profile *profile, uint32_t context, hearth_variance *ret,
                                          hearth_error *err);

HEARTH_C_END
#endif
