/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread of the runtime's own marks epochs of the clock: events between two readings have an early time, and the profile says by
 * how much at most. It does not grow when the program waits. A forked child has no such thread: each event reads the clock, as with
 * own_thread=off.
 *
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t > %t.pids
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/parent //p' %t.pids) clock AllocCount MaxSize MinLifetime | FileCheck %s
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/child //p' %t.pids) clock AllocCount MaxSize | FileCheck %s --check-prefix=EXACT
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:own_thread=off %t > %t.pids
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/parent //p' %t.pids) clock AllocCount MaxSize | FileCheck %s --check-prefix=EXACT
 *
 * CHECK: clock: early
 * CHECK: MaxSize=111
 * CHECK: AllocCount=5 MaxSize=222 MinLifetime={{[1-9][0-9]{8,}$|[1-9][0-9]{8,} }}
 * EXACT: clock: exact
 * EXACT: MaxSize=111
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* So long that the runtime's thread has begun, on a busy machine too. */
static void churn(void) {
  time_t end = time(NULL) + 2;

  while (time(NULL) < end)
    free(malloc(111));
}

/* Frequent events before and after each wait. */
static void keep_while_waiting(void) {
  for (int i = 0; i < 5; ++i) {
    void *kept = malloc(222);
    usleep(200000);
    free(kept);
    for (int k = 0; k < 1000; ++k)
      free(malloc(111));
  }
}

int main(void) {
  printf("parent %d\n", getpid());
  fflush(stdout);
  churn();
  keep_while_waiting();
  pid_t child = fork();
  if (child == 0) {
    printf("child %d\n", getpid());
    for (int k = 0; k < 1000; ++k)
      free(malloc(111));
    exit(0);
  }
  return child > 0 && waitpid(child, NULL, 0) == child ? 0 : 1;
}
