/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A block is known again by its context and the time of its allocation. Picks that wait are few and drawn from the whole run: most
 * are accessed soon, and of the others a half is dropped whenever they become too many. */
#include "picks.h"

#include "heap.h"
#include "shadow.h"

#define MOST_HALVINGS 30u

static uint64_t count_accesses(const hearth_pick *pick) { return hearth_shadow_sum(pick->begin, pick->size).accesses; }

/* The part of the live block that has this byte. */
static bool find(const char *byte, hearth_pick *ret) {
  hearth_seen_block seen;

  if (!hearth_heap_see_byte(byte, &seen) || !seen.is_live)
    return false;
  *ret = (hearth_pick){seen.begin, (size_t)(seen.end - seen.begin), 0, seen.alloc_ns, seen.context, false};
  return true;
}

static void drop(hearth_picks *picks, uint32_t row) { picks->rows[row] = picks->rows[--picks->count]; }

static void halve(hearth_picks *picks, hearth_sampler *random) {
  for (uint32_t i = picks->count; i-- > 0;)
    if (hearth_sampler_below(random, 2) == 0)
      drop(picks, i);
  ++picks->halvings;
}

void hearth_picks_take(hearth_picks *picks, const char *byte, hearth_sampler *random) {
  hearth_pick pick;

  if (picks->count == HEARTH_PICKS_MOST && picks->halvings < MOST_HALVINGS)
    halve(picks, random);
  if (picks->count == HEARTH_PICKS_MOST || hearth_sampler_below(random, UINT64_C(1) << picks->halvings) != 0 ||
      !find(byte, &pick))
    return;
  pick.accesses = count_accesses(&pick);
  picks->rows[picks->count++] = pick;
}

static void settle(hearth_picks *picks, uint32_t row, bool late, hearth_touched_sums *sums) {
  const hearth_pick *pick = &picks->rows[row];

  if (pick->context < sums->count && (pick->looked_at || !late)) {
    sums->rows[pick->context].picks += UINT64_C(1) << picks->halvings;
    sums->rows[pick->context].late_picks += (uint64_t)late << picks->halvings;
  }
  drop(picks, row);
}

/* Returns whether it still waits. */
static bool look(hearth_picks *picks, uint32_t row, hearth_touched_sums *sums) {
  hearth_pick *pick = &picks->rows[row], now;
  bool lives = find(pick->begin, &now) && now.context == pick->context && now.alloc_ns == pick->alloc_ns;

  if (lives && count_accesses(pick) == pick->accesses)
    return pick->looked_at = true;
  settle(picks, row, !lives, sums);
  return false;
}

void hearth_picks_look(hearth_picks *picks, uint32_t most, hearth_touched_sums *sums) {
  for (uint32_t left = most < picks->count ? most : picks->count; left > 0; --left) {
    if (picks->next >= picks->count)
      picks->next = 0;
    picks->next += look(picks, picks->next, sums);
  }
}

void hearth_picks_show(const hearth_picks *picks, uint64_t dump, hearth_touched_sums *sums) {
  for (uint32_t i = 0; i < picks->count; ++i) {
    const hearth_pick *pick = &picks->rows[i];
    if (pick->context >= sums->count || !pick->looked_at)
      continue;
    hearth_touched_row *row = &sums->rows[pick->context];
    row->late_now = (row->late_dump == dump ? row->late_now : 0) + (UINT64_C(1) << picks->halvings);
    row->late_dump = dump;
  }
}
