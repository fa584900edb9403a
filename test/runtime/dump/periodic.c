/* With dump_interval, profiles are written while the program runs: one survives a kill that no program can handle.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:dump_interval=0.25 not --crash %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize LiveAtExit | FileCheck %s
 *
 * CHECK: AllocCount=1 MaxSize=111 LiveAtExit=1
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

static void *volatile kept;

int main(void) {
  time_t end = time(NULL) + 2;

  kept = malloc(111);
  while (time(NULL) < end)
    free(malloc(222));
  raise(SIGKILL);
  return 0;
}
