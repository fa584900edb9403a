/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread of the runtime's own marks epochs of the clock: events between two readings have an early time, and the profile says by
 * how much at most. It does not grow when the program waits. A forked child has no such thread: each event reads the clock, as with
 * own_thread=off.
 *
 * REQUIRES: ticks
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof timeout 600 %t > %t.pids
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/parent //p' %t.pids) clock AllocCount MaxSize MinLifetime | FileCheck %s
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/child //p' %t.pids) clock AllocCount MaxSize | FileCheck %s --check-prefix=EXACT
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:own_thread=off timeout 600 %t alone > %t.pids
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/parent //p' %t.pids) clock AllocCount MaxSize | FileCheck %s --check-prefix=EXACT
 *
 * CHECK: clock: early
 * CHECK: MaxSize=111
 * CHECK: AllocCount=5 MaxSize=222 MinLifetime={{[1-9][0-9]{8,}$|[1-9][0-9]{8,} }}
 * EXACT: clock: exact
 * EXACT: MaxSize=111
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The runtime's (clock.h): the first is the number of the epoch, 0 if events read the clock. */
extern _Atomic uint64_t hearth_clock_beats[];

static void churn(int count) {
  for (int i = 0; i < count; ++i)
    free(malloc(111));
}

static void churn_until_epoch(void) {
  while (!hearth_clock_beats[0])
    churn(1000);
}

/* Frequent events before and after each wait, in which another epoch begins. */
static void keep_while_waiting(void) {
  for (int i = 0; i < 5; ++i) {
    void *kept = malloc(222);
    uint64_t epoch = hearth_clock_beats[0];
    usleep(200000);
    while (hearth_clock_beats[0] && hearth_clock_beats[0] == epoch)
      sched_yield();
    free(kept);
    churn(1000);
  }
}

int main(int argc, char **argv) {
  (void)argv;
  printf("parent %d\n", getpid());
  fflush(stdout);
  churn(1000);
  if (argc == 1)
    churn_until_epoch();
  keep_while_waiting();
  pid_t child = fork();
  if (child == 0) {
    printf("child %d\n", getpid());
    churn(1000);
    exit(0);
  }
  return child > 0 && waitpid(child, NULL, 0) == child ? 0 : 1;
}
