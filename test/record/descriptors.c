/* A recorded program gets the descriptors that it gets without, also after it has closed all that it does not know. A trace
 * is not appended to another file that got its name meanwhile. */
/* REQUIRES: traces
 * RUN: %clang -O1 -fno-builtin %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: for mode in aggregate trace live; do %hearth record -q --mode=$mode -o $mode -- %t | FileCheck %s || exit 1; done
 * CHECK: first 3
 * CHECK-NEXT: closed 3
 * CHECK-NEXT: later 4
 * RUN: %trace_stat trace | FileCheck %s --check-prefix=STAT
 * STAT: malloc 1200{{[0-9][0-9]}} 
 *
 * RUN: %hearth record -q --mode=trace -o taken -- %t taken 2>&1 | FileCheck %s --check-prefix=TAKEN
 * TAKEN: hearth: the trace {{.*}}/taken ends early: Stale file handle
 * RUN: count 0 < taken && %trace_stat taken.old
 * RUN: %hearth record -q --mode=trace -o pipe -- %t pipe 2>&1 | FileCheck %s --check-prefix=PIPE
 * PIPE: hearth: the trace {{.*}}/pipe ends early: {{.}}
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int number(void) { return open("/dev/null", O_RDONLY); }

static void work(int count) {
  for (int i = 0; i < count; i++)
    free(malloc(100));
}

static int take_name(const char *name) {
  char old[64];

  snprintf(old, sizeof old, "%s.old", name);
  if (rename(name, old) != 0)
    return 1;
  return strcmp(name, "pipe") == 0 ? mkfifo(name, 0600) : creat(name, 0600) < 0;
}

int main(int argc, char **argv) {
  dprintf(1, "first %d\n", number());
  work(20000);
  int failed = argc > 1 && take_name(argv[1]);
  closefrom(3);
  work(50000);
  dprintf(1, "closed %d\n", number());
  work(50000);
  dprintf(1, "later %d\n", number());
  return failed;
}
