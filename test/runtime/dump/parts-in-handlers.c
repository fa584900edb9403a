/* A program's handler that asks for a part may have interrupted a thread that is just recording a block. Then there is
 * none, and its records go into the next one: each block is in one part, with its own size.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:parts=1 %t > %t.blocks 2> %t.err
 * RUN: %hearth index -q %t.prof.* -o %t.heap && %hearth show --text %t.heap > %t.txt
 * RUN: awk '$1 == "AllocCount" { blocks += $2 } $1 == "TotalSize" { bytes += $2 } \
 * RUN:   END { printf "%%d blocks, %%d bytes\n", blocks, bytes }' %t.txt | diff %t.blocks -
 * RUN: FileCheck %s < %t.err
 * CHECK: hearth: cannot write {{.*}}.part{{[0-9]+}}: Resource temporarily unavailable
 */
#include "hearth/rt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define TIMES 100

static volatile sig_atomic_t asked;

static void ask(int signal) {
  (void)signal;
  __memprof_profile_dump();
  ++asked;
}

int main(void) {
  const struct itimerval soon = {.it_value = {0, 50}}; /* once: the loop goes on between two of them */
  long blocks = 0;
  char text[64];

  signal(SIGALRM, ask);
  for (int begun = 0; asked < TIMES; ++blocks) {
    if (begun == asked) {
      ++begun;
      setitimer(ITIMER_REAL, &soon, NULL);
    }
    free(malloc(100));
  }
  size_t size = (size_t)snprintf(text, sizeof text, "%ld blocks, %ld bytes\n", blocks, 100 * blocks);
  return write(1, text, size) != (ssize_t)size; /* a stream would allocate */
}
