/* However a program ends, what it did is in its trace; of one that is killed, all that was written before. Threads and
 * forked children have their own. */
/* REQUIRES: traces
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: for how in exit leave abort segv term exec quick; do \
 * RUN:   %hearth record --mode=trace -o $how -- %t $how > /dev/null 2>&1; %trace_stat $how | grep -e '^malloc' -e '^dropped'; \
 * RUN: done | FileCheck %s
 * CHECK-COUNT-7: {{^}}malloc               10000     11.8 MiB
 *
 * RUN: bash -c '%hearth record --mode=trace -o kill -- %t kill; echo $?' 2>/dev/null | FileCheck %s --check-prefix=KILL
 * KILL: 137
 * RUN: %trace_stat kill | FileCheck %s --check-prefix=KILLED
 * KILLED: duration {{.*}}; the end is not in the trace
 * KILLED: events      {{16384|20000}}
 * Cut anywhere, it is a prefix:
 * RUN: head -c -100 exit > cut && %trace_stat cut | FileCheck %s --check-prefix=CUT
 * CUT: dropped     0 events, 0 stacks, 0 damaged blocks; the file ends within a block
 *
 * RUN: %hearth record --mode=trace -o threads -- %t threads && %trace_stat threads | FileCheck %s --check-prefix=THREADS
 * THREADS: threads     {{[5-9]}}
 * THREADS: {{^}}malloc               40{{...}}
 *
 * RUN: %hearth record --mode=trace --follow-children -o fork -- %t fork
 * RUN: %trace_stat fork | grep '^malloc' | FileCheck %s --check-prefix=PARENT
 * RUN: %trace_stat fork.* | grep '^malloc' | FileCheck %s --check-prefix=CHILD
 * PARENT: malloc               20000
 * CHILD: malloc                5000
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(int count) {
  for (int i = 0; i < count; ++i) {
    void *volatile block = malloc(1234);
    free(block);
  }
}

static void *work_thread(void *unused) {
  work(10000);
  return unused;
}

static void run_threads(void) {
  pthread_t threads[4];

  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, work_thread, NULL);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
}

static void run_child(void) {
  if (fork() == 0) {
    work(5000);
    _exit(0);
  }
  wait(NULL);
  work(10000);
}

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";

  if (strcmp(how, "threads") == 0) {
    run_threads();
    return 0;
  }
  work(10000);
  if (strcmp(how, "leave") == 0)
    _exit(0);
  if (strcmp(how, "abort") == 0)
    abort();
  if (strcmp(how, "segv") == 0)
    *(volatile int *)0 = 0;
  if (strcmp(how, "term") == 0)
    raise(SIGTERM);
  if (strcmp(how, "kill") == 0)
    raise(SIGKILL);
  if (strcmp(how, "exec") == 0)
    execl("/bin/true", "true", (char *)NULL);
  if (strcmp(how, "quick") == 0)
    quick_exit(0);
  if (strcmp(how, "fork") == 0)
    run_child();
  return 0;
}
