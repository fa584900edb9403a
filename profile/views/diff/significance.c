/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which changes may be chance, by the spreads of both sides. A side of one run has no spread: one run differs from the mean of
 * the other side by the standard deviation there. */
#include <math.h>

#include "comparison.h"
#include "hearth/spread.h"

static const double likely = 0.05; /* what happens as often by chance is noise */

typedef struct entry_spread {
  hearth_mib mib;
  hearth_spread spread;
  hearth_spread_errors errors;
} entry_spread;

static hearth_status sum_side(const hearth_diff *d, const hearth_diff_entry *entry, int side, entry_spread *ret,
                              hearth_error *err) {
  *ret = (entry_spread){0};
  HEARTH_TRY(hearth_diff_mib(d, entry, side, &ret->mib, err));
  for (uint32_t i = entry->first[side]; i != HEARTH_NONE; i = d->sides[side].next[i]) {
    hearth_spread spread;
    HEARTH_TRY(hearth_profile_get_spread(d->sides[side].profile, i, &spread, err));
    hearth_spread_add(&ret->spread, &spread, 1, 1);
  }
  ret->errors = hearth_spread_get_errors(&ret->spread);
  return HEARTH_OK;
}

static void borrow_errors(entry_spread *to, const entry_spread *from) {
  if (to->errors.density > 0 || to->errors.lifetime > 0 || to->errors.bytes > 0 || to->spread.runs > 1)
    return;
  double root = sqrt(from->errors.runs);
  to->errors = (hearth_spread_errors){.runs = 1,
                                      .density = from->errors.density * root,
                                      .lifetime = from->errors.lifetime * root,
                                      .bytes = from->errors.bytes * root};
}

static unsigned possible_classes(const hearth_diff *d, const hearth_diff_entry *entry, int side,
                                 const entry_spread *s) {
  if (entry->hotness[side] == HEARTH_CLASS_UNKNOWN)
    return 1u << HEARTH_CLASS_UNKNOWN;
  return hearth_possible_classes(&d->sides[side].selection.classifier, d->sides[side].selection.densities, &s->mib,
                                 &s->errors);
}

static bool sizes_may_be_equal(const hearth_diff_entry *entry, const entry_spread *sides) {
  double a = sides[HEARTH_DIFF_A].errors.bytes, b = sides[HEARTH_DIFF_B].errors.bytes;
  double doublings = fabs(log2(entry->bytes[HEARTH_DIFF_A] / entry->bytes[HEARTH_DIFF_B]));
  return doublings <= HEARTH_SPREAD_ERRORS * sqrt(a * a + b * b);
}

/* It was in some of one side's runs: how likely is it in none of the other side's? */
static bool may_be_absent(const hearth_diff *d, int side, const entry_spread *there) {
  double all = (double)d->sides[side].summary.runs, runs = (double)there->spread.runs;
  double share = runs > 0 && runs < all ? runs / all : 1;
  return pow(1 - share, (double)d->sides[1 - side].summary.runs) >= likely;
}

hearth_status hearth_diff_is_noise(const hearth_diff *d, const hearth_diff_entry *entry, bool *ret, hearth_error *err) {
  entry_spread sides[HEARTH_DIFF_SIDES];
  for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
    HEARTH_TRY(sum_side(d, entry, side, &sides[side], err));
  for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
    borrow_errors(&sides[side], &sides[1 - side]);
  switch (entry->change) {
  case HEARTH_CHANGE_CLASS:
    *ret = possible_classes(d, entry, HEARTH_DIFF_A, &sides[0]) & possible_classes(d, entry, HEARTH_DIFF_B, &sides[1]);
    break;
  case HEARTH_CHANGE_SIZE:
    *ret = sizes_may_be_equal(entry, sides);
    break;
  case HEARTH_CHANGE_NEW:
    *ret = may_be_absent(d, HEARTH_DIFF_B, &sides[HEARTH_DIFF_B]);
    break;
  case HEARTH_CHANGE_VANISHED:
    *ret = may_be_absent(d, HEARTH_DIFF_A, &sides[HEARTH_DIFF_A]);
    break;
  default:
    *ret = true;
  }
  return HEARTH_OK;
}
