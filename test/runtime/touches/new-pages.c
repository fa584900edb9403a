/* What is written once and then left alone is not touched for the looks at its pages, although the system clears no accessed bits of
 * pages that it has not listed yet, which may be those of a whole look.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t %given_time && rm -f %t.raw*
 * RUN: HEARTH_OPTIONS=log_path=%t.raw timeout 600 %t
 * RUN: %hearth index -q %t.raw.* --binary %t -o %t.heap
 * RUN: %hearth show --text %t.heap | awk '/^context/ { size = 0 } $1 == "MinSize" { size = $2 } \
 * RUN:   size == 200 && $1 ~ /^(Touched)?(Short)?Looks$/ { sum[$1] += $2 } \
 * RUN:   END { looks = sum["Looks"] + sum["ShortLooks"]; touched = sum["TouchedLooks"] + sum["TouchedShortLooks"]; \
 * RUN:     print (looks > 500), (touched <= looks / 1000), looks, touched }' | FileCheck %s
 * CHECK: 1 1
 */
#define _GNU_SOURCE
#include "given_time.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 16 << 20, MOST = 20000 };

/* The program and the runtime's thread are on a processor each, if there are two: a thread lists the pages of its processor alone, and
 * one that moves before it does may leave some unlisted. */
static int stay_on_processors(void) {
  cpu_set_t all, program, thread;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&program);
  CPU_SET(sched_getcpu(), &program);
  CPU_XOR(&thread, &all, &program);
  if (CPU_COUNT(&thread) == 0)
    thread = program;
  int task = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *at; tasks && (at = readdir(tasks));)
    if (at->d_name[0] != '.' && atoi(at->d_name) != getpid())
      task = atoi(at->d_name);
  closedir(tasks);
  return task == 0 || sched_setaffinity(task, sizeof thread, &thread) || sched_setaffinity(0, sizeof program, &program);
}

int main(void) {
  if (stay_on_processors() != 0)
    return 2;
  static char *kept[MOST];
  char *volatile first = memset(malloc(FIRST), 1, FIRST); /* pages are looked at from some MiB on */
  for (int i = 0; i < MOST; i++) {
    kept[i] = strcpy(malloc(200), "a text");
    pass(MS / 10);
  }
  return first[0] - 1;
}
