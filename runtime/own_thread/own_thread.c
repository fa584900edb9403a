/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process does not end before its last thread: this one asks often enough whether it is to end. */
#include "own_thread.h"
#include "clock.h"
#include "heap.h"
#include "os.h"
#include "running_profile.h"
#include "shadow.h"

#define LONGEST_SLEEP UINT64_C(20000000) /* an end of the program is noticed after that, in ns */
#define THREAD_MEMORY ((size_t)256 << 10)

#define LEAST_HEAP ((size_t)4 << 20) /* bytes of spans: a smaller one fits the caches */

enum { OWN_STEPS = 2 };

static bool beats;                               /* the clock is to have epochs */
static uint32_t process;                         /* that the thread is of */
static hearth_own_thread_step *steps[OWN_STEPS]; /* atomic; NULL: none */

/* Counters of one slice of the heap, or of one watched block, at a time. Memory that was never accessed has counters
 * that are not in memory, and reading them makes none. */

#define LEAST_GAP    UINT64_C(250000000) /* from one lap to the next, in ns */
#define MOST_GAP     UINT64_C(2000000000)
#define GAP_FOR_COST 100 /* the same, as a multiple of a lap's time */
#define AT_ONCE      16  /* counters */

static uint64_t due_ns;

static void own_thread_note(const uint32_t *counter, uintptr_t address, size_t granules) {
  for (size_t i = 0; i < granules; ++i)
    hearth_shadow_note(address + i * HEARTH_GRANULE, __atomic_load_n(&counter[i], __ATOMIC_RELAXED));
}

static void read_heap_counters(const char *memory, size_t size) {
  const uint32_t *counter = hearth_shadow_counter((uintptr_t)memory);
  const uint32_t *end = counter + size / HEARTH_GRANULE;

  for (uintptr_t at = (uintptr_t)memory; counter < end; counter += AT_ONCE, at += AT_ONCE * HEARTH_GRANULE) {
    uint32_t all = 0;
    for (size_t i = 0; i < AT_ONCE; ++i)
      all |= counter[i];
    if (all >> 31 || hearth_shadow_may_have_beside(at, AT_ONCE))
      own_thread_note(counter, at, AT_ONCE);
  }
}

static void read_heap(void) {
  hearth_span span;
  char *start;
  size_t size = hearth_spans_extent(&start);

  for (char *slice = start; slice < start + size; slice += HEARTH_SLICE)
    if (hearth_span_peek(slice, &span))
      read_heap_counters(slice, HEARTH_SLICE);
}

static void read_watched(void) {
  const hearth_watched_slot *slots = hearth_watched_slots();

  for (size_t i = 0; slots && i < HEARTH_WATCHED_SLOTS; ++i) {
    const char *start = __atomic_load_n(&slots[i].start, __ATOMIC_RELAXED);
    if (start)
      read_heap_counters(start, slots[i].pages * HEARTH_PAGE_BYTES);
  }
}

static void read_global(const char *memory, size_t size, uint32_t flags) {
  (void)flags;
  uintptr_t in_granule = (uintptr_t)memory % HEARTH_GRANULE;

  read_heap_counters(memory - in_granule, (in_granule + size + HEARTH_GRANULE - 1) & ~(HEARTH_GRANULE - 1));
}

/* The code that adds says that it is there when it starts. */
static void step_counter_lap(void) {
  uint64_t now_ns = hearth_os_now_ns();

  if (now_ns < due_ns || hearth_rt.accesses != HEARTH_ACCESSES_COUNTED || hearth_shadow_is_histogram ||
      !hearth_shadow_counts)
    return;
  uint64_t before_ns = hearth_os_thread_ns();
  read_heap();
  read_watched();
  hearth_static_data_peek(read_global);
  uint64_t gap_ns = (hearth_os_thread_ns() - before_ns) * GAP_FOR_COST;
  due_ns = now_ns + (gap_ns < LEAST_GAP ? LEAST_GAP : gap_ns < MOST_GAP ? gap_ns : MOST_GAP);
}

static bool own_thread_goes_on(void) { return hearth_rt.recording && !hearth_rt.ended && hearth_os_is_main_alive(); }

static void sleep_and_beat(uint64_t ns) {
  uint64_t epoch_ns = beats ? hearth_clock_beat() : 0;

  for (; epoch_ns > 0 && ns > epoch_ns; epoch_ns = hearth_clock_beat()) {
    hearth_os_sleep(epoch_ns);
    ns -= epoch_ns;
  }
  hearth_os_sleep(ns);
  if (epoch_ns > 0)
    hearth_clock_beat();
  hearth_os_take_noted_rights();
}

/* False: the program, or its recording, has ended, and so must the thread. */
static bool own_thread_wait(uint64_t ns) {
  for (; ns > LONGEST_SLEEP && own_thread_goes_on(); ns -= LONGEST_SLEEP)
    sleep_and_beat(LONGEST_SLEEP);
  sleep_and_beat(ns < LONGEST_SLEEP ? ns : LONGEST_SLEEP);
  if (own_thread_goes_on())
    return true;
  if (beats)
    hearth_clock_end_beats();
  return false;
}

static void own_thread_run(void) {
  uint64_t ns;

  do { /* at once: the program may soon forbid what a step does first */
    ns = LEAST_GAP;
    for (unsigned i = 0; i < OWN_STEPS; ++i) {
      hearth_own_thread_step *step = __atomic_load_n(&steps[i], __ATOMIC_ACQUIRE);
      uint64_t left_ns = step ? step() : LEAST_GAP;
      ns = left_ns < ns ? left_ns : ns;
    }
    step_counter_lap();
  } while (own_thread_wait(ns));
}

static bool own_thread_is_begun(void) { return process == hearth_rt.pid; }

bool hearth_own_thread_does(hearth_own_thread_step *step) {
  return own_thread_is_begun() && (steps[0] == step || steps[1] == step);
}

/* Counters say something once code is there that adds to them. */
bool hearth_own_thread_is_worth_it(void) {
  char *start;

  return hearth_rt.accesses == HEARTH_ACCESSES_COUNTED && hearth_spans_extent(&start) >= LEAST_HEAP;
}

bool hearth_own_thread_begin(hearth_own_thread_step *step, bool with_beats) {
  if (own_thread_is_begun()) {
    __atomic_store_n(&steps[1], step, __ATOMIC_RELEASE);
    return true;
  }
  void *memory = hearth_system_map(THREAD_MEMORY);
  beats = with_beats && hearth_clock_prepare_beats();
  steps[0] = step;
  steps[1] = NULL;
  if (!memory || !hearth_os_begin_thread(own_thread_run, memory, THREAD_MEMORY))
    return false;
  process = hearth_rt.pid;
  return true;
}

void hearth_counter_laps_begin(void) {
  bool is_wanted = hearth_rt.options.own_thread == HEARTH_OWN_THREAD_ON && hearth_shadow_counts;

  if (is_wanted && !own_thread_is_begun())
    hearth_own_thread_begin(NULL, false);
}
