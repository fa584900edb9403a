/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A block is known again by its context and the time of its allocation. Picks are few and drawn from the whole run:
 * a half is left out whenever they become too many. */
#include "heap.h"
#include "os.h"
#include "own_thread.h"
#include "running_profile.h"
#include "shadow.h"
#include "thread_state.h"

#define MOST_HALVINGS 30u
#define LEAST_LOOKS   2u /* before the end: what is not seen is then shorter than what is */

static size_t pick_rows_size(uint32_t count) { return HEARTH_WHOLE_PAGES(count * sizeof(hearth_pick_row)); }

bool hearth_pick_rows_create(hearth_pick_rows *rows, uint32_t count) {
  *rows = (hearth_pick_rows){.rows = hearth_system_map_sparse(pick_rows_size(count)), .count = count};
  return rows->rows != NULL;
}

void hearth_pick_rows_forget(hearth_pick_rows *rows) { hearth_system_discard(rows->rows, pick_rows_size(rows->count)); }

static uint64_t count_accesses(const hearth_pick *pick) { return hearth_shadow_sum(pick->begin, pick->size).accesses; }

/* The piece of the live block that has this byte. */
static bool pick_find(const char *byte, hearth_pick *ret) {
  hearth_seen_block seen;

  if (!hearth_heap_see_byte(byte, &seen) || !seen.is_live)
    return false;
  *ret = (hearth_pick){
      .begin = seen.begin, .size = (size_t)(seen.end - seen.begin), .alloc_ns = seen.alloc_ns, .context = seen.context};
  return true;
}

static void take_out(hearth_pick_table *table, uint32_t row) { table->rows[row] = table->rows[--table->count]; }

static void halve(hearth_pick_table *table, hearth_sampler *random) {
  for (uint32_t i = table->count; i-- > 0;)
    if (hearth_sampler_below(random, 2) == 0)
      take_out(table, i);
  table->halvings++;
}

static bool admits(hearth_pick_table *table, hearth_sampler *random) {
  if (table->count == HEARTH_PICKS_MOST && table->halvings < MOST_HALVINGS)
    halve(table, random);
  return table->count < HEARTH_PICKS_MOST && hearth_sampler_below(random, UINT64_C(1) << table->halvings) == 0;
}

void hearth_picks_take(hearth_picks *picks, const char *byte, uint64_t weight, uint64_t now_ns,
                       hearth_sampler *random) {
  bool waits = admits(&picks->waiting, random), follows = admits(&picks->followed, random);
  hearth_pick pick;

  if (!(waits || follows) || !pick_find(byte, &pick))
    return;
  pick.weight = weight;
  pick.begin_ns = pick.last_ns = pick.before_last_ns = now_ns;
  pick.accesses = count_accesses(&pick);
  if (waits)
    picks->waiting.rows[picks->waiting.count++] = pick;
  if (follows)
    picks->followed.rows[picks->followed.count++] = pick;
}

static uint64_t idle_time(uint64_t run_ns) {
  const uint64_t most_ns = HEARTH_IDLE_S * UINT64_C(1000000000), part_ns = run_ns / HEARTH_IDLE_PART_OF_RUN;

  return part_ns < most_ns ? part_ns : most_ns;
}

/* Also of a block whose context has no row. */
static hearth_pick_row *pick_row_of(hearth_pick_rows *sums, const hearth_pick *pick) {
  static hearth_pick_row none;

  return pick->context < sums->count ? &sums->rows[pick->context] : &none;
}

static bool lives(const hearth_pick *pick) {
  hearth_pick now;

  return pick_find(pick->begin, &now) && now.context == pick->context && now.alloc_ns == pick->alloc_ns;
}

static void pick_look(hearth_pick *pick, hearth_pick_row *row) {
  pick->lives = lives(pick);
  pick->accessed = pick->lives && count_accesses(pick) != pick->accesses;
  if (!pick->lives)
    return;
  row->looked_bytes += pick->size;
  row->accessed += pick->accessed;
  if (pick->told)
    return;
  row->new_accessed += pick->accessed;
  *(pick->accessed ? &row->new_bytes : &row->waiting_bytes) += pick->size;
}

/* Pages with the accessed pieces that have told nothing yet. Such pages may be claimed already. */
static void claim(hearth_pick_row *row) {
  bool scattered = row->accessed == 1 || row->accessed * HEARTH_PAGE_BYTES <= row->looked_bytes;
  uint64_t wanted = row->new_accessed * HEARTH_PAGE_BYTES, limit = row->new_bytes + row->waiting_bytes;

  if (scattered && limit < HEARTH_PAGE_BYTES)
    limit = HEARTH_PAGE_BYTES;
  if (wanted > limit)
    wanted = limit;
  if (row->claimed < wanted)
    row->claimed = wanted;
  row->claimed -= row->new_bytes;
  row->looked_bytes = row->accessed = row->new_accessed = row->new_bytes = 0;
}

/* A piece was drawn by chance, and what was not drawn, or was left out, counts for it. */
static void pick_tell(hearth_pick *pick, bool used, const hearth_picks *picks, hearth_pick_row *row) {
  double weight = (double)pick->size * (double)pick->weight * (double)(UINT64_C(1) << picks->waiting.halvings);

  row->told_bytes += pick->size;
  row->told_weight += weight;
  row->used_weight += used ? weight : 0;
  pick->told = true;
}

/* By lot, with the same chance for each byte that is left. */
static bool is_claimed(const hearth_pick *pick, hearth_sampler *random, hearth_pick_row *row) {
  bool claimed = row->claimed > 0 && hearth_sampler_below(random, row->waiting_bytes) < row->claimed;

  row->waiting_bytes -= pick->size;
  if (claimed)
    row->claimed -= row->claimed < pick->size ? row->claimed : pick->size;
  return claimed;
}

/* Of what the look before had not seen accessed, some part came in time. */
static bool is_in_time(const hearth_pick *pick, const hearth_picks *picks, uint64_t idle_ns, hearth_sampler *random) {
  uint64_t since_ns = picks->looked_ns > pick->begin_ns ? picks->looked_ns : pick->begin_ns;
  uint64_t due_ns = pick->begin_ns + idle_ns, now_ns = picks->now_ns;

  return now_ns <= due_ns || hearth_sampler_below(random, (now_ns - since_ns) / 1024) < (due_ns - since_ns) / 1024;
}

static void judge(hearth_pick *pick, const hearth_picks *picks, uint64_t idle_ns, hearth_sampler *random,
                  hearth_pick_row *row) {
  bool used = pick->accessed ? is_in_time(pick, picks, idle_ns, random) : is_claimed(pick, random, row);

  if (used || pick->accessed || picks->now_ns - pick->begin_ns >= idle_ns)
    pick_tell(pick, used, picks, row);
}

#define AHEAD 6

/* Of a pick to come. */
static void fetch_ahead(const hearth_pick *pick) {
  __builtin_prefetch(pick->begin - sizeof(hearth_header));
  __builtin_prefetch((const void *)hearth_shadow_counter((uintptr_t)pick->begin));
}

static void look_at_waiting(hearth_picks *picks, uint64_t idle_ns, hearth_sampler *random, hearth_pick_rows *sums) {
  hearth_pick_table *table = &picks->waiting;

  for (uint32_t i = 0; i < table->count; ++i) {
    if (i + AHEAD < table->count)
      fetch_ahead(&table->rows[i + AHEAD]);
    pick_look(&table->rows[i], pick_row_of(sums, &table->rows[i]));
  }
  for (uint32_t i = table->count; i-- > 0;) {
    hearth_pick *pick = &table->rows[i];
    hearth_pick_row *row = pick_row_of(sums, pick);
    claim(row);
    if (pick->lives && !pick->told)
      judge(pick, picks, idle_ns, random, row);
    if (!pick->lives || pick->accessed)
      take_out(table, i);
  }
}

/* If its block ends now, `run_ns` after the start, and the pick is of the first half of its life. An access that the
 * last look at it saw is left out: destructors read blocks before they free them. */
static void pick_add(hearth_pick_sums *sums, const hearth_picks *picks, const hearth_pick *pick, uint64_t look_ns,
                     uint64_t run_ns) {
  uint64_t number = UINT64_C(1) << picks->followed.halvings, weight = hearth_repeat_SUM(pick->weight, number);
  uint64_t life_ns = run_ns > pick->alloc_ns ? run_ns - pick->alloc_ns : 0, half_ns = picks->now_ns - life_ns / 2;
  uint64_t last_ns = pick->last_ns < look_ns ? pick->last_ns : pick->before_last_ns;

  if (pick->looks < LEAST_LOOKS || pick->begin_ns > half_ns)
    return;
  sums->picks += number;
  sums->weight = hearth_merge_SUM(sums->weight, weight);
  sums->late_weight = hearth_merge_SUM(sums->late_weight, last_ns <= half_ns ? weight : 0);
}

static void look_at_followed(hearth_picks *picks, uint64_t run_ns, hearth_pick_rows *sums) {
  for (uint32_t i = picks->followed.count; i-- > 0;) {
    hearth_pick *pick = &picks->followed.rows[i];
    if (i >= AHEAD)
      fetch_ahead(pick - AHEAD);
    if (!lives(pick)) {
      pick_add(&pick_row_of(sums, pick)->picked, picks, pick, picks->looked_ns, run_ns);
      take_out(&picks->followed, i);
      continue;
    }
    uint64_t accesses = count_accesses(pick);
    if (accesses != pick->accesses) {
      pick->before_last_ns = pick->last_ns;
      pick->last_ns = picks->now_ns;
    }
    pick->accesses = accesses;
    pick->looks += pick->looks < LEAST_LOOKS;
  }
}

void hearth_picks_look(hearth_picks *picks, uint64_t now_ns, uint64_t run_ns, hearth_sampler *random,
                       hearth_pick_rows *sums) {
  picks->looked_ns = picks->now_ns;
  picks->now_ns = now_ns;
  look_at_waiting(picks, idle_time(run_ns), random, sums);
  look_at_followed(picks, run_ns, sums);
}

void hearth_picks_show(const hearth_picks *picks, uint64_t run_ns, uint64_t dump, hearth_pick_rows *sums) {
  for (uint32_t i = 0; i < picks->followed.count; i++) {
    const hearth_pick *pick = &picks->followed.rows[i];
    hearth_pick_row *row = pick_row_of(sums, pick);
    if (row->live_dump != dump)
      row->live = (hearth_pick_sums){.picks = 0};
    row->live_dump = dump;
    pick_add(&row->live, picks, pick, picks->now_ns, run_ns);
  }
}

/* In the bytes of pieces that were watched, so that few are seen to be few. A page for which pieces are still wanted
 * was used. */
static void set_moments(const hearth_pick_row *row, hearth_mib *mib) {
  double used = row->told_weight > 0 ? row->used_weight / row->told_weight : 0;
  uint64_t used_bytes = (uint64_t)(used * (double)row->told_bytes + 0.5);

  mib->UsedPageBytes = used_bytes + row->claimed;
  mib->IdlePageBytes = row->told_bytes - used_bytes;
}

/* Late ones are as many of the picks as they have of all weight. */
void hearth_picks_set(const hearth_pick_row *row, uint64_t dump, hearth_mib *mib) {
  hearth_pick_sums all = row->picked;

  if (row->live_dump == dump) {
    all.picks += row->live.picks;
    all.weight = hearth_merge_SUM(all.weight, row->live.weight);
    all.late_weight = hearth_merge_SUM(all.late_weight, row->live.late_weight);
  }
  mib->Picks = all.picks;
  mib->LatePicks = all.weight ? (uint64_t)((double)all.late_weight / (double)all.weight * (double)all.picks + 0.5) : 0;
  set_moments(row, mib);
}

/* Moments at which picks are drawn come at random: the times between them are distributed exponentially. Those at
 * which picks are looked at are so far apart that looking takes no more than a small part of the time. A small heap
 * fits the caches: there are no picks before it has grown.
 *
 * The thread takes no lock that the program's threads take to allocate or free; only dumps take its own. It ends
 * when the program's first thread does, or the process would not. */

#define LEAST_PICKS_GAP UINT64_C(4000000)    /* between looks at picks, in ns */
#define NEW_PICKS_GAP   UINT64_C(4000000)    /* mean time between moments at which new ones are drawn */
#define NEW_PICKS       16u                  /* at such a moment */
#define MOST_OF_MOMENT  (10 * NEW_PICKS_GAP) /* time that one stands for */
#define WEIGHT_UNIT     65536u               /* of such times, in ns */
#define GAP_FOR_COST    100                  /* between looks at picks, as a multiple of the time that one takes */
#define LEAST_WORK      UINT64_C(5000) /* of the program, in ns: less may have passed between two readings of clocks */

static struct {
  hearth_lock lock; /* of all but `random` and what follows it */
  uint64_t dump;
  hearth_pick_rows rows;
  hearth_picks picks;
  uint64_t start_ns;     /* of the run */
  uint64_t picks_due_ns; /* when they are looked at again */
  hearth_sampler random;
  uint64_t new_picks_due_ns;
  uint64_t moment_ns; /* of the last new picks */
  uint64_t others_ns; /* CPU time of the program when it was last seen to have run */
} thread;

/* -------------------------------------------------- picks -------------------------------------------------- */

static void look_at_picks(uint64_t now_ns) {
  uint64_t before_ns = hearth_os_thread_ns();

  hearth_picks_look(&thread.picks, now_ns, now_ns - thread.start_ns, &thread.random, &thread.rows);
  uint64_t gap_ns = (hearth_os_thread_ns() - before_ns) * GAP_FOR_COST;
  thread.picks_due_ns = now_ns + (gap_ns > LEAST_PICKS_GAP ? gap_ns : LEAST_PICKS_GAP);
}

/* Where the program has waited since the last picks, there is nothing to see of the memory that it uses. */
static bool has_run(void) {
  uint64_t others_ns = hearth_os_process_ns() - hearth_os_thread_ns();

  if (others_ns < thread.others_ns + LEAST_WORK)
    return false;
  thread.others_ns = others_ns;
  return true;
}

/* Of all pages, so that free space is often met, too. */
static void draw_picks(uint64_t now_ns, uint64_t time_ns) {
  char *start;
  uint64_t pages = hearth_spans_extent(&start) / HEARTH_PAGE_BYTES, weight = pages * (time_ns / WEIGHT_UNIT + 1);

  for (unsigned i = 0; i < NEW_PICKS; i++) {
    const char *page = start + hearth_sampler_below(&thread.random, pages) * HEARTH_PAGE_BYTES;
    const char *byte = page + hearth_sampler_below(&thread.random, HEARTH_PAGE_BYTES);
    hearth_picks_take(&thread.picks, byte, weight, now_ns, &thread.random);
  }
}

/* A busy system lets the thread run when it likes: a moment stands for the time since the one before. */
static uint64_t time_of_moment(uint64_t now_ns) {
  uint64_t time_ns = thread.moment_ns ? now_ns - thread.moment_ns : NEW_PICKS_GAP;

  thread.moment_ns = now_ns;
  return time_ns < MOST_OF_MOMENT ? time_ns : MOST_OF_MOMENT;
}

static void take_picks(uint64_t now_ns) {
  uint64_t time_ns = time_of_moment(now_ns);

  if (!has_run() || !hearth_lock_try(&thread.lock)) /* a dump may hold it for long */
    return;
  if (now_ns >= thread.picks_due_ns)
    look_at_picks(now_ns);
  draw_picks(now_ns, time_ns);
  hearth_lock_give(&thread.lock);
}

/* -------------------------------------------------- the thread -------------------------------------------------- */

static uint64_t step_picks(void) {
  uint64_t now_ns = hearth_os_now_ns();

  if (!hearth_own_thread_is_worth_it())
    return HEARTH_OWN_THREAD_IDLE;
  if (now_ns >= thread.new_picks_due_ns) {
    take_picks(now_ns);
    thread.new_picks_due_ns = now_ns + hearth_sampler_draw(&thread.random, NEW_PICKS_GAP);
    now_ns = hearth_os_now_ns();
  }
  return thread.new_picks_due_ns > now_ns ? thread.new_picks_due_ns - now_ns : 0;
}

static bool are_picks_wanted(void) {
  const hearth_runtime_options *options = &hearth_rt.options;

  return options->own_thread == HEARTH_OWN_THREAD_ON && hearth_rt.path == HEARTH_PATH_RECORD && hearth_shadow_counts &&
         options->parts == 0 && options->format == HEARTH_FORMAT_HEARTH && hearth_os_is_main_alive();
}

void hearth_pick_thread_begin(void) {
  if (!are_picks_wanted() || !hearth_pick_rows_create(&thread.rows, hearth_rt.mibs.count))
    return;
  thread.start_ns = hearth_os_now_ns();
  hearth_sampler_begin(&thread.random, 1, hearth_rt.start_unix_ns ^ hearth_rt.pid << 40);
  hearth_own_thread_begin(step_picks, true);
}

bool hearth_pick_thread_runs(void) { return hearth_own_thread_does(step_picks); }

void hearth_pick_thread_forget(void) {
  if (!hearth_pick_thread_hold())
    return;
  hearth_pick_rows_forget(&thread.rows);
  thread.picks.waiting.count = thread.picks.waiting.halvings = 0;
  thread.picks.followed.count = thread.picks.followed.halvings = 0;
  hearth_pick_thread_let_go();
}

/* -------------------------------------------------- for dumps -------------------------------------------------- */

/* A thread that the system has killed holds its lock for ever. */
bool hearth_pick_thread_hold(void) {
  hearth_patience patience = {0};

  if (!hearth_pick_thread_runs())
    return false;
  while (!hearth_lock_try(&thread.lock))
    if (!hearth_patience_left(&patience))
      return false;
  ++thread.dump;
  look_at_picks(hearth_os_now_ns());
  hearth_picks_show(&thread.picks, thread.picks.now_ns - thread.start_ns, thread.dump, &thread.rows);
  return true;
}

void hearth_pick_thread_let_go(void) { hearth_lock_give(&thread.lock); }

void hearth_pick_thread_set(uint32_t context, hearth_mib *mib) {
  if (context < thread.rows.count)
    hearth_picks_set(&thread.rows.rows[context], thread.dump, mib);
}
