/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Classifies contexts. The writer sorts densities (radix sort) and stores cutoffs for a few shares of all accesses; a
 * reader compares a context's density and lifetime with the cutoff of the share that was asked for. */
#include "class_of.h"
#include "cutoffs.h"
#include "option_size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ns_per_s = 1e9;
static const double shortest_lifetime_ns = 1e3; /* a clock and the runtime's own work blur shorter ones anyway */

static double byte_seconds(const hearth_mib *mib) {
  if (mib->AllocCount == 0)
    return 0;
  double blocks = (double)mib->AllocCount;
  double average_size = mib->TotalSize ? (double)mib->TotalSize / blocks : 1;
  double lifetime_ns = (double)mib->TotalLifetime;
  if (lifetime_ns < blocks * shortest_lifetime_ns)
    lifetime_ns = blocks * shortest_lifetime_ns;
  return average_size * (lifetime_ns / ns_per_s);
}

double hearth_mib_density(const hearth_mib *mib) {
  return mib->AllocCount ? (double)mib->TotalAccessCount / byte_seconds(mib) : 0;
}

static double average_lifetime_ns(const hearth_mib *mib) {
  return (double)mib->TotalLifetime / (double)mib->AllocCount;
}

double hearth_lasting_lifetime_ns(uint64_t duration_ns, uint64_t runs) {
  return (double)duration_ns / (double)(runs ? runs : 1) / 8;
}

/* A key of 64 bits has 6 digits; the last one has no more than 9 bits. */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* -------------------------------------------------- cutoffs -------------------------------------------------- */

hearth_density_point hearth_density_point_of(const hearth_mib *mib, double lasting_lifetime_ns) {
  return (hearth_density_point){.density = hearth_mib_density(mib),
                                .byte_seconds = byte_seconds(mib),
                                .accesses = mib->TotalAccessCount,
                                .lasting = mib->AllocCount && average_lifetime_ns(mib) >= lasting_lifetime_ns};
}

/* As no density is negative, they are ordered as the bits of their representation are. */
static uint64_t density_key(const hearth_density_point *point) {
  uint64_t key;
  memcpy(&key, &point->density, sizeof key);
  return key;
}

/* Stable sort by one digit of the key, from `from` to `to`. */
static void sort_by_digit(const hearth_density_point *from, hearth_density_point *to, size_t n, unsigned shift) {
  size_t starts[DIGITS + 1] = {0};
  for (size_t i = 0; i < n; i++)
    starts[(density_key(&from[i]) >> shift) % DIGITS + 1]++;
  for (size_t digit = 1; digit < DIGITS; digit++)
    starts[digit] += starts[digit - 1];
  for (size_t i = 0; i < n; i++)
    to[starts[(density_key(&from[i]) >> shift) % DIGITS]++] = from[i];
}

bool hearth_density_points_sort(hearth_density_point *points, size_t n) {
  hearth_density_point *other = malloc((n + 1) * sizeof *other);
  if (!other)
    return false;
  for (unsigned shift = 0; shift < 64; shift += 2 * DIGIT_BITS) { /* twice, so that the result is in place */
    sort_by_digit(points, other, n, shift);
    sort_by_digit(other, points, n, shift + DIGIT_BITS);
  }
  free(other);
  return true;
}

/* Is part / total at most, or less than, share_ppm / 1000000? In integers, where rounding cannot depend on order. */
static bool at_most_share(uint64_t part, uint64_t total, uint32_t share_ppm) {
  return (unsigned __int128)part * 1000000 <= (unsigned __int128)total * share_ppm;
}

static bool less_than_share(uint64_t part, uint64_t total, uint32_t share_ppm) {
  return (unsigned __int128)part * 1000000 < (unsigned __int128)total * share_ppm;
}

static double mean_density(const hearth_density_point *points, size_t n, uint64_t total) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += points[i].byte_seconds;
  return sum > 0 ? (double)total / sum : 0;
}

double hearth_cold_cutoff(const hearth_density_point *points, size_t n, uint64_t total, uint32_t share_ppm) {
  double cutoff = -1, most = mean_density(points, n, total) / HEARTH_COLD_BELOW_MEAN;
  uint64_t held = 0;
  for (size_t i = 0; i < n && points[i].density <= most;) {
    double density = points[i].density;
    bool any = false;
    for (; i < n && points[i].density == density; i++) {
      if (!points[i].lasting)
        continue;
      held = hearth_merge_SUM(held, points[i].accesses);
      any = true;
    }
    if (!at_most_share(held, total, share_ppm))
      break;
    if (any)
      cutoff = density;
  }
  return cutoff;
}

double hearth_hot_cutoff(const hearth_density_point *points, size_t n, uint64_t total, uint32_t share_ppm) {
  double cutoff = INFINITY;
  uint64_t held = 0;
  for (size_t i = n; i > 0 && less_than_share(held, total, share_ppm);) {
    cutoff = points[i - 1].density;
    for (; i > 0 && points[i - 1].density == cutoff; i--)
      held = hearth_merge_SUM(held, points[i - 1].accesses);
  }
  return cutoff;
}

/* -------------------------------------------------- classes -------------------------------------------------- */

bool hearth_has_weight(const hearth_classifier *classifier, const hearth_mib *mib) {
  uint32_t least_ppm = mib->AllocCount > classifier->runs ? HEARTH_LEAST_WEIGHT_PPM : HEARTH_LEAST_WEIGHT_OF_ONE_PPM;
  return !less_than_share(mib->TotalSize, classifier->total_bytes, least_ppm) ||
         !less_than_share(mib->TotalAccessCount, classifier->total_accesses, least_ppm);
}

void hearth_classifier_keep_distance(hearth_classifier *classifier) {
  double most = classifier->hot_min_density / HEARTH_COLD_BELOW_HOT;
  if (classifier->cold_max_density > most)
    classifier->cold_max_density = most;
}

static hearth_status read_cutoff(hearth_profile *profile, hearth_class which, uint32_t share_ppm, double none,
                                 double *ret, hearth_error *err) {
  hearth_status status = hearth_profile_get_cutoff(profile, which, share_ppm, ret, err);
  if (status != HEARTH_E_NOT_FOUND)
    return status;
  *ret = none;
  return HEARTH_OK;
}

static double threshold(double option, double preset) { return option > 0 ? option : option < 0 ? 0 : preset; }

bool hearth_classifier_begin(hearth_classifier *classifier, const hearth_profile_summary *summary,
                             const hearth_classify_options *options) {
  *classifier = (hearth_classifier){.mode = options->mode, .cold_max_density = -1, .hot_min_density = INFINITY};
  if (!hearth_accesses_known(summary))
    return false;
  /* LLVM's own profiles have densities but, as a rule, no counts to take shares of: merged with others, the shares would
   * be those of some of the runs. */
  if (summary->densities_only)
    classifier->mode = HEARTH_CLASSIFY_LLVM;
  if (classifier->mode == HEARTH_CLASSIFY_LLVM) {
    classifier->cold_max_density = threshold(options->llvm_cold_density, 0.05);
    classifier->hot_min_density = threshold(options->llvm_hot_density, 1000);
    classifier->cold_min_lifetime_ns = threshold(options->llvm_cold_lifetime_s, 200) * ns_per_s;
    return false;
  }
  classifier->cold_min_lifetime_ns = hearth_lasting_lifetime_ns(summary->duration_ns, summary->runs);
  classifier->runs = summary->runs;
  classifier->total_bytes = summary->total_bytes;
  classifier->total_accesses = summary->total_accesses;
  classifier->cold_accesses = (double)summary->total_accesses * hearth_cold_share_ppm(options) / 1e6;
  classifier->hot_accesses = (double)summary->total_accesses * hearth_hot_share_ppm(options) / 1e6;
  return true;
}

hearth_status hearth_classifier_init(hearth_classifier *classifier, hearth_profile *profile,
                                     const hearth_classify_options *options, hearth_error *err) {
  hearth_profile_summary summary;
  hearth_classify_options known;
  HEARTH_TRY(hearth_options_take(&known, sizeof known, options, err));
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  if (!hearth_classifier_begin(classifier, &summary, &known))
    return HEARTH_OK;
  HEARTH_TRY(
      read_cutoff(profile, HEARTH_CLASS_COLD, hearth_cold_share_ppm(&known), -1, &classifier->cold_max_density, err));
  HEARTH_TRY(read_cutoff(profile, HEARTH_CLASS_HOT, hearth_hot_share_ppm(&known), INFINITY,
                         &classifier->hot_min_density, err));
  hearth_classifier_keep_distance(classifier);
  return HEARTH_OK;
}

/* LLVM keeps a sum of densities per 100 bytes instead of deriving one density from sums. Profiles written by hand may have no
 * more than counts. */
class_facts class_facts_of(const hearth_classifier *classifier, const hearth_mib *mib) {
  bool is_llvm = classifier->mode == HEARTH_CLASSIFY_LLVM && mib->TotalLifetimeAccessDensity;
  return (class_facts){.density = is_llvm ? (double)mib->TotalLifetimeAccessDensity / (double)mib->AllocCount / 100
                                          : hearth_mib_density(mib),
                       .lifetime_ns = average_lifetime_ns(mib),
                       .accesses = (double)mib->TotalAccessCount};
}

hearth_class class_of(const hearth_classifier *classifier, const class_facts *facts) {
  double density = facts->density;
  bool lasts = facts->lifetime_ns >= classifier->cold_min_lifetime_ns;
  if (classifier->mode == HEARTH_CLASSIFY_LLVM) {
    if (density < classifier->cold_max_density && lasts)
      return HEARTH_CLASS_COLD;
    return density > classifier->hot_min_density ? HEARTH_CLASS_HOT : HEARTH_CLASS_NOTCOLD;
  }
  /* Hot first: a lasting context can be both when short-lived ones are accessed still less; it is no candidate for
   * memory that is slow to reach. */
  if (density >= classifier->hot_min_density)
    return HEARTH_CLASS_HOT;
  return density <= classifier->cold_max_density && lasts ? HEARTH_CLASS_COLD : HEARTH_CLASS_NOTCOLD;
}

hearth_class hearth_classify(const hearth_classifier *classifier, const hearth_mib *mib) {
  if (mib->AllocCount == 0)
    return HEARTH_CLASS_UNKNOWN;
  class_facts facts = class_facts_of(classifier, mib);
  return class_of(classifier, &facts);
}

const char *hearth_class_name(hearth_class c) {
  switch (c) {
  case HEARTH_CLASS_COLD:
    return "cold";
  case HEARTH_CLASS_NOTCOLD:
    return "notcold";
  case HEARTH_CLASS_HOT:
    return "hot";
  case HEARTH_CLASS_UNKNOWN:
    break;
  }
  return "unknown";
}
