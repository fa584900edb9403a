/* HEARTH_MALLOC=stats=FILE: a line for each process that exits, with the numbers and names of `hearth top --json`, also
 * where no hinted call was made; the file is found after a change of the working directory, and one that cannot be
 * written is told of.
 *
 * REQUIRES: traces
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc_a -o %t
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc -Wl,-rpath,$(dirname %malloc) -o %t.shared
 * RUN: rm -f %t.stats && env HEARTH_MALLOC=stats=%t.stats %t "%hearth top --json" > %t.top
 * RUN: sed -i 's/,"huge_bytes":[0-9]\+//g' %t.top && cmp %t.top %t.stats && FileCheck %s --input-file=%t.stats
 * RUN: rm -f %t.stats && env HEARTH_MALLOC=stats=%t.stats %t.shared && FileCheck %s --input-file=%t.stats
 * RUN: cd $(dirname %t) && rm -f relative.stats && env HEARTH_MALLOC=cold=off:stats=relative.stats %t
 * RUN: FileCheck %s --check-prefix=OFF --input-file=$(dirname %t)/relative.stats
 * RUN: rm -f %t.none && env HEARTH_MALLOC=stats=%t.none %t none && FileCheck %s --check-prefix=NO-CALL --input-file=%t.none
 * RUN: rm -f %t.two && env HEARTH_MALLOC=stats=%t.two %t fork && FileCheck %s --check-prefix=TWO --input-file=%t.two
 * RUN: env HEARTH_MALLOC=stats=%t.absent/file %t 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
 *
 * CHECK: {"pid":{{[0-9]+}},"cold_below":64,"hot_from":223,"cold":{"on":true,"live_blocks":1003,"live_bytes":3257728,
 * CHECK-SAME: "committed_bytes":{{[0-9]+}},"resident_bytes":3{{[0-9]+}},"swap_bytes":0,"placed":1103,
 * CHECK-SAME: "fallbacks":0},"hot":{"on":true,"live_blocks":1,"live_bytes":112,{{.*}}},"main":{"on":true,{{.*}}},
 * CHECK-SAME: "pools":[{"pool":30,"live_blocks":1,"live_bytes":112,"placed":1}],"passed_on":7}
 * OFF: "cold_below":0,{{.*}}"cold":{"on":false,"live_blocks":0,{{.*}}"hot":{"on":true,{{.*}}"passed_on":1110}
 * NO-CALL: "cold":{"on":true,"live_blocks":0,{{.*}}"placed":0,"fallbacks":0},{{.*}}"passed_on":0}
 * TWO-COUNT-2: "live_blocks":1003
 * UNWRITABLE: hearth malloc: stats= cannot be written: {{.*}}.absent/file
 */
#undef NDEBUG
#include <assert.h>
#include <hearth/malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void allocate(void) {
  for (int i = 0; i < 1000; i++)
    memset(malloc_hot_cold(100, 0), 1, 100);
  for (int i = 0; i < 100; i++)
    free(malloc_hot_cold(100, 0));
  for (int i = 0; i < 3; i++)
    memset(malloc_hot_cold(1 << 20, 0), 1, 1 << 20);
  malloc_hot_cold(100, 253);
  for (int i = 0; i < 7; i++)
    malloc_hot_cold(100, 128);
}

/* As the last of the program's own functions, so that nothing changes after it. */
static const char *command;
static void look(void) {
  char text[1000];
  snprintf(text, sizeof text, "%s %d", command, (int)getpid());
  assert(!system(text));
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "none"))
    return 0;
  allocate();
  assert(!chdir("/"));
  if (argc > 1 && !strcmp(argv[1], "fork")) {
    int status;
    if (fork() > 0)
      assert(wait(&status) > 0 && !status);
  } else if (argc > 1) {
    command = argv[1];
    atexit(look);
  }
  return 0;
}
