/* A signal handler may free while its own thread writes what lives: it does not wait for that.
 *
 * RUN: %clang -O1 -g %s -rdynamic -o %t && %hearth record --mode=live -q -o %t.raw -- %t | FileCheck %s
 * CHECK: {{[1-9][0-9]*}} signals, 0 waited
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static void *volatile kept;
static volatile int signals, waited, handles;
static _Atomic long asked_ms;

/* The recorder finds this before the C library's. Waiting ends after a second: for a handler, each question takes a millisecond. */
int clock_gettime(clockid_t clock, struct timespec *ret) {
  (void)clock;
  asked_ms += handles;
  *ret = (struct timespec){1000000 + asked_ms / 1000, asked_ms % 1000 * 1000000};
  return 0;
}

static void on_signal(int number) {
  long begin_ms = asked_ms;
  (void)number;
  handles = 1;
  free(kept);
  kept = malloc(5000);
  handles = 0;
  ++signals;
  waited += asked_ms - begin_ms > 900;
}

int main(void) {
  static void *blocks[80000];
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  struct itimerval often = {{0, 1000}, {0, 1000}}, never = {0};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  for (int round = 1; round <= 40 && waited < 3; ++round) {
    int count = round * 2000;
    for (int i = 0; i < count; ++i)
      blocks[i] = malloc((size_t)(100 + i % 400));
    for (int i = 0; i < count; ++i)
      free(blocks[i]);
  }
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%d signals, %d waited\n", signals, waited);
  return 0;
}
