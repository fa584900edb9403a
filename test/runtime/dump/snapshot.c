/* With the option snapshot, a program that is killed by SIGKILL leaves a profile that is at most an interval old. After an
 * ordinary end, the profile stands in its place.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -rf %t.dir && mkdir %t.dir
 * RUN: python3 %S/../Inputs/killed.py %t %t.dir/killed snapshot=20 12 | FileCheck %s --check-prefix=KILLED
 * KILLED: killed:
 *
 * The indexer reads snapshot files, and each forked child has one of its own.
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/fork:snapshot=20 %t fork %t.dir/fork > %t.dir/pids
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/fork.$(sed -n 's/parent //p' %t.dir/pids) AllocCount MaxSize | FileCheck %s --check-prefix=PARENT
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/fork.$(sed -n 's/child //p' %t.dir/pids) AllocCount MaxSize | FileCheck %s --check-prefix=CHILD
 * RUN: %hearth index %t.dir/fork.* -o %t.prof && %hearth show %t.prof | FileCheck %s --check-prefix=SHOW
 * PARENT-NOT: snapshots
 * PARENT: AllocCount=1 MaxSize=222
 * PARENT-NOT: MaxSize=333
 * CHILD: snapshots: 33550336 bytes
 * CHILD-NOT: MaxSize=222
 * CHILD: AllocCount=1 MaxSize=333
 * SHOW: heap profile of 2 runs
 *
 * What a thread keeps for itself, which does nothing any more, is in the snapshots of others.
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/thread:snapshot=10 not --crash %t thread %t.dir/thread
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/thread.* AllocCount MaxSize LiveAtExit | FileCheck %s --check-prefix=THREAD
 * THREAD: snapshots:
 * THREAD: AllocCount=7 MaxSize=444 LiveAtExit=0
 *
 * What does not fit into half of the file is left out, contexts of least bytes first; once, this is said.
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/small:snapshot=10:recursion=full:snapshot_size=1 not --crash %t many %t.dir/small 2> %t.small.err
 * RUN: FileCheck %s --check-prefix=SMALL < %t.small.err
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/small.* AllocCount MaxSize | FileCheck %s --check-prefix=FITS
 * SMALL: is not complete: file too large; contexts of least bytes are left out{{.*}}see option snapshot_size
 * SMALL-NOT: not complete
 * FITS: snapshots: 1044480 bytes
 * FITS: AllocCount=1 MaxSize=222222
 *
 * A file that somebody cuts is no harm to the program: another one takes its place.
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/cut:snapshot=10 not --crash %t cut %t.dir/cut 2>&1 | FileCheck %s --check-prefix=CUT
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/cut.* AllocCount MaxSize | FileCheck %s --check-prefix=ANEW
 * CUT: went on after the cut
 * ANEW: snapshots: 33550336 bytes
 * ANEW: AllocCount=1 MaxSize=222
 *
 * A disk without room for the file is told, and the program goes on.
 * RUN: (ulimit -f 100; HEARTH_OPTIONS=log_path=%t.dir/full:snapshot=10 %t churn 2>&1) | FileCheck %s --check-prefix=FULL
 * FULL: cannot write the profile {{.*}}full.{{[0-9]+}}: file too large
 * FULL: went on
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *volatile kept[3];

static double now(void) {
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void churn(double seconds) {
  double end = now() + seconds;

  while (now() < end)
    free(malloc(50));
}

/* How many snapshots the file of this process has had (docs/formats/raw.md, "Snapshot files"). */
static uint64_t count_snapshots(const char *log_path) {
  char path[4096];
  uint64_t header[5] = {0};

  snprintf(path, sizeof path, "%s.%d", log_path, (int)getpid());
  int file = open(path, O_RDONLY);
  if (file < 0)
    return 0;
  if (read(file, header, sizeof header) != sizeof header)
    header[3] = header[4] = 0; /* it was cut */
  close(file);
  return header[3] > header[4] ? header[3] : header[4];
}

/* What came before is in the second one for sure, however busy the machine is. */
static void churn_for_two_snapshots(const char *log_path) {
  uint64_t enough = count_snapshots(log_path) + 2;

  while (count_snapshots(log_path) < enough)
    churn(0.01);
}

static void report_forever(void) {
  double next = now() + 0.05;

  for (uint64_t count = 1;; ++count) {
    free(malloc(111));
    if (now() < next)
      continue;
    next = now() + 0.05;
    if (write(1, &count, sizeof count) != sizeof count)
      _exit(1);
  }
}

static void fork_and_kill(const char *log_path) {
  int status;

  churn_for_two_snapshots(log_path);
  pid_t child = fork();
  if (child == 0) {
    kept[1] = malloc(333);
    churn_for_two_snapshots(log_path);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, &status, 0);
  printf("parent %d\nchild %d\n", (int)getpid(), (int)child);
}

static void cut_and_die(const char *log_path) {
  char path[4096];

  churn_for_two_snapshots(log_path);
  snprintf(path, sizeof path, "%s.%d", log_path, (int)getpid());
  if (truncate(path, 0) != 0)
    abort();
  while (count_snapshots(log_path) < 2)
    churn(0.01);
  write(1, "went on after the cut\n", 22);
  kill(getpid(), SIGKILL);
}

static void *free_and_wait(void *freed) {
  for (int i = 0; i < 7; ++i)
    free(malloc(444));
  pthread_barrier_wait(freed);
  for (;;)
    pause();
}

/* 2^depth call stacks. */
__attribute__((noinline)) static int many(int depth) {
  if (depth == 0) {
    free(malloc(60));
    return 1;
  }
  int count = many(depth - 1);
  return count + many(depth - 1);
}

int main(int argc, char **argv) {
  kept[0] = malloc(222);
  if (argc == 1)
    report_forever();
  if (strcmp(argv[1], "churn") == 0) {
    churn(0.1);
    puts("went on");
  }
  if (strcmp(argv[1], "cut") == 0)
    cut_and_die(argv[2]);
  if (strcmp(argv[1], "fork") == 0)
    fork_and_kill(argv[2]);
  if (strcmp(argv[1], "thread") == 0) {
    pthread_barrier_t freed;
    pthread_t thread;
    pthread_barrier_init(&freed, NULL, 2);
    if (pthread_create(&thread, NULL, free_and_wait, &freed) != 0)
      return 1;
    pthread_barrier_wait(&freed);
    churn_for_two_snapshots(argv[2]);
    kill(getpid(), SIGKILL);
  }
  if (strcmp(argv[1], "many") == 0) {
    kept[2] = malloc(222222);
    if (many(16) != 65536)
      return 1;
    churn_for_two_snapshots(argv[2]);
    kill(getpid(), SIGKILL);
  }
  return 0;
}
