/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A block is known again by its context and the time of its allocation. Picks that wait are few and drawn from the whole run: most
 * are accessed soon, and of the others a half is left out whenever they become too many. */
#include "picks.h"

#include "heap.h"
#include "shadow.h"

#define MOST_HALVINGS 30u
#define LEAST_LOOKS   2u /* before the end: what is not seen is then shorter than what is */

static uint64_t count_accesses(const hearth_pick *pick) { return hearth_shadow_sum(pick->begin, pick->size).accesses; }

/* The piece of the live block that has this byte. */
static bool find(const char *byte, hearth_pick *ret) {
  hearth_seen_block seen;

  if (!hearth_heap_see_byte(byte, &seen) || !seen.is_live)
    return false;
  *ret = (hearth_pick){
      .begin = seen.begin, .size = (size_t)(seen.end - seen.begin), .alloc_ns = seen.alloc_ns, .context = seen.context};
  return true;
}

static void take_out(hearth_picks *picks, uint32_t row) { picks->rows[row] = picks->rows[--picks->count]; }

static void halve(hearth_picks *picks, hearth_sampler *random) {
  for (uint32_t i = picks->count; i-- > 0;)
    if (hearth_sampler_below(random, 2) == 0)
      take_out(picks, i);
  picks->halvings++;
}

void hearth_picks_take(hearth_picks *picks, const char *byte, uint64_t pages, uint64_t now_ns, hearth_sampler *random) {
  hearth_pick pick;

  if (picks->count == HEARTH_PICKS_MOST && picks->halvings < MOST_HALVINGS)
    halve(picks, random);
  if (picks->count == HEARTH_PICKS_MOST || hearth_sampler_below(random, UINT64_C(1) << picks->halvings) != 0 ||
      !find(byte, &pick))
    return;
  pick.pages = pages;
  pick.begin_ns = now_ns;
  pick.accesses = count_accesses(&pick);
  picks->rows[picks->count++] = pick;
}

static void add(hearth_pick_sums *sums, const hearth_picks *picks, const hearth_pick *pick, bool late) {
  uint64_t number = UINT64_C(1) << picks->halvings, pages = hearth_repeat_SUM(pick->pages, number);

  sums->picks += number;
  sums->pages = hearth_merge_SUM(sums->pages, pages);
  sums->late_pages = hearth_merge_SUM(sums->late_pages, late ? pages : 0);
}

/* Of blocks that do not live long, the accessed picks count alone: rather too few are late than too many. */
static void finish(hearth_picks *picks, uint32_t row, bool late, hearth_touched_sums *sums) {
  const hearth_pick *pick = &picks->rows[row];

  if (pick->context < sums->count && (pick->looks >= LEAST_LOOKS || !late))
    add(&sums->rows[pick->context].picked, picks, pick, late);
  take_out(picks, row);
}

static uint64_t idle_time(uint64_t run_ns) {
  const uint64_t most_ns = HEARTH_IDLE_S * UINT64_C(1000000000), part_ns = run_ns / HEARTH_IDLE_PART_OF_RUN;

  return part_ns < most_ns ? part_ns : most_ns;
}

/* Returns whether it still waits. One that was accessed late, and seen late, may have been accessed soon: it stands for use. */
static bool look(hearth_pick *pick, uint64_t now_ns, uint64_t idle_ns, hearth_touched_row *row) {
  hearth_pick now;

  if (!find(pick->begin, &now) || now.context != pick->context || now.alloc_ns != pick->alloc_ns)
    return false;
  pick->accessed = count_accesses(pick) != pick->accesses;
  pick->looks += pick->looks < LEAST_LOOKS;
  if (pick->idle)
    return !pick->accessed;
  row->looked_bytes += pick->size;
  row->accessed += pick->accessed;
  pick->idle = !pick->accessed && now_ns - pick->begin_ns >= idle_ns;
  row->idle_bytes = hearth_merge_SUM(row->idle_bytes, pick->idle ? pick->size : 0);
  return !pick->accessed;
}

/* One look at the pieces of a context is over. */
static void add_used(hearth_touched_row *row) {
  uint64_t used = row->accessed, pages = (row->looked_bytes + HEARTH_OS_PAGE - 1) / HEARTH_OS_PAGE;

  row->used_bytes = hearth_merge_SUM(row->used_bytes, (used < pages ? used : pages) * HEARTH_OS_PAGE);
  row->looked_bytes = row->accessed = 0;
}

void hearth_picks_look(hearth_picks *picks, uint64_t now_ns, uint64_t run_ns, hearth_touched_sums *sums) {
  static hearth_touched_row none;
  uint64_t idle_ns = idle_time(run_ns);

  for (uint32_t i = 0; i < picks->count; ++i) {
    hearth_pick *pick = &picks->rows[i];
    pick->waits = look(pick, now_ns, idle_ns, pick->context < sums->count ? &sums->rows[pick->context] : &none);
  }
  for (uint32_t i = picks->count; i-- > 0;) {
    const hearth_pick *pick = &picks->rows[i];
    if (pick->context < sums->count)
      add_used(&sums->rows[pick->context]);
    if (!pick->waits)
      finish(picks, i, !pick->accessed, sums);
  }
}

void hearth_picks_show(const hearth_picks *picks, uint64_t dump, hearth_touched_sums *sums) {
  for (uint32_t i = 0; i < picks->count; i++) {
    const hearth_pick *pick = &picks->rows[i];
    if (pick->context >= sums->count || pick->looks == 0)
      continue;
    hearth_touched_row *row = &sums->rows[pick->context];
    if (row->waiting_dump != dump)
      row->waiting = (hearth_pick_sums){.picks = 0};
    row->waiting_dump = dump;
    add(&row->waiting, picks, pick, true);
  }
}

/* Late ones are as many of the picks as they have of all pages. */
void hearth_picks_set(const hearth_touched_row *row, uint64_t dump, hearth_mib *mib) {
  hearth_pick_sums all = row->picked;

  if (row->waiting_dump == dump) {
    all.picks += row->waiting.picks;
    all.pages = hearth_merge_SUM(all.pages, row->waiting.pages);
    all.late_pages = hearth_merge_SUM(all.late_pages, row->waiting.late_pages);
  }
  mib->Picks = all.picks;
  mib->LatePicks = all.pages ? (uint64_t)((double)all.late_pages / (double)all.pages * (double)all.picks + 0.5) : 0;
  mib->UsedPageBytes = row->used_bytes;
  mib->IdlePageBytes = row->idle_bytes;
}
