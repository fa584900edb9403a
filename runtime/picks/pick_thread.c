/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Moments at which picks are drawn come at random: the times between them are distributed exponentially. Those at which picks
 * are looked at are so far apart that looking takes no more than a small part of the time. A small heap fits the caches: there
 * are no picks before it has grown.
 *
 * The thread takes no lock that the program's threads take to allocate or free; only dumps take its own. It ends when the
 * program's first thread does, or the process would not. */
#include "pick_thread.h"

#include "heap.h"
#include "lock.h"
#include "own_thread.h"
#include "picks.h"
#include "running_profile.h"
#include "tracts.h"

#define LEAST_HEAP      ((size_t)4 << 20)    /* bytes of tracts */
#define LEAST_PICKS_GAP UINT64_C(4000000)    /* between looks at picks, in ns */
#define NEW_PICKS_GAP   UINT64_C(4000000)    /* mean time between moments at which new ones are drawn */
#define NEW_PICKS       16u                  /* at such a moment */
#define MOST_OF_MOMENT  (10 * NEW_PICKS_GAP) /* time that one stands for */
#define WEIGHT_UNIT     65536u               /* of such times, in ns */
#define IDLE_GAP        UINT64_C(4000000)    /* between questions whether there is something to look at */
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
  uint64_t pages = hearth_tracts_extent(&start) / HEARTH_OS_PAGE, weight = pages * (time_ns / WEIGHT_UNIT + 1);

  for (unsigned i = 0; i < NEW_PICKS; i++) {
    const char *page = start + hearth_sampler_below(&thread.random, pages) * HEARTH_OS_PAGE;
    const char *byte = page + hearth_sampler_below(&thread.random, HEARTH_OS_PAGE);
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

  if (!has_run())
    return;
  hearth_lock_take(&thread.lock);
  if (now_ns >= thread.picks_due_ns)
    look_at_picks(now_ns);
  draw_picks(now_ns, time_ns);
  hearth_lock_give(&thread.lock);
}

/* -------------------------------------------------- the thread -------------------------------------------------- */

/* Counters say something once code is there that adds to them. */
static bool is_worth_it(void) {
  char *start;

  return hearth_rt.accesses == HEARTH_ACCESSES_COUNTED && hearth_tracts_extent(&start) >= LEAST_HEAP;
}

/* What is due. */
static void act(void) {
  uint64_t now_ns = hearth_os_now_ns();

  if (now_ns < thread.new_picks_due_ns)
    return;
  take_picks(now_ns);
  thread.new_picks_due_ns = now_ns + hearth_sampler_draw(&thread.random, NEW_PICKS_GAP);
}

static uint64_t time_left(void) {
  uint64_t now_ns = hearth_os_now_ns();

  return thread.new_picks_due_ns > now_ns ? thread.new_picks_due_ns - now_ns : 0;
}

static void (*beside)(bool is_worth_it);

void hearth_pick_thread_run_beside(void (*step)(bool is_worth_it)) {
  __atomic_store_n(&beside, step, __ATOMIC_RELEASE);
}

static void run(void) {
  for (bool is_due = false; hearth_own_thread_wait(is_due ? time_left() : IDLE_GAP); is_due = is_worth_it()) {
    void (*step)(bool) = __atomic_load_n(&beside, __ATOMIC_ACQUIRE);
    if (is_due && is_worth_it())
      act();
    if (step)
      step(is_due);
  }
}

static bool is_wanted(void) {
  const hearth_runtime_options *options = &hearth_rt.options;

  return options->own_thread == HEARTH_OWN_THREAD_ON && hearth_rt.path == HEARTH_PATH_RECORD &&
         options->memory_cap == 0 && options->format == HEARTH_FORMAT_HEARTH && hearth_os_is_main_alive();
}

void hearth_pick_thread_begin(void) {
  if (!is_wanted() || !hearth_pick_rows_create(&thread.rows, hearth_rt.mibs.count))
    return;
  thread.start_ns = hearth_os_now_ns();
  hearth_sampler_begin(&thread.random, 1, hearth_rt.start_unix_ns ^ hearth_rt.pid << 40);
  hearth_own_thread_begin(run, hearth_rt.options.clock == HEARTH_CLOCK_AUTO);
}

bool hearth_pick_thread_runs(void) { return hearth_own_thread_runs(run); }

void hearth_pick_thread_forget(void) {
  if (!hearth_pick_thread_hold())
    return;
  hearth_pick_rows_forget(&thread.rows);
  thread.picks.count = thread.picks.halvings = 0;
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
  hearth_picks_show(&thread.picks, thread.dump, &thread.rows);
  return true;
}

void hearth_pick_thread_let_go(void) { hearth_lock_give(&thread.lock); }

void hearth_pick_thread_set(uint32_t context, hearth_mib *mib) {
  if (context < thread.rows.count)
    hearth_picks_set(&thread.rows.rows[context], thread.dump, mib);
}
