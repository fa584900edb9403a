/* A running program writes its profile when `hearth dump` or the plain signal asks for it, and goes on undisturbed; live
 * blocks are in each profile once.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof.*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t %hearth | FileCheck %s
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.first AllocCount MaxSize LiveAtExit | FileCheck %s --check-prefix=FIRST
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.second AllocCount MaxSize LiveAtExit | FileCheck %s --check-prefix=SECOND
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.[0-9]* AllocCount MaxSize LiveAtExit | FileCheck %s --check-prefix=LAST
 *
 * Another process must not be killed by asking it.
 * RUN: sleep 100 & not %hearth dump $! 2>&1 | FileCheck %s --check-prefix=OTHER; kill %%
 * RUN: not %hearth dump 2147483647 2>&1 | FileCheck %s --check-prefix=NONE
 * RUN: not %hearth dump x 2>&1 | FileCheck %s --check-prefix=WRONG
 *
 * CHECK: {{[0-9]+}}: profile written
 * FIRST: AllocCount=10 MaxSize=111 LiveAtExit=1
 * FIRST-NOT: MaxSize=222
 * SECOND: AllocCount=20 MaxSize=111 LiveAtExit=1
 * LAST: AllocCount=20 MaxSize=111 LiveAtExit=1
 * LAST: AllocCount=1 MaxSize=222
 * OTHER: error: {{[0-9]+}}: does not handle signal 61
 * NONE: error: 2147483647: no such process
 * WRONG: error: 'x' is not a process id
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *volatile kept;

__attribute__((noinline)) static void allocate(void) {
  for (int i = 0; i < 10; ++i) {
    free(kept);
    kept = malloc(111);
  }
}

static int rename_profile(const char *self, const char *name) {
  char from[4096], to[4096];

  snprintf(from, sizeof from, "%s.prof.%d", self, (int)getpid());
  snprintf(to, sizeof to, "%s.prof.%s", self, name);
  return rename(from, to);
}

int main(int argc, char **argv) {
  char command[4096];
  int failed = argc != 2;

  for (int round = 0; round < 2; ++round) {
    allocate();
    if (round == 0) {
      snprintf(command, sizeof command, "%s dump %d", argv[1], (int)getpid());
      failed += system(command);
    } else {
      failed += kill(getpid(), 61);
    }
    failed += rename_profile(argv[0], round == 0 ? "first" : "second");
  }
  free(malloc(222));
  return failed;
}
