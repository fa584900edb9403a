/* HEARTH_MALLOC=cold=file: a thread that blocks all signals has memory leave, in a forked child as well; there
 * is none by default, nor with interval=0, nor where no file can be had. cold=pageout needs swap space.
 *
 * RUN: rm -rf %t.dir && mkdir %t.dir
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc_a -o %t -pthread
 * RUN: env HEARTH_MALLOC=cold=file:interval=1:dir=%t.dir timeout 600 %t | FileCheck %s --check-prefix=THREAD
 * RUN: env HEARTH_MALLOC=cold=file:interval=0:dir=%t.dir timeout 600 %t | FileCheck %s --check-prefix=NONE
 * RUN: env -u HEARTH_MALLOC timeout 600 %t | FileCheck %s --check-prefix=NONE
 * RUN: env HEARTH_MALLOC=cold=keep:interval=1 timeout 600 %t | FileCheck %s --check-prefix=NONE
 * RUN: env HEARTH_MALLOC=cold=file:interval=1:dir=/dev/shm timeout 600 %t 2>/dev/null | FileCheck %s --check-prefix=NONE
 * RUN: env HEARTH_MALLOC=cold=pageout:interval=1 timeout 600 %t 2>&1 | FileCheck %s --check-prefix=SWAP
 *
 * THREAD: process: 1 more, all signals blocked
 * THREAD: child: 1 more, all signals blocked
 * NONE: process: 0 more
 * NONE: child: 0 more
 * SWAP: {{process: 1 more|cold=pageout has no effect: there is no swap space}}
 */
#undef NDEBUG
#include "Inputs/cold_rounds.h"

#include <assert.h>
#include <dirent.h>
#include <hearth/malloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tasks of this process named hearth-cold, and whether they block the signals 1 to 31 that can be blocked. */
static int count_threads(int *ret_blocked) {
  DIR *tasks = opendir("/proc/self/task");
  struct dirent *task;
  int count = 0;
  *ret_blocked = 1;
  while ((task = readdir(tasks))) {
    char path[300], line[256], name[64] = "";
    uint64_t blocked = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
      sscanf(line, "Name: %63s", name);
      sscanf(line, "SigBlk: %" SCNx64, &blocked);
    }
    if (file)
      fclose(file);
    if (strcmp(name, "hearth-cold"))
      continue;
    count++;
    *ret_blocked &= (blocked | 1 << 8 | 1 << 18) == (blocked | 0x7fffffff);
  }
  closedir(tasks);
  return count;
}

static int count_tasks(void) {
  struct stat status;
  assert(!stat("/proc/self/task", &status));
  return (int)status.st_nlink - 2;
}

static void report(const char *who) {
  int blocked;
  free(malloc_hot_cold(1 << 20, 0)); /* begins the thread */
  int count = count_tasks() - 1;
  if (count)
    cold_round(); /* it has named itself */
  assert(count == count_threads(&blocked));
  printf("%s: %d more%s\n", who, count, count && blocked ? ", all signals blocked" : "");
  fflush(stdout);
}

int main(void) {
  int status;
  report("process");
  pid_t child = fork();
  assert(child >= 0);
  if (child == 0) {
    forget_cold_thread();
    report("child");
    _exit(0);
  }
  assert(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
