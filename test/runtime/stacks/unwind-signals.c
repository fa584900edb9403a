/* Signal handlers that allocate, and interrupt the search for callers without frame pointers wherever it is: no block is
 * lost, and no call stack is made up of two.
 *
 * RUN: %clang -g -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-builtin -Wl,--build-id %s %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t > %t.txt
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize > %t.records
 * RUN: awk '/^record/ { sub(/AllocCount=/, "", $2); sub(/MaxSize=/, "", $3); sums[$3] += $2; if (!seen[$3, $5]++) \
 * RUN:   places[$3]++ } END { for (size = 1001; size < 3003; size += 1001) print size, sums[size], places[size] }' \
 * RUN:   %t.records > %t.sums
 * RUN: cmp %t.txt %t.sums
 *
 * The way through the C library is in the stacks of what it calls back.
 * RUN: FileCheck %s < %t.records
 * CHECK: MaxSize=1001 | unwind-signals.c.tmp+{{.*}} unwind-signals.c.tmp+{{.*}} libc.so.6+{{.*}} unwind-signals.c.tmp+{{.*}} libc.so.6+
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#define SIGNALS 100

static volatile int sink, sorted, handled;

__attribute__((noinline)) static void allocate(void) {
  free(malloc(1001));
  ++sorted;
}

__attribute__((noinline)) static int compare(const void *left, const void *right) {
  allocate();
  return *(const int *)left - *(const int *)right;
}

__attribute__((noinline)) static void sort(int depth) {
  int numbers[] = {3, 1, 2};

  if (depth > 0)
    sort(depth - 1);
  else
    qsort(numbers, 3, sizeof *numbers, compare);
  sink = numbers[0];
}

static void on_signal(int signal) {
  free(malloc(2002));
  ++handled;
  sink = signal;
}

int main(void) {
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

  signal(SIGPROF, on_signal);
  setitimer(ITIMER_PROF, &often, NULL);
  for (int i = 0; handled < SIGNALS; ++i)
    sort(i % 80);
  setitimer(ITIMER_PROF, &never, NULL);
  printf("1001 %d 1\n2002 %d 1\n", sorted, handled);
  return 0;
}
