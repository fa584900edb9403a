/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A reading of the clock is as exact as the knowledge of its time: it was made at some moment between two readings
 * of the ticks, and these may be far apart where a thread is interrupted between them. Wide ones are made again; the
 * rate of the ticks is taken from two readings that are so far apart that their widths do not matter, and again from
 * time to time, as the system may speed its clock up or slow it down by some thousandths. As many programs take less
 * time than that, a rough rate comes first, which holds for short windows. */
#include "clock.h"

#include "os.h"

#define TRIES             8
#define RATE_PRECISION    UINT64_C(100000) /* ticks that pass for each tick of width: an error of 1e-5 at most */
#define ROUGHLY           10 /* the first rate has so many times that error, and its windows are shorter by that */
#define ROUGH_DISTANCE_NS UINT64_C(2000000)    /* between the two readings that give it */
#define LEAST_DISTANCE_NS UINT64_C(20000000)   /* ... and the next one */
#define NEXT_DISTANCE_NS  UINT64_C(1000000000) /* ... and each later one */
#define WINDOW_NS         UINT64_C(1000000)    /* in which 1e-5 are 10 ns */
#define RATE_CHANGE       512                  /* the system slews by 1/2000 at most */

#define EXACT_NS    UINT64_C(25000000) /* of the run: an epoch would be a large part of it. No beats before */
#define EPOCH_NS    UINT64_C(4000000)  /* no epoch is meant to be longer ... */
#define RUN_PART    25                 /* ... or a larger part of the run so far */
#define QUIET_BEATS 16u                /* without events that ask for more */
#define DISTANCE    6                  /* bits of the distance to the next birth that reads the ticks, in events */

typedef struct reading {
  uint64_t ticks; /* just after the clock was read: a time counted on from here is never ahead of it */
  uint64_t ns, width;
} reading;

static bool has_ticks;
static uint64_t begin_ns;    /* of the run */
static uint64_t least_width; /* of all readings: nothing interrupted that one; atomic, as are the following */
static uint64_t tick_rate;   /* ns per tick, times 2^HEARTH_CLOCK_SHIFT; 0: not known yet */
static uint64_t tick_window; /* ticks in WINDOW_NS, or in a part of it */
static reading first;        /* of the two; its owner has `measuring`, and the following */
static bool is_rough;        /* the rate, if there is one */
static bool measuring;

static atomic_bool is_asked; /* for beats: events are frequent */
static unsigned quiet;       /* beats without being asked; of the thread that beats */

static reading read_once(void) {
  uint64_t before = hearth_os_ticks(), ns = hearth_os_now_ns(), after = hearth_os_ticks();

  if (after == before)
    return (reading){after, ns, 1}; /* of a processor whose ticks are slower than its calls */
  return (reading){after, ns, after > before ? after - before : UINT64_MAX};
}

/* The best of some, unless one is as good as any. */
static reading read_well(void) {
  reading best = read_once();
  uint64_t least = __atomic_load_n(&least_width, __ATOMIC_RELAXED);

  for (unsigned i = 1; i < TRIES && best.width / 4 > least; ++i) {
    reading next = read_once();
    if (next.width < best.width)
      best = next;
  }
  if (best.width < least)
    __atomic_store_n(&least_width, best.width, __ATOMIC_RELAXED);
  return best;
}

void hearth_clock_begin(void) {
  has_ticks = hearth_os_has_ticks();
  tick_rate = 0;
  least_width = 0;
  first = read_well();
  least_width = first.width;
  begin_ns = first.ns;
  quiet = 0;
}

static uint64_t rate_between(const reading *from, const reading *to) {
  return (uint64_t)((double)(to->ns - from->ns) / (double)(to->ticks - from->ticks) * (1ull << HEARTH_CLOCK_SHIFT));
}

/* No processor takes 100 ns for a tick; and where one of the two stood still while the machine slept, this is no rate. */
static bool is_plausible(uint64_t rate, uint64_t old) {
  uint64_t change = rate > old ? rate - old : old - rate;

  return rate > 0 && rate >> HEARTH_CLOCK_SHIFT < 100 && (!old || change <= old / RATE_CHANGE);
}

/* 0: all read the system's clock, until there is another rate. */
static void set_rate(uint64_t rate) {
  if (rate)
    __atomic_store_n(&tick_window, ((is_rough ? WINDOW_NS / ROUGHLY : WINDOW_NS) << HEARTH_CLOCK_SHIFT) / rate,
                     __ATOMIC_RELAXED);
  __atomic_store_n(&tick_rate, rate, __ATOMIC_RELEASE);
}

/* By one thread at a time. */
static void measure_rate(const reading *now) {
  uint64_t old = __atomic_load_n(&tick_rate, __ATOMIC_RELAXED);

  uint64_t distance = !old ? ROUGH_DISTANCE_NS : is_rough ? LEAST_DISTANCE_NS : NEXT_DISTANCE_NS;
  if (now->ns < first.ns + distance) /* it may be before, if another thread was faster */
    return;
  uint64_t ticks = now->ticks > first.ticks ? now->ticks - first.ticks : 0;
  uint64_t widest = ticks / (old ? RATE_PRECISION : RATE_PRECISION / ROUGHLY) / 2;
  if (ticks > 0 && (now->width > widest || first.width > widest)) {
    if (now->width < first.width / 2)
      first = *now;
    return; /* later, when more have passed */
  }
  uint64_t rate = ticks > 0 ? rate_between(&first, now) : 0;
  bool plausible = is_plausible(rate, old);
  is_rough = !old && plausible;
  if (!is_rough) /* else the better rate is taken from the same one on */
    first = *now;
  set_rate(plausible ? rate : 0);
}

static void try_to_measure(const reading *now) {
  if (__atomic_exchange_n(&measuring, true, __ATOMIC_ACQUIRE))
    return;
  measure_rate(now);
  __atomic_store_n(&measuring, false, __ATOMIC_RELEASE);
}

/* The latest time that the thread's clock may have shown by now. */
static uint64_t last_shown(const hearth_thread_clock *clock, uint64_t ticks) {
  uint64_t passed = ticks - clock->ticks;

  if (passed > UINT64_MAX / 2) /* another processor's ticks, which are behind */
    passed = 0;
  if (passed > clock->window)
    passed = clock->window;
  return clock->ns + (passed * clock->rate >> HEARTH_CLOCK_SHIFT);
}

/* A clock that is ahead goes on slowly enough to be right at the window's end, but goes on. */
static uint64_t slowed_rate(uint64_t rate, uint64_t ahead_ns) {
  uint64_t less = ahead_ns < WINDOW_NS / 2 ? ahead_ns : WINDOW_NS / 2;

  return rate - rate / WINDOW_NS * less;
}

/* A signal handler that interrupts this sees a window of 0. */
static void set_clock(hearth_thread_clock *clock, uint64_t ticks, uint64_t ns, uint64_t rate) {
  clock->window = 0;
  HEARTH_SIGNAL_FENCE();
  clock->ticks = ticks;
  clock->ns = ns;
  clock->rate = rate;
  HEARTH_SIGNAL_FENCE();
  clock->window = rate ? __atomic_load_n(&tick_window, __ATOMIC_RELAXED) : 0;
}

uint64_t hearth_clock_read(void) {
  if (!has_ticks)
    return hearth_os_now_ns();
  hearth_thread_clock *clock = &hearth_this_thread.clock;
  reading now = read_well();
  uint64_t shown = last_shown(clock, now.ticks), ns = now.ns > shown ? now.ns : shown;

  if (hearth_reentry_is_nested()) /* may have interrupted the code below */
    return ns;
  try_to_measure(&now);
  uint64_t rate = __atomic_load_n(&tick_rate, __ATOMIC_ACQUIRE);
  set_clock(clock, now.ticks, ns, slowed_rate(rate, ns - now.ns));
  return ns;
}

/* -------------------------------------------------- events -------------------------------------------------- */

hearth_clock_page hearth_clock_beats;

/* Events until the next birth that reads the ticks, in steps. */
static uint64_t draw_distance(hearth_thread_clock *clock) {
  clock->random =
      (clock->random ^ clock->shown) * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* MMIX's */
  if ((clock->random >> 32 & 15) == 0 && !atomic_load_explicit(&is_asked, memory_order_relaxed))
    atomic_store_explicit(&is_asked, true, memory_order_relaxed);
  return (clock->random >> (64 - DISTANCE)) * HEARTH_CLOCK_STEP;
}

/* `draws`: another distance begins; else the one that is left goes on. Not in a signal handler that interrupted this. */
static uint64_t read_at_event(hearth_thread_clock *clock, uint64_t now_ns, uint64_t epoch, bool draws) {
  uint64_t left = clock->shown_most > clock->shown ? clock->shown_most - clock->shown : 0;

  now_ns &= ~(HEARTH_CLOCK_STEP - 1);
  clock->shown = now_ns > clock->shown ? now_ns : clock->shown + HEARTH_CLOCK_STEP;
  if (clock->epoch != epoch)
    clock->began = clock->shown;
  clock->epoch = epoch;
  if (draws)
    left = draw_distance(clock);
  clock->shown_most = clock->shown + (epoch ? left : 0);
  return clock->shown;
}

/* The first birth of an epoch stands for no other: it is not drawn at random, as more epochs begin in longer pauses. */
uint64_t hearth_clock_read_for_birth(void) {
  hearth_thread_clock *clock = &hearth_this_thread.clock;
  uint64_t epoch = atomic_load_explicit(&hearth_clock_beats.epoch, memory_order_relaxed);
  uint64_t now_ns = hearth_clock_now_ns();

  if (hearth_reentry_is_nested())
    return now_ns & ~(HEARTH_CLOCK_STEP - 1);
  bool is_drawn = clock->shown >= clock->shown_most;
  return read_at_event(clock, now_ns, epoch, is_drawn) | (is_drawn ? HEARTH_CLOCK_KNOWN : 0);
}

uint64_t hearth_clock_read_for_end(uint64_t birth_ns) {
  hearth_thread_clock *clock = &hearth_this_thread.clock;
  uint64_t epoch = atomic_load_explicit(&hearth_clock_beats.epoch, memory_order_relaxed), before = clock->epoch;
  uint64_t now_ns = hearth_clock_now_ns();

  if (hearth_reentry_is_nested())
    return (now_ns & ~(HEARTH_CLOCK_STEP - 1)) | HEARTH_CLOCK_KNOWN;
  bool is_sample = epoch && epoch == before && birth_ns & HEARTH_CLOCK_KNOWN && birth_ns >= clock->began;
  return read_at_event(clock, now_ns, epoch, false) | HEARTH_CLOCK_KNOWN | (is_sample ? HEARTH_CLOCK_SAMPLE : 0);
}

bool hearth_clock_prepare_beats(void) {
  return has_ticks && hearth_system_wipe_on_fork(&hearth_clock_beats, sizeof hearth_clock_beats);
}

static uint64_t longest_by(uint64_t now_ns) {
  uint64_t longest = atomic_load_explicit(&hearth_clock_beats.longest_ns, memory_order_relaxed);
  uint64_t began = atomic_load_explicit(&hearth_clock_beats.began_ns, memory_order_relaxed);

  return began && now_ns > began + longest ? now_ns - began : longest;
}

uint64_t hearth_clock_error_ns(void) { return longest_by(hearth_os_now_ns()); }

/* An epoch is said to be as long as any event may have seen it: events see it change at any time between the two
 * readings. */
static void begin_epoch(uint64_t epoch) {
  uint64_t before_ns = hearth_os_now_ns();

  atomic_store_explicit(&hearth_clock_beats.epoch, epoch, memory_order_seq_cst);
  atomic_store_explicit(&hearth_clock_beats.longest_ns, longest_by(hearth_os_now_ns()), memory_order_relaxed);
  atomic_store_explicit(&hearth_clock_beats.began_ns, epoch ? before_ns : 0, memory_order_relaxed);
}

uint64_t hearth_clock_beat(void) {
  static uint64_t epochs;
  uint64_t run_ns = hearth_os_now_ns() - begin_ns;

  if (run_ns < EXACT_NS)
    return 0;
  quiet = atomic_exchange_explicit(&is_asked, false, memory_order_relaxed) ? 0 : quiet + 1;
  if (quiet < QUIET_BEATS)
    begin_epoch(++epochs);
  else
    hearth_clock_end_beats();
  return quiet >= QUIET_BEATS ? 0 : run_ns < EPOCH_NS * RUN_PART ? run_ns / RUN_PART : EPOCH_NS;
}

void hearth_clock_end_beats(void) {
  if (atomic_load_explicit(&hearth_clock_beats.began_ns, memory_order_relaxed))
    begin_epoch(0);
}
