/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runtime's clock (clock.h) on a machine that is made up: its ticks and its clock are right, but each call may take long, because
 * the thread is interrupted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* clock.c is compiled here, with ticks of ours. */
#define hearth_os_ticks hearth_os_ticks_of_the_processor
#include "machine.h"
#undef hearth_os_ticks
static uint64_t hearth_os_ticks(void);

#include "clock.c"

_Thread_local hearth_thread_state hearth_this_thread;
bool hearth_threads_known = true;
_Atomic uintptr_t hearth_forking_thread;
void hearth_signals_resume(void) {}
void hearth_os_yield(void) {}

static bool is_wiped = true;
bool hearth_system_wipe_on_fork(void *at, size_t size) {
  (void)at;
  (void)size;
  return is_wiped;
}

static bool ticks_are_even = true;
bool hearth_os_has_ticks(void) { return ticks_are_even; }

static struct {
  double ns;           /* real time */
  double ticks, clock; /* what the two have counted */
  double ticks_per_ns, clock_speed;
  unsigned interrupted; /* of 1,000 calls */
  uint64_t random;
} machine;

static uint64_t draw(uint64_t most) {
  machine.random = machine.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* Knuth's MMIX */
  return (machine.random >> 33) % most;
}

static void pass(double ns) {
  machine.ns += ns;
  machine.ticks += ns * machine.ticks_per_ns;
  machine.clock += ns * machine.clock_speed;
}

static void maybe_interrupt(void) {
  if (draw(1000) < machine.interrupted)
    pass((double)draw(5000000));
}

static uint64_t hearth_os_ticks(void) {
  maybe_interrupt();
  pass(8);
  return (uint64_t)machine.ticks;
}

uint64_t hearth_os_now_ns(void) {
  maybe_interrupt();
  pass(15);
  uint64_t now = (uint64_t)machine.clock;
  pass(5);
  maybe_interrupt();
  return now;
}

static uint64_t last;

static void begin(unsigned interrupted) {
  machine.ns = 0;
  machine.ticks = 1e12;
  machine.clock = 5e9;
  machine.ticks_per_ns = 2.9;
  machine.clock_speed = 1;
  machine.interrupted = interrupted;
  machine.random = 19;
  hearth_this_thread = (hearth_thread_state){.depth = 1};
  last = 0;
  hearth_clock_begin();
  hearth_clock_beats = (hearth_clock_page){.epoch = 0};
}

/* The thread's clock never runs back, and is the system's to some ns. */
static void run(double for_ns, double error_ns) {
  for (double end = machine.ns + for_ns; machine.ns < end;) {
    double before = machine.clock;
    uint64_t now = hearth_clock_now_ns();
    assert_true(now >= last);
    assert_true((double)now >= before - error_ns);
    assert_true((double)now <= machine.clock + error_ns);
    last = now;
    pass((double)draw(20000));
  }
}

static void test_alone(void **state) {
  (void)state;
  begin(0);
  run(3e9, 50);
  assert_true(tick_rate > 0);
}

static void test_interrupted(void **state) {
  (void)state;
  begin(50);
  run(3e9, 200);
  assert_true(tick_rate > 0);
}

/* Programs that take some milliseconds have a rate, too, which is rough at first and then is not. */
static void test_first_rates(void **state) {
  (void)state;
  begin(0);
  run(4e6, 50);
  assert_true(tick_rate > 0 && is_rough);
  run(30e6, 50);
  assert_true(tick_rate > 0 && !is_rough);
}

/* The first reading of all was interrupted whenever it was tried. */
static void test_interrupted_start(void **state) {
  (void)state;
  begin(1000);
  machine.interrupted = 5;
  run(3e9, 200);
  assert_true(tick_rate > 0);
}

/* Between two readings the clock's speed is that of the first. */
static void test_other_speed(void **state) {
  (void)state;
  begin(5);
  for (int i = 0; i < 6; ++i) {
    machine.clock_speed = i % 2 ? 1.0005 : 0.9995;
    run(1.5e9, 1200);
  }
}

/* The machine sleeps: ticks go on, and the clock does not, by which the thread's is ahead by a window at most; or the other way
 * round; or ticks begin anew. */
static void test_sleep(void **state) {
  (void)state;
  begin(5);
  run(2e9, 200);
  machine.ticks += 1e12;
  run(1e7, 1000000);
  run(3e9, 200);
  assert_true(tick_rate > 0);
  machine.clock += 1e12;
  pass(2000000); /* or the thread would be behind for as long */
  run(3e9, 200);
  assert_true(tick_rate > 0);
  machine.ticks = 1000;
  run(3e9, 200);
  assert_true(tick_rate > 0);
}

/* A thread that comes late to measure, after another one did. */
static void test_late_reading(void **state) {
  (void)state;
  begin(0);
  reading early = read_well();
  run(1e9, 50);
  uint64_t rate = tick_rate;
  assert_true(rate > 0 && first.ns > early.ns);
  try_to_measure(&early);
  assert_int_equal(tick_rate, rate);
}

/* A processor without such ticks: they are not used. */
static void test_no_ticks(void **state) {
  (void)state;
  ticks_are_even = false;
  begin(5);
  run(1e9, 1);
  assert_int_equal(tick_rate, 0);
  ticks_are_even = true;
}

/* A signal handler that interrupted the runtime sees the same clock, and changes nothing. */
static void test_signal_handler(void **state) {
  (void)state;
  begin(0);
  run(1e8, 200);
  for (int i = 0; i < 10000; ++i) {
    hearth_thread_clock before = hearth_this_thread.clock;
    hearth_this_thread.depth = 2;
    uint64_t nested = hearth_clock_now_ns();
    hearth_this_thread.depth = 1;
    assert_memory_equal(&before, &hearth_this_thread.clock, sizeof before);
    uint64_t now = hearth_clock_now_ns();
    assert_true(nested >= last && now + 200 >= nested);
    last = now;
    pass((double)draw(300000));
  }
}

/* -------------------------------------------------- events -------------------------------------------------- */

static double now_ns(void) { return machine.clock; }

/* A beat where the last one was longer ago than an epoch. */
static void beat_when_due(double *last_beat, double epoch_ns) {
  if (now_ns() - *last_beat < epoch_ns)
    return;
  *last_beat = now_ns();
  hearth_clock_beat();
}

#define EVENT_ERROR 400 /* of a reading, and of the steps that keep the order, in ns */

static double event_at; /* the real time of the last one */

/* An event's time is after the last one's, not late, and not early by more than the clock says. */
static uint64_t check_event(double before, uint64_t now) {
  event_at = machine.clock;
  assert_true(now > last);
  assert_true((double)now <= machine.clock + EVENT_ERROR);
  assert_true((double)now + (double)hearth_clock_error_ns() >= before - EVENT_ERROR);
  last = now;
  return now;
}

static uint64_t take_event(void) {
  double before = now_ns();

  return check_event(before, hearth_clock_birth_ns());
}

static uint64_t take_end(uint64_t birth) {
  double before = now_ns();

  return check_event(before, hearth_clock_end_ns(birth));
}

static bool was_early(uint64_t time) { return (double)time < event_at - 1000; }

/* Events come at random; sometimes the program waits for long. */
static void test_events(void **state) {
  (void)state;
  begin(0);
  run(1e8, 200);
  assert_true(hearth_clock_prepare_beats());
  double last_beat = now_ns();
  unsigned early = 0;
  for (int i = 0; i < 300000; ++i) {
    early += was_early(take_event());
    pass((double)draw(2000));
    beat_when_due(&last_beat, 4e6);
    if (i % 20000 == 19999)
      for (int k = 0; k < 100; ++k) {
        pass(3e6);
        beat_when_due(&last_beat, 4e6);
      }
  }
  assert_true(early > 100000 && hearth_clock_error_ns() < 8000000);
  hearth_clock_end_beats();
}

/* The thread that beats is starved: the clock's error grows, and it says so. */
static void test_starved(void **state) {
  (void)state;
  begin(0);
  run(1e8, 200);
  hearth_clock_beat();
  for (int i = 0; i < 1000; ++i) {
    take_event();
    pass(1e6);
  }
  assert_true(hearth_clock_error_ns() >= 1000000000);
  hearth_clock_end_beats();
  assert_true(hearth_clock_error_ns() >= 1000000000);
}

/* The program pauses before each block begins. Blocks that stand for others have exact lifetimes, and their mean is that of all. */
static void test_mean_lifetime(void **state) {
  (void)state;
  begin(0);
  run(1e8, 200);
  double last_beat = now_ns(), real = 0, sampled = 0;
  int count = 300000, samples = 0;
  hearth_clock_beat();
  for (int i = 0; i < count; ++i) {
    pass((double)draw(10000));
    uint64_t birth = take_event();
    double began = event_at;
    pass((double)draw(2000));
    beat_when_due(&last_beat, 4e6);
    uint64_t end = take_end(birth);
    double lifetime = event_at - began;
    real += lifetime;
    if (!(end & HEARTH_CLOCK_SAMPLE))
      continue;
    samples++;
    sampled += (double)(end - birth);
    assert_true((double)(end - birth) < lifetime + EVENT_ERROR && lifetime < (double)(end - birth) + EVENT_ERROR);
  }
  real /= count;
  sampled /= samples;
  assert_true(samples > count / 64 && samples < count / 4);
  assert_true(sampled > 0.95 * real && sampled < 1.05 * real);
  hearth_clock_end_beats();
}

/* The first epochs are short: each is a small part of the run. */
static void test_first_epochs(void **state) {
  (void)state;
  begin(0);
  double start = now_ns();
  while (hearth_clock_beat() == 0)
    run(1e5, 200);
  assert_true(now_ns() - start >= 2e7 && now_ns() - start <= 3e7);
  for (uint64_t epoch_ns, before_ns = 0; now_ns() - start < 2e8; before_ns = epoch_ns) {
    run(1e6, 200);
    take_event();
    is_asked = true;
    epoch_ns = hearth_clock_beat();
    assert_true(epoch_ns >= before_ns && epoch_ns >= 900000 && epoch_ns <= 4000000);
    assert_true((double)epoch_ns <= (now_ns() - start) / 20);
  }
  assert_true(hearth_clock_beat() == 4000000);
  hearth_clock_end_beats();
}

/* A block that ends in a later epoch reads the ticks, and stands for no other. */
static void test_later_epoch(void **state) {
  (void)state;
  begin(0);
  run(1e8, 200);
  hearth_clock_beat();
  for (int i = 0; i < 1000; ++i) {
    uint64_t birth = take_event();
    pass(1e6);
    hearth_clock_beat();
    take_event();
    uint64_t end = take_end(birth);
    assert_true(end & HEARTH_CLOCK_KNOWN && !(end & HEARTH_CLOCK_SAMPLE));
    assert_false(was_early(end));
  }
  hearth_clock_end_beats();
}

/* Without beats each event reads the ticks: before the first, after the last, in a forked child, and where events are rare. */
static void test_events_without_beats(void **state) {
  (void)state;
  begin(0);
  run(1e8, 200);
  for (int when = 0; when < 4; ++when) {
    if (when == 1) {
      hearth_clock_beat();
      take_event();
      hearth_clock_end_beats();
    } else if (when == 2) {
      hearth_clock_beat();
      take_event();
      hearth_clock_beats = (hearth_clock_page){.epoch = 0}; /* as the system does */
    } else if (when == 3) {
      while (hearth_clock_beat())
        ;
    }
    for (int i = 0; i < 1000; ++i) {
      assert_false(was_early(take_event()));
      pass((double)draw(100000));
    }
    hearth_clock_end_beats();
  }
  for (int i = 0; i < 10000; ++i)
    take_event();
  assert_true(hearth_clock_beat()); /* they are frequent again */
  hearth_clock_end_beats();
}

/* Where forked children would see the epochs, or ticks do not go on evenly, there are none. */
static void test_no_beats(void **state) {
  (void)state;
  begin(0);
  is_wiped = false;
  assert_false(hearth_clock_prepare_beats());
  is_wiped = true;
  ticks_are_even = false;
  hearth_clock_begin();
  assert_false(hearth_clock_prepare_beats());
  ticks_are_even = true;
}

/* Short runs have exact times: an epoch would be a large part of them. */
static void test_no_beats_at_first(void **state) {
  (void)state;
  begin(0);
  while (machine.clock < (double)begin_ns + 0.9 * (double)EXACT_NS) {
    take_event();
    assert_false(hearth_clock_beat());
    assert_int_equal(hearth_clock_beats.epoch, 0);
    pass(1e6);
  }
  run(1e8, 200);
  assert_true(hearth_clock_beat());
  assert_int_not_equal(hearth_clock_beats.epoch, 0);
  hearth_clock_end_beats();
}

/* A signal handler that interrupted the runtime: its events change nothing. */
static void test_event_in_signal_handler(void **state) {
  (void)state;
  begin(0);
  run(1e8, 200);
  hearth_clock_beat();
  for (int i = 0; i < 10000; ++i) {
    take_event();
    hearth_thread_clock before = hearth_this_thread.clock;
    hearth_this_thread.depth = 2;
    hearth_clock_read_for_birth();
    hearth_clock_read_for_end(before.shown);
    hearth_this_thread.depth = 1;
    assert_memory_equal(&before, &hearth_this_thread.clock, sizeof before);
    pass((double)draw(2000));
  }
  hearth_clock_end_beats();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_beats_at_first),
                                     cmocka_unit_test(test_alone),
                                     cmocka_unit_test(test_first_rates),
                                     cmocka_unit_test(test_interrupted),
                                     cmocka_unit_test(test_interrupted_start),
                                     cmocka_unit_test(test_other_speed),
                                     cmocka_unit_test(test_sleep),
                                     cmocka_unit_test(test_no_ticks),
                                     cmocka_unit_test(test_late_reading),
                                     cmocka_unit_test(test_signal_handler),
                                     cmocka_unit_test(test_events),
                                     cmocka_unit_test(test_starved),
                                     cmocka_unit_test(test_mean_lifetime),
                                     cmocka_unit_test(test_first_epochs),
                                     cmocka_unit_test(test_later_epoch),
                                     cmocka_unit_test(test_events_without_beats),
                                     cmocka_unit_test(test_no_beats),
                                     cmocka_unit_test(test_event_in_signal_handler)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
