/* Memory that only code without counters uses is not cold: its pages were seen in use, so its class is unknown. What nobody uses is
 * cold, by both witnesses. */
/* RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -DLIBRARY -c %s -o library.o
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O1 -gmlt -fdebug-info-for-profiling %s library.o -Wl,--build-id %rt -lpthread \
 * RUN:   -o app
 * RUN: HEARTH_OPTIONS=log_path=raw ./app
 * RUN: %hearth index -q raw.* -o prof && %hearth show prof | FileCheck %s
 * CHECK-DAG: {{^ *}}cold: 40000 allocations{{.*}}
 * CHECK-DAG: {{^ *}}unknown: 30000 allocations{{.*}}
 * CHECK-DAG: accessed by code without counters: its pages are in use
 * CHECK-DAG: {{^ *}}hot: 1 allocation{{.*}}
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RESTING = 40000, USED = 30000, BYTES = 256, MS = 1000000, RUN_MS = 1500 };

#ifdef LIBRARY
static char *blocks[USED];
static int count;

void library_keep(char **block) { blocks[count++] = *block; }

int library_use(void) {
  static unsigned random = 1;
  int sum = 0;
  for (int i = 0; i < 1000; i++) {
    random = random * 1664525 + 1013904223;
    sum += blocks[(random >> 8) % USED][8]++;
  }
  return sum;
}
#else
void library_keep(char **block);
int library_use(void);

static char *resting[RESTING];

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / MS;
}

__attribute__((noinline)) static char *make_used(void) { return malloc(BYTES); }

__attribute__((noinline)) static char *make_resting(void) { return malloc(BYTES); }

int main(void) {
  int sum = 0;
  double end = now_ms() + RUN_MS;
  volatile int *counted = malloc(64 * sizeof *counted);

  for (int i = 0; i < RESTING; i++)
    memset(resting[i] = make_resting(), 1, BYTES);
  for (int i = 0; i < USED; i++) {
    char *block = make_used();
    memset(block, 1, BYTES);
    library_keep(&block);
  }
  while (now_ms() < end)
    for (int i = library_use() & 1; i < 1000; i++)
      sum += counted[i % 64]++;
  return sum == 1;
}
#endif
