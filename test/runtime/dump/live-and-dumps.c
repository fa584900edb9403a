/* Blocks that are live are in every dump and never counted twice; a reset forgets freed blocks only; the file is always
 * one complete profile.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir elsewhere && %t
 * RUN: python3 %S/../Inputs/raw_print.py first AllocCount MaxSize MaxAccessCount LiveAtExit | FileCheck %s --check-prefix=FIRST
 * RUN: python3 %S/../Inputs/raw_print.py second AllocCount MaxSize MaxAccessCount LiveAtExit | FileCheck %s --check-prefix=SECOND
 * RUN: python3 %S/../Inputs/raw_print.py memprof.profraw.* AllocCount MaxSize MaxAccessCount LiveAtExit | FileCheck %s --check-prefix=LAST
 * No temporary file is left, and none in the directory that the program changed to.
 * RUN: ls . elsewhere | FileCheck %s --check-prefix=FILES
 * RUN: cd %t.dir && rm memprof.* && HEARTH_OPTIONS=dump_at_exit=0 %t && not ls memprof.*
 *
 * FIRST: AllocCount=4 MaxSize=111 MaxAccessCount=1 LiveAtExit=1
 * FIRST-NOT: MaxSize=222
 * SECOND: AllocCount=4 MaxSize=111 MaxAccessCount=1 LiveAtExit=1
 * SECOND: AllocCount=3 MaxSize=222 MaxAccessCount=1 LiveAtExit=0
 * LAST: AllocCount=1 MaxSize=111 MaxAccessCount=1 LiveAtExit=0
 * LAST-NOT: MaxSize=222
 * LAST: AllocCount=1 MaxSize=333 MaxAccessCount=1 LiveAtExit=1
 *
 * FILES: elsewhere
 * FILES-NEXT: first
 * FILES-NEXT: memprof.profraw.live-and-dumps.c.tmp.{{[0-9]+[.][0-9]+$}}
 * FILES-NEXT: second
 * FILES-EMPTY:
 * FILES-NEXT: elsewhere:
 * FILES-NOT: {{.}}
 */
#include "hearth/rt.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile char *make(size_t size) {
  volatile char *block = malloc(size);

  block[0] = 1;
  return block;
}

static int dump(const char *name) {
  glob_t written;

  if (__memprof_profile_dump() != 0 || glob("memprof.profraw.live-and-dumps.c.tmp.*", 0, NULL, &written) != 0)
    return 1;
  int failed = written.gl_pathc != 1 || rename(written.gl_pathv[0], name) != 0;
  globfree(&written);
  return failed;
}

volatile char *kept;

int main(void) {
  volatile char *one = NULL;
  for (int i = 0; i < 4; ++i) {
    free((void *)one);
    one = make(111);
  }
  int failed = dump("first");
  for (int i = 0; i < 3; ++i)
    free((void *)make(222));
  failed += dump("second");
  __memprof_profile_reset();
  free((void *)one);
  kept = make(333);
  failed += chdir("elsewhere"); /* the profile goes to the directory where the program was started */
  return failed;
}
