/* Memory that only code without counters uses is not cold: its pages were seen in use, so its class is unknown. What nobody uses is
 * cold, by both witnesses. */
/* RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -DLIBRARY -c %s -o library.o
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O1 -gmlt -fdebug-info-for-profiling %s library.o -Wl,--build-id %rt -lpthread \
 * RUN:   %given_time -o app
 * RUN: HEARTH_OPTIONS=log_path=raw ./app
 * RUN: %hearth index -q raw.* -o prof && %hearth show prof | FileCheck %s
 * CHECK-DAG: {{^ *}}cold: 40000 allocations{{.*}}
 * CHECK-DAG: {{^ *}}unknown: 30000 allocations{{.*}}
 * CHECK-DAG: accessed by code without counters: its pages are in use
 * CHECK-DAG: {{^ *}}hot: 1 allocation{{.*}}
 */
#include <stdlib.h>
#include <string.h>

enum { RESTING = 40000, USED = 30000, BYTES = 256, RUN_MS = 1500, USES_OF_MS = 4000, COUNTED_OF_MS = 40000 };

#ifdef LIBRARY
static char *blocks[USED];
static int count;

void library_keep(char **block) { blocks[count++] = *block; }

int library_use(void) {
  static unsigned random = 1;
  int sum = 0;
  for (int i = 0; i < USES_OF_MS; i++) {
    random = random * 1664525 + 1013904223;
    sum += blocks[(random >> 8) % USED][8]++;
  }
  return sum;
}
#else
#include "given_time.h"

void library_keep(char **block);
int library_use(void);

static char *resting[RESTING];

__attribute__((noinline)) static char *make_used(void) { return malloc(BYTES); }

__attribute__((noinline)) static char *make_resting(void) { return malloc(BYTES); }

int main(void) {
  int sum = 0;
  volatile int *counted = malloc(64 * sizeof *counted);

  for (int i = 0; i < RESTING; i++, pass(MS / 1000))
    memset(resting[i] = make_resting(), 1, BYTES);
  for (int i = 0; i < USED; i++, pass(MS / 1000)) {
    char *block = make_used();
    memset(block, 1, BYTES);
    library_keep(&block);
  }
  for (int ms = 0; ms < RUN_MS; ms++, pass(MS))
    for (int i = library_use() & 1; i < COUNTED_OF_MS; i++)
      sum += counted[i % 64]++;
  return sum == 1;
}
#endif
