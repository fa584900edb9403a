/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which contexts are cold, which are hot, and how sure that is. `hearth show` and the compiler plugin share this one place, so that `show`
 * prints the compiler's own classes.
 *
 * HEARTH_CLASSIFY_AUTO (default). Cold is a context whose memory is idle: a page full of its blocks is left alone for
 * `cold_idle_s` (30 s), or for an eighth of the average run if that is less, at three of four moments; its blocks live twice as long;
 * and 98 % of it are not accessed in the last half of the block's life (LatePicks, if there are picks). What other contexts do plays
 * no part. Two witnesses know when memory was used: the access counters of picked blocks
 * (UsedPageBytes, IdlePageBytes), and looks at the accessed bits of pages (TouchedPages, LookTime). The counters decide, if they have
 * seen enough, or few moments but use; but if they rested while the pages were in use at more than half of the moments, code without counters did it: the
 * context is unknown. Else the looks decide. If neither has seen enough, as in short runs and for few bytes, sums
 * decide: all accesses beyond a block's first use (8, and one for each 4 bytes) count as variance over its life.
 *   Hot are the contexts of greatest access density that hold `hot_share_ppm` (90 %) of all accesses, unless a witness saw that
 * their memory is idle. The densities are computed when the profile is written, so classifying one context costs the same in any
 * profile.
 *   Weight. A run tells little about few bytes that are hardly accessed, and it matters little where they lie. So
 * contexts of one allocation call that have together less than 10 millionths of all bytes, and of all accesses, do not
 * count: they make no call ambiguous, and have no class. The same goes for one block (in each run) with less than a
 * thousandth, since the lifetime of one block is no average. Contexts that are light each, but not all together, count:
 * in a recursive program whose stacks are all kept each may have one block. 10,000 calls would have to be as light for
 * a tenth of the bytes to go without hints.
 * HEARTH_CLASSIFY_LLVM: LLVM's absolute rule (MemProfCommon): cold if the average lifetime access density is below 0.05
 * accesses per byte-second and the average lifetime at least 200 s; hot if the density is above 1000. A profile in
 * which some run has access densities and no counts, as llvm-profdata makes it, has no shares to go by: this rule is
 * always its. */
#ifndef HEARTH_CLASSIFY_H
#define HEARTH_CLASSIFY_H

#include "hearth/profile.h"

HEARTH_C_BEGIN

typedef enum hearth_classify_mode { HEARTH_CLASSIFY_AUTO = 0, HEARTH_CLASSIFY_LLVM = 1 } hearth_classify_mode;

/* All zero means defaults. */
typedef struct hearth_classify_options {
  size_t size; /* sizeof(hearth_classify_options), or 0 */
  hearth_classify_mode mode;
  double cold_idle_s;          /* AUTO; 0: 30; negative: 0 */
  uint32_t hot_share_ppm;      /* AUTO; 0: 900000 */
  double llvm_cold_density;    /* LLVM; accesses per byte-second; 0: 0.05; negative: 0 */
  double llvm_cold_lifetime_s; /* LLVM; 0: 200; negative: 0 */
  double llvm_hot_density;     /* LLVM; 0: 1000; negative: 0 */
} hearth_classify_options;

/* Parse the text of an option, as in "auto,cold-idle=600,hot-accesses=80" (seconds; per cent of all accesses: a
 * profile stores a few shares, and the next stricter one counts) or
 * "llvm,cold-density=0.5,cold-lifetime=10,hot-density=100". *ret is set on success only. E_USAGE, the message naming
 * the part. */
hearth_status hearth_classify_parse(const char *text, hearth_classify_options *ret, hearth_error *err);

enum {
  HEARTH_IDLE_MOMENTS = 4,
  HEARTH_MOST_USED_LATE_PERCENT = 2,
  HEARTH_LEAST_WEIGHT_PPM = 10,
  HEARTH_LEAST_WEIGHT_OF_ONE_PPM = 1000
};

/* Resolved thresholds: plain data, to be copied freely. */
typedef struct hearth_classifier {
  hearth_classify_mode mode;
  double cold_max_density; /* LLVM: accesses per byte-second; AUTO: -1 */
  double
      cold_min_lifetime_ns; /* AUTO: half of that, the time for which idle memory is left alone. Infinite: nothing is cold */
  double idle_scale;        /* AUTO: that time by the standard one */
  double hot_min_density;                     /* accesses per byte-second */
  double hot_accesses;                        /* AUTO: that hot contexts hold at least */
  uint64_t runs, total_bytes, total_accesses; /* AUTO: for weights; else 0, and every context has weight */
} hearth_classifier;

/* Accesses per byte and second of life, from the sums: accesses / (average size * total lifetime). A lifetime below 1
 * microsecond per block counts as 1, a size of 0 as 1. 0 for an empty record. */
double hearth_mib_density(const hearth_mib *mib);

/* Resolve options (NULL: defaults) against a profile. Where nothing is known of accesses, nothing is cold or hot. */
hearth_status hearth_classifier_init(hearth_classifier *classifier, hearth_profile *profile,
                                     const hearth_classify_options *options, hearth_error *err);
enum { HEARTH_HOT_SHARE_PPM = 900000 }; /* by default */

/* The share that options ask for. */
static inline uint32_t hearth_hot_share_ppm(const hearth_classify_options *options) {
  return options->hot_share_ppm ? options->hot_share_ppm : (uint32_t)HEARTH_HOT_SHARE_PPM;
}

/* Resolve options against the summary of a profile that is being written. True if the cutoff of the profile is to be
 * filled in: until then nothing is hot. */
bool hearth_classifier_begin(hearth_classifier *classifier, const hearth_profile_summary *summary,
                             const hearth_classify_options *options);

/* The class by the numbers alone, whatever their weight. HEARTH_CLASS_UNKNOWN: no block, or accessed by code without
 * counters. */
hearth_class hearth_classify(const hearth_classifier *classifier, const hearth_mib *mib);
/* Are the blocks dormant, whatever their class: is most of their memory not accessed in the last half of their
 * lives? It lies apart from memory that is in use, but is not idle for long enough to leave. By picks alone
 * (picks.h). Large blocks are not: they lie apart anyway. */
bool hearth_is_dormant(const hearth_classifier *classifier, const hearth_mib *mib);
/* Do these numbers, of a context or the sums of several, make up enough of the profile to count? AllocCount,
 * TotalSize and TotalAccessCount are looked at. Contexts of a call that are too small one by one count if their sum
 * has weight. */
bool hearth_has_weight(const hearth_classifier *classifier, const hearth_mib *mib);
const char *hearth_class_name(hearth_class c); /* "cold", "notcold", "hot", "unknown": as in flat metadata */

/* ------------------------------------------------ variance ------------------------------------------------ */

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

/* ------------------------------------------------ touch rates ------------------------------------------------ */

/* Accesses that were not counted, but estimated from looks at pages. A *look* tells of one page of a block whether
 * it was touched in an interval. Profiles keep sums of looks (the fields of a MIB from LookedLifetime on), and
 * estimates are made of them anew whenever a profile is written, so that they do not depend on how inputs were
 * merged. docs/decisions/touched-pages.md. */

/* Weight of a counted second of life against one with looks, where a context has both: looks know the order of
 * magnitude only. */
enum { HEARTH_COUNTED_WEIGHT = 16 };

/* How often a page of the context's blocks is touched, per second, and the standard error of that, from the number
 * of looks alone. With too few looks, rate -1. Any thread. */
typedef struct hearth_touch_rate {
  double per_second, error;
} hearth_touch_rate;
hearth_touch_rate hearth_touch_rate_of(const hearth_mib *mib);

HEARTH_C_END
#endif
