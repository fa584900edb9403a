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
#include "os.h"
#undef hearth_os_ticks
static uint64_t hearth_os_ticks(void);

#include "clock.c"

_Thread_local hearth_thread_state hearth_this_thread;
bool hearth_threads_known = true;
uintptr_t hearth_forking_thread;
void hearth_signals_resume(void) {}
void hearth_os_yield(void) {}

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone),         cmocka_unit_test(test_first_rates),
                                     cmocka_unit_test(test_interrupted),   cmocka_unit_test(test_interrupted_start),
                                     cmocka_unit_test(test_other_speed),   cmocka_unit_test(test_sleep),
                                     cmocka_unit_test(test_no_ticks),      cmocka_unit_test(test_late_reading),
                                     cmocka_unit_test(test_signal_handler)};

  return cmocka_run_group_tests(tests, NULL, NULL);
}
