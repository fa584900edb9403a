/* `hearth top` reads the counters of a running program: archive and shared object, stripped too, with threads that hold
 * blocks back, one range switched off; it says what a process lacks. hearth_malloc_stats says the same from inside.
 *
 * REQUIRES: traces
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc_a -s -o %t -pthread
 * RUN: %t "%hearth top" | FileCheck %s --check-prefix=TEXT
 * RUN: %t "%hearth top --json" > %t.json && FileCheck %s --check-prefix=JSON < %t.json
 * RUN: python3 -c 'import json, sys; [json.loads(l) for l in open(sys.argv[1]) if l[0] == "{"]' %t.json
 * RUN: env HEARTH_MALLOC=cold=off %t "%hearth top" | FileCheck %s --check-prefix=OFF
 * RUN: env HEARTH_MALLOC=cold=file:dir=. %t "%hearth top --json" | FileCheck %s --check-prefix=JSON
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc -Wl,-rpath,$(dirname %malloc) -o %t.shared -pthread
 * RUN: %t.shared "%hearth top --json" | FileCheck %s --check-prefix=JSON
 * RUN: not %hearth top $$ 2>&1 | FileCheck %s --check-prefix=NONE
 * RUN: not %hearth top 2147483647 2>&1 | FileCheck %s --check-prefix=GONE
 * RUN: (%hearth top 2> %t.err; test $? = 2) && grep "no process was given" %t.err
 * RUN: (%hearth top x 2> %t.err; test $? = 2) && grep "'x' is not a process id" %t.err
 *
 * TEXT: cold below 64, hot from 223; 7 hints passed on
 * TEXT-NEXT: KiB live blocks live committed resident huge swap placed elsewhere
 * TEXT-NEXT: cold 1003 {{[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+}} {{[0-9.]+}} 1103 0
 * TEXT-NEXT: hot 4 3.3 {{.*}} 5 0
 * TEXT-NEXT: main {{[0-9]+}} {{.*}}
 * TEXT-NEXT: pool 5 3 3.2 4
 * TEXT-NEXT: pool 30 1 0.1 1
 * TEXT: cold: 1003 blocks, 1103 placed, 0 fallbacks; passed on 7
 * TEXT: resident: 3 MiB and less than 1 MiB more
 * JSON: {"pid":{{[0-9]+}},"cold_below":64,"hot_from":223,"cold":{"on":true,"live_blocks":1003,"live_bytes":3257728,
 * JSON-SAME: "placed":1103,"fallbacks":0,"huge_bytes":0},"hot":{"on":true,"live_blocks":4,"live_bytes":3408,
 * JSON-SAME: "placed":5,"fallbacks":0,"huge_bytes":{{[0-9]+}}},"main":{"on":true,"live_blocks":{{[0-9]+}},
 * JSON-SAME: "pools":[{"pool":5,"live_blocks":3,"live_bytes":3296,"placed":4},{"pool":30,"live_blocks":1,"live_bytes":112,"placed":1}],"passed_on":7}
 * OFF: cold below 0, hot from 223; 1110 hints passed on
 * OFF: cold off
 * OFF: hot 4
 * NONE: error: {{[0-9]+}}: does not use Hearth's allocator, or free is not its own
 * GONE: error: 2147483647: no such process
 */
#undef NDEBUG
#include <assert.h>
#include <hearth/malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t done, seen;

/* Its bin is full while the program is looked at. */
static void *hold_back(void *unused) {
  void *blocks[100];
  for (int i = 0; i < 100; i++)
    blocks[i] = malloc_hot_cold(100, 0);
  for (int i = 0; i < 100; i++)
    free(blocks[i]);
  pthread_barrier_wait(&done);
  pthread_barrier_wait(&seen);
  return unused;
}

static void print_stats(void) {
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  printf("cold: %d blocks, %d placed, %d fallbacks; passed on %d\n", (int)stats.cold.live_blocks,
         (int)stats.cold.placed, (int)stats.cold.fallbacks, (int)stats.passed_on);
  uint64_t more = stats.cold.resident_bytes - (3 << 20);
  printf("resident: 3 MiB and %s more\n", more < 1 << 20 ? "less than 1 MiB" : "much");
}

int main(int argc, char **argv) {
  pthread_t thread;
  char command[1000];
  assert(argc == 2);
  for (int i = 0; i < 1000; i++)
    memset(malloc_hot_cold(100, 0), 1, 100);
  for (int i = 0; i < 3; i++)
    memset(malloc_hot_cold(1 << 20, 0), 1, 1 << 20);
  malloc_hot_cold(100, 253);
  malloc_hot_cold(100, 223 + 5);
  malloc_hot_cold(100, 223 + 5);
  malloc_hot_cold(3000, 223 + 5);
  free(malloc_hot_cold(3000, 223 + 5));
  for (int i = 0; i < 7; i++)
    malloc_hot_cold(100, 128);
  assert(!pthread_barrier_init(&done, NULL, 2) && !pthread_barrier_init(&seen, NULL, 2));
  assert(!pthread_create(&thread, NULL, hold_back, NULL));
  pthread_barrier_wait(&done);
  snprintf(command, sizeof command, "%s %d", argv[1], (int)getpid());
  int status = system(command);
  print_stats();
  pthread_barrier_wait(&seen);
  pthread_join(thread, NULL);
  return status != 0;
}
