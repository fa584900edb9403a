/* With dump_interval, a program that is killed by SIGKILL leaves a whole profile that is at most an interval old. After an
 * ordinary end, the last profile stands in its place.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t %given_time && rm -rf %t.dir && mkdir %t.dir
 * RUN: timeout 600 python3 %S/../Inputs/killed.py %t %t.dir/killed dump_interval=0.05 12 | FileCheck %s --check-prefix=KILLED
 * KILLED: killed:
 *
 * Each forked child has one of its own.
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/fork:dump_interval=0.02 timeout 600 %t fork %t.dir/fork > %t.dir/pids
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/fork.$(sed -n 's/parent //p' %t.dir/pids) AllocCount MaxSize | FileCheck %s --check-prefix=PARENT
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/fork.$(sed -n 's/child //p' %t.dir/pids) AllocCount MaxSize | FileCheck %s --check-prefix=CHILD
 * PARENT: AllocCount=1 MaxSize=222
 * PARENT-NOT: MaxSize=333
 * CHILD-NOT: MaxSize=222
 * CHILD: AllocCount=1 MaxSize=333
 *
 * What a thread keeps for itself, which does nothing any more, is in the profiles that others write.
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/thread:dump_interval=0.01 timeout 600 not --crash %t thread %t.dir/thread
 * RUN: python3 %S/../Inputs/raw_print.py %t.dir/thread.* AllocCount MaxSize LiveAtExit | FileCheck %s --check-prefix=THREAD
 * THREAD: AllocCount=7 MaxSize=444 LiveAtExit=0
 */
#include "given_time.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept[2];

/* Until another profile is in its place. */
static void churn_for_next(const char *path) {
  struct stat first = {0}, info = {0};

  stat(path, &first);
  do {
    free(malloc(50));
    pass(MS / 100);
    stat(path, &info);
  } while (info.st_ino == first.st_ino && info.st_mtim.tv_sec == first.st_mtim.tv_sec &&
           info.st_mtim.tv_nsec == first.st_mtim.tv_nsec);
}

/* What came before is in the second one for sure, however busy the machine is. */
static void churn_for_two(const char *log_path) {
  char path[4096];

  snprintf(path, sizeof path, "%s.%d", log_path, (int)getpid());
  churn_for_next(path);
  churn_for_next(path);
}

enum { BLOCKS_OF_MS = 100, MS_OF_REPORT = 50 };

static void report_forever(void) {
  for (uint64_t count = 1;; ++count) {
    free(malloc(111));
    if (count % BLOCKS_OF_MS == 0)
      pass(MS);
    if (count % (BLOCKS_OF_MS * MS_OF_REPORT) != 0)
      continue;
    if (write(1, &count, sizeof count) != sizeof count)
      _exit(1);
    usleep(5000); /* the reader keeps up */
  }
}

static void fork_and_kill(const char *log_path) {
  int status;

  churn_for_two(log_path);
  pid_t child = fork();
  if (child == 0) {
    kept[1] = malloc(333);
    churn_for_two(log_path);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, &status, 0);
  printf("parent %d\nchild %d\n", (int)getpid(), (int)child);
}

static void *free_and_wait(void *freed) {
  for (int i = 0; i < 7; ++i)
    free(malloc(444));
  pthread_barrier_wait(freed);
  for (;;)
    pause();
}

int main(int argc, char **argv) {
  kept[0] = malloc(222);
  if (argc == 1)
    report_forever();
  if (strcmp(argv[1], "fork") == 0)
    fork_and_kill(argv[2]);
  if (strcmp(argv[1], "thread") == 0) {
    pthread_barrier_t freed;
    pthread_t thread;
    pthread_barrier_init(&freed, NULL, 2);
    if (pthread_create(&thread, NULL, free_and_wait, &freed) != 0)
      return 1;
    pthread_barrier_wait(&freed);
    churn_for_two(argv[2]);
    kill(getpid(), SIGKILL);
  }
  return 0;
}
