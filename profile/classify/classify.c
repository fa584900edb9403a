/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Classifies contexts, and says how sure that is. Cold follows from the context's own numbers. For hot, the writer
 * sorts densities and stores cutoffs for a few shares of all accesses; a reader compares a density with the cutoff of
 * the share that was asked for. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/classify.h"
#include "hearth/lowered_calls.h"
#include "hearth/status.h"
#include "numbers.h"

#define PAGE_BYTES 4096.0
#define LEAST_USES 4

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

/* A class by the numbers that it is made from. */

#define HEARTH_USES_UNKNOWN (-1.0)

typedef struct class_facts {
  double density, lifetime_ns, accesses;
  double first_accesses,
      pages_ns;       /* of the first use of all blocks; their lives, one of part of a page for that part */
  bool rests_at_last; /* its blocks are not accessed in the last half of their lives, as far as is known */
  /* Uses of a page full of the context's blocks, in the time for which cold memory is left alone: as the counters of
   * picked blocks show them, and as looks at pages do. */
  double counted_uses, looked_uses;
} class_facts;

static double average_lifetime_ns(const hearth_mib *mib) {
  return (double)mib->TotalLifetime / (double)mib->AllocCount;
}

/* -------------------------------------------------- classes -------------------------------------------------- */

/* Is part / total less than share_ppm / 1000000? In integers, where rounding cannot depend on order. */
static bool less_than_share(uint64_t part, uint64_t total, uint32_t share_ppm) {
  return (unsigned __int128)part * 1000000 < (unsigned __int128)total * share_ppm;
}

bool hearth_has_weight(const hearth_classifier *classifier, const hearth_mib *mib) {
  uint32_t least_ppm = mib->AllocCount > classifier->runs ? HEARTH_LEAST_WEIGHT_PPM : HEARTH_LEAST_WEIGHT_OF_ONE_PPM;
  return !less_than_share(mib->TotalSize, classifier->total_bytes, least_ppm) ||
         !less_than_share(mib->TotalAccessCount, classifier->total_accesses, least_ppm);
}

static double threshold(double option, double preset) { return option > 0 ? option : option < 0 ? 0 : preset; }

/* Short runs cannot show that memory is left alone for long. */
static double idle_time_ns(const hearth_profile_summary *summary, double wanted_s) {
  double run_ns = (double)summary->duration_ns / (double)(summary->runs ? summary->runs : 1);
  double most_ns = run_ns / HEARTH_IDLE_PART_OF_RUN, wanted_ns = wanted_s * ns_per_s;
  return wanted_ns < most_ns ? wanted_ns : most_ns;
}

static void set_idle_time(hearth_classifier *classifier, const hearth_profile_summary *summary, double wanted_s) {
  double standard_ns = idle_time_ns(summary, HEARTH_IDLE_S);
  classifier->cold_min_lifetime_ns = idle_time_ns(summary, threshold(wanted_s, HEARTH_IDLE_S));
  classifier->idle_scale = standard_ns > 0 ? classifier->cold_min_lifetime_ns / standard_ns : 1;
}

bool hearth_classifier_begin(hearth_classifier *classifier, const hearth_profile_summary *summary,
                             const hearth_classify_options *options) {
  *classifier = (hearth_classifier){
      .mode = options->mode, .cold_max_density = -1, .cold_min_lifetime_ns = INFINITY, .hot_min_density = INFINITY};
  if (!hearth_accesses_known(summary))
    return false;
  /* LLVM's own profiles have densities but, as a rule, no counts to take shares of: merged with others, the shares
   * would be those of some of the runs. */
  if (summary->densities_only)
    classifier->mode = HEARTH_CLASSIFY_LLVM;
  if (classifier->mode == HEARTH_CLASSIFY_LLVM) {
    classifier->cold_max_density = threshold(options->llvm_cold_density, 0.05);
    classifier->hot_min_density = threshold(options->llvm_hot_density, 1000);
    classifier->cold_min_lifetime_ns = threshold(options->llvm_cold_lifetime_s, 200) * ns_per_s;
    return false;
  }
  set_idle_time(classifier, summary, options->cold_idle_s);
  classifier->runs = summary->runs;
  classifier->total_bytes = summary->total_bytes;
  classifier->total_accesses = summary->total_accesses;
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
  hearth_status status =
      hearth_profile_get_hot_cutoff(profile, hearth_hot_share_ppm(&known), &classifier->hot_min_density, err);
  return status == HEARTH_E_NOT_FOUND ? HEARTH_OK : status;
}

static bool is_idle(double uses) { return uses <= 1.0 / HEARTH_IDLE_MOMENTS; }

/* Few moments do not show that memory is idle, but they may show that it is not: small blocks are seen by few bytes,
 * and sums do not tell first uses from later ones. They were watched for the standard time. */
static double counted_uses(const hearth_classifier *classifier, const hearth_mib *mib) {
  double used = (double)mib->UsedPageBytes, all = used + (double)mib->IdlePageBytes;
  double uses = all > 0 ? used / all * classifier->idle_scale : 0;
  return all >= LEAST_USES * PAGE_BYTES || !is_idle(uses) ? uses : HEARTH_USES_UNKNOWN;
}

/* A look is at one page, with one block; TouchedPages counts blocks that are touched together as the pages that they
 * make. What short intervals touch as much as long ones do is touched in each: some pages are in use all the time,
 * or the system does not clear their bits (docs/decisions/touched-pages.md), and the others are not used more for
 * that. */
static double looked_uses(const hearth_classifier *classifier, const hearth_mib *mib, double pages) {
  double idle_ns = classifier->cold_min_lifetime_ns, part = pages < 1 ? pages : 1;
  double looks = (double)mib->Looks, time_ns = (double)mib->LookTime;
  double touched = (double)(mib->TouchedPages ? mib->TouchedPages : mib->TouchedLooks);
  double always = mib->ShortLooks ? (double)mib->TouchedShortLooks / (double)mib->ShortLooks : 0;
  if (touched < LEAST_USES && time_ns * part < idle_ns)
    return HEARTH_USES_UNKNOWN;
  if (always * looks > touched) /* a short interval had a walk over all */
    always = touched / looks;
  double uses = time_ns > 0 ? (always + (touched - always * looks) * idle_ns / time_ns) / part : INFINITY;
  return touched >= LEAST_USES || is_idle(uses) ? uses : HEARTH_USES_UNKNOWN; /* chance touches a page or two */
}

/* Long enough for its last half to be idle time. */
static bool lasts(const hearth_classifier *classifier, double lifetime_ns) {
  return lifetime_ns >= 2 * classifier->cold_min_lifetime_ns;
}

/* By picks, if there are any. */
static bool rests_at_last(const hearth_mib *mib) {
  return (double)(mib->Picks - mib->LatePicks) <= (double)mib->Picks * HEARTH_MOST_USED_LATE_PERCENT / 100;
}

static bool lies_in_a_pool(const hearth_mib *mib) {
  return (double)mib->TotalSize / (double)mib->AllocCount <= HEARTH_POOLED_BYTES_MAX;
}

bool hearth_is_dormant(const hearth_classifier *classifier, const hearth_mib *mib) {
  return classifier->mode == HEARTH_CLASSIFY_AUTO && mib->Picks >= LEAST_USES && mib->LatePicks > mib->Picks / 2 &&
         lies_in_a_pool(mib) && lasts(classifier, average_lifetime_ns(mib));
}

/* LLVM keeps a sum of densities per 100 bytes instead of deriving one density from sums. Profiles written by hand
 * may have no more than counts. */
static class_facts class_facts_of(const hearth_classifier *classifier, const hearth_mib *mib) {
  bool is_llvm = classifier->mode == HEARTH_CLASSIFY_LLVM && mib->TotalLifetimeAccessDensity;
  double blocks = (double)mib->AllocCount, size = (double)mib->TotalSize / blocks, pages = size / PAGE_BYTES;
  return (class_facts){.density = is_llvm ? (double)mib->TotalLifetimeAccessDensity / (double)mib->AllocCount / 100
                                          : hearth_mib_density(mib),
                       .lifetime_ns = average_lifetime_ns(mib),
                       .accesses = (double)mib->TotalAccessCount,
                       .first_accesses = hearth_first_accesses(blocks, size),
                       .pages_ns = pages * (double)mib->TotalLifetime,
                       .rests_at_last = rests_at_last(mib),
                       .counted_uses = counted_uses(classifier, mib),
                       .looked_uses = looked_uses(classifier, mib, pages)};
}

static hearth_class llvm_class_of(const hearth_classifier *classifier, const class_facts *facts) {
  if (facts->density < classifier->cold_max_density && facts->lifetime_ns >= classifier->cold_min_lifetime_ns)
    return HEARTH_CLASS_COLD;
  return facts->density > classifier->hot_min_density ? HEARTH_CLASS_HOT : HEARTH_CLASS_NOTCOLD;
}

/* Sums do not tell when: what goes beyond the first use of each block counts as spread over its life. */
static double uses_by_sums(const class_facts *facts, double idle_ns) {
  double later = facts->accesses - facts->first_accesses;
  return later <= 0 ? 0 : facts->pages_ns > 0 ? later * idle_ns / facts->pages_ns : INFINITY;
}

/* At more than half of the moments, if touches come at random: ln 2. */
static bool is_used(double uses) { return uses > 0.7; }

/* Counters and looks at pages are two witnesses. What only the pages clearly show was accessed by code without
 * counters. */
static hearth_class class_by_use(const hearth_classifier *classifier, const class_facts *facts) {
  bool counted = facts->counted_uses >= 0, looked = facts->looked_uses >= 0;
  bool rests = facts->rests_at_last && lasts(classifier, facts->lifetime_ns);
  bool idle = counted  ? is_idle(facts->counted_uses)
              : looked ? is_idle(facts->looked_uses)
                       : is_idle(uses_by_sums(facts, classifier->cold_min_lifetime_ns));
  bool uncounted = counted && idle && looked && is_used(facts->looked_uses);
  if ((counted || looked) && idle && !uncounted && rests)
    return HEARTH_CLASS_COLD;
  if (facts->density >= classifier->hot_min_density)
    return HEARTH_CLASS_HOT;
  if (uncounted && rests)
    return HEARTH_CLASS_UNKNOWN;
  return idle && rests ? HEARTH_CLASS_COLD : HEARTH_CLASS_NOTCOLD;
}

static hearth_class class_of(const hearth_classifier *classifier, const class_facts *facts) {
  return classifier->mode == HEARTH_CLASSIFY_LLVM ? llvm_class_of(classifier, facts) : class_by_use(classifier, facts);
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

/* Reads the text by which classes are asked for: of `hearth show` and the other views, and of the compiler plugin. */

enum { PPM_PER_PERCENT = 10000 };

typedef struct setting {
  const char *name;
  hearth_classify_mode mode; /* that heeds it */
  double most;
  size_t offset; /* in the options, of a threshold; 0: the share */
} setting;

static const setting settings[] = {
    {"hot-accesses", HEARTH_CLASSIFY_AUTO, 100, 0},
    {"cold-idle", HEARTH_CLASSIFY_AUTO, 1e9, offsetof(hearth_classify_options, cold_idle_s)},
    {"cold-density", HEARTH_CLASSIFY_LLVM, 1e18, offsetof(hearth_classify_options, llvm_cold_density)},
    {"cold-lifetime", HEARTH_CLASSIFY_LLVM, 1e9, offsetof(hearth_classify_options, llvm_cold_lifetime_s)},
    {"hot-density", HEARTH_CLASSIFY_LLVM, 1e18, offsetof(hearth_classify_options, llvm_hot_density)},
};

static hearth_status fail(const char *text, size_t length, const char *what, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_USAGE, "'%.*s': %s", (int)length, text, what);
}

/* In the options 0 is the default: a number that says none is negative there, a share less than any that is stored. */
static void set(hearth_classify_options *options, const setting *s, double value) {
  if (s->offset)
    *(double *)((char *)options + s->offset) = value > 0 ? value : -1;
  else
    options->hot_share_ppm = value * PPM_PER_PERCENT >= 1 ? (uint32_t)(value * PPM_PER_PERCENT + 0.5) : 1;
}

/* NAME=NUMBER. */
static hearth_status parse_setting(const char *text, size_t length, hearth_classify_options *options,
                                   hearth_error *err) {
  const char *equals = memchr(text, '=', length);
  size_t name_length = equals ? (size_t)(equals - text) : length;
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    if (strlen(settings[i].name) != name_length || memcmp(settings[i].name, text, name_length) != 0)
      continue;
    if (settings[i].mode != options->mode)
      return fail(text, name_length, "not a threshold of this mode", err);
    char *end = NULL;
    double value = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || end == equals + 1 || end != text + length || !(value >= 0 && value <= settings[i].most))
      return fail(text, length, i == 0 ? "expected a number from 0 to 100" : "expected a number of 0 or more", err);
    set(options, &settings[i], value);
    return HEARTH_OK;
  }
  return fail(text, name_length,
              "expected cold-idle or hot-accesses (of auto), cold-density, cold-lifetime or hot-density (of llvm)",
              err);
}

hearth_status hearth_classify_parse(const char *text, hearth_classify_options *ret, hearth_error *err) {
  hearth_classify_options options = {0};
  size_t length = strcspn(text, ",");
  if (length == 4 && memcmp(text, "llvm", length) == 0)
    options.mode = HEARTH_CLASSIFY_LLVM;
  else if (length != 4 || memcmp(text, "auto", length) != 0)
    return fail(text, length, "expected auto or llvm", err);
  while (text[length] == ',') {
    text += length + 1;
    length = strcspn(text, ",");
    HEARTH_TRY(parse_setting(text, length, &options, err));
  }
  *ret = options;
  return HEARTH_OK;
}

/* -------------------------------------------------- variance -------------------------------------------------- */

/* Levels of numbers, sums of levels, and what follows for a class: its density and lifetime are moved by two
 * standard errors to either side, and each of the four corners is classified: is it cold as the context itself is? */

/* The exponent and the highest four bits of the fraction stand together in a binary64 number. */
static uint64_t level_of(double number) {
  enum { BITS_BELOW = 48, OF_ONE = 0x3ff0 };
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  int64_t level = (int64_t)(bits >> BITS_BELOW) - OF_ONE + HEARTH_VARIANCE_ONE;
  return level < 0 ? 0 : level > HEARTH_VARIANCE_MOST ? HEARTH_VARIANCE_MOST : (uint64_t)level;
}

static double variance_density_of(const hearth_mib *mib) {
  const hearth_mib once = {{.AllocCount = mib->AllocCount,
                            .TotalSize = mib->TotalSize,
                            .TotalAccessCount = 1,
                            .TotalLifetime = mib->TotalLifetime}};
  return mib->TotalAccessCount > 0 ? hearth_mib_density(mib) : hearth_mib_density(&once) / 2;
}

void hearth_variance_of_run(const hearth_mib *mib, uint64_t duration_ns, hearth_variance *ret) {
  double allocs = (double)(mib->AllocCount ? mib->AllocCount : 1), duration = (double)(duration_ns ? duration_ns : 1);
  *ret = (hearth_variance){{.runs = 1,
                            .squares = 1,
                            .density = level_of(variance_density_of(mib)),
                            .lifetime = level_of((double)mib->TotalLifetime / allocs / duration),
                            .bytes = level_of((double)mib->TotalSize)}};
  ret->density_squares = ret->density * ret->density;
  ret->lifetime_squares = ret->lifetime * ret->lifetime;
  ret->bytes_squares = ret->bytes * ret->bytes;
}

void hearth_variance_add(hearth_variance *into, const hearth_variance *from, uint64_t weight) {
  for (size_t i = 0; i < HEARTH_VARIANCE_SUMS; i++)
    into->sums[i] = hearth_merge_SUM(into->sums[i], hearth_repeat_SUM(from->sums[i], weight));
}

/* The standard deviation by the root of the runs. */
static double error_of(double runs, double weights, uint64_t sum, uint64_t squares) {
  double mean = (double)sum / weights, variance = (double)squares / weights - mean * mean;
  return variance > 0 ? sqrt(variance / (runs - 1)) / HEARTH_VARIANCE_DOUBLING : 0;
}

hearth_variance_errors hearth_variance_get_errors(const hearth_variance *variance) {
  const double least_runs = 1.5, weights = (double)variance->runs;
  hearth_variance_errors errors = {.runs = variance->squares ? weights * weights / (double)variance->squares : 0};
  if (errors.runs < least_runs)
    return errors;
  errors.density = error_of(errors.runs, weights, variance->density, variance->density_squares);
  errors.lifetime = error_of(errors.runs, weights, variance->lifetime, variance->lifetime_squares);
  errors.bytes = error_of(errors.runs, weights, variance->bytes, variance->bytes_squares);
  return errors;
}

bool hearth_may_be_cold_or_not(const hearth_classifier *classifier, const hearth_mib *mib,
                               const hearth_variance *variance) {
  hearth_variance_errors errors = hearth_variance_get_errors(variance);
  double density = hearth_exp2(HEARTH_VARIANCE_ERRORS * errors.density),
         lifetime = hearth_exp2(HEARTH_VARIANCE_ERRORS * errors.lifetime);
  bool is_known = classifier->mode == HEARTH_CLASSIFY_LLVM || classifier->total_accesses > 0;
  if (!is_known || mib->AllocCount == 0 || (errors.density == 0 && errors.lifetime == 0))
    return false;
  bool is_cold = hearth_classify(classifier, mib) == HEARTH_CLASS_COLD;
  class_facts own = class_facts_of(classifier, mib);
  for (unsigned corner = 0; corner < 4; corner++) {
    double factor = corner & 1 ? density : 1 / density;
    class_facts moved = {.density = (mib->TotalAccessCount ? own.density : variance_density_of(mib)) * factor,
                         .lifetime_ns = corner & 2 ? own.lifetime_ns * lifetime : own.lifetime_ns / lifetime,
                         .accesses = own.accesses * factor,
                         .first_accesses = own.first_accesses,
                         .pages_ns = own.pages_ns,
                         .rests_at_last = own.rests_at_last,
                         .counted_uses = own.counted_uses * factor,
                         .looked_uses = own.looked_uses * factor};
    if ((class_of(classifier, &moved) == HEARTH_CLASS_COLD) != is_cold)
      return true;
  }
  return false;
}
