/* Accesses to each 8 bytes of blocks, counted by Hearth's instrumentation: of blocks that are freed, live, resized, written
 * by library functions, and more than are kept. Counters stay at 255.
 *
 * RUN: %clang -O1 $(%hearth flags instrument --clang=%clang) -fno-builtin -mllvm -memprof-histogram %s -o %t
 * RUN: %S/../Inputs/histograms.sh %hearth %t > %t.txt && FileCheck %s < %t.txt
 * RUN: %S/../Inputs/histograms.sh %hearth %t format=llvm > %t.txt && FileCheck %s < %t.txt
 * RUN: %S/../Inputs/histograms.sh %hearth %t histogram_size=4 > %t.txt && FileCheck %s --check-prefix=CUT < %t.txt
 * RUN: %hearth merge %t.ix --format=llvm -o %t.llvm 2>&1 | FileCheck %s --check-prefix=LOSS
 * RUN: %hearth show --json %t.ix | FileCheck %s --check-prefix=JSON
 * RUN: %clang -O1 $(%hearth flags instrument --clang=%clang) -fno-builtin -mllvm -memprof-histogram \
 * RUN:   -mllvm -memprof-atomic -mllvm -memprof-coalesce=off %s -o %t
 * RUN: %S/../Inputs/histograms.sh %hearth %t > %t.txt && FileCheck %s < %t.txt
 *
 * CHECK: {{^}}array 1000:{{( 8){125}$}}
 * CHECK-NEXT: {{^}}copy 13: 1 1 1 1 1 1 1 1 1 1 1 1 1{{$}}
 * CHECK-NEXT: {{^}}kept 3: 0 0 3{{$}}
 * CHECK-NEXT: {{^}}mixed 98: 21 7 0 0 0 0 0 0 70{{$}}
 * CHECK-NEXT: {{^}}often 255: 0 255{{$}}
 * CHECK-NEXT: {{^}}original 26: 2 2 2 2 2 2 2 2 2 2 2 2 2{{$}}
 * CHECK-NEXT: {{^}}resized 10: 0 0 10{{$}}
 * CUT: {{^}}array 1000: 8 8 8 8{{$}}
 * LOSS: histograms of accesses are left out
 * JSON: "histogram":[8,8,8,8]
 */
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

struct mixed {
  long first, second;
  char unused[48];
  long last;
  char end[3];
};

NOINLINE static volatile struct mixed *mixed(void) { return malloc(sizeof(struct mixed)); }
NOINLINE static volatile char *array(void) { return malloc(1000); }
NOINLINE static volatile long *often(void) { return malloc(16); }
NOINLINE static volatile long *kept(void) { return malloc(48); }
NOINLINE static volatile long *resized(void *old) { return realloc(old, 40); }
NOINLINE static char *original(void) { return malloc(100); }
NOINLINE static char *copy(void) { return malloc(100); }

volatile long *volatile live;

static void write_mixed(void) {
  volatile struct mixed *m = mixed();
  m->first = 1;
  m->first = 2;
  m->second = m->first;
  for (int i = 0; i < 10; ++i)
    m->last = i;
  free((void *)m);
}

int main(void) {
  for (int i = 0; i < 7; ++i)
    write_mixed();
  volatile char *a = array();
  for (int i = 0; i < 1000; ++i)
    a[i] = 1;
  free((void *)a);
  volatile long *o = often();
  for (int i = 0; i < 1000; ++i)
    o[1] = i;
  free((void *)o);
  live = kept();
  for (int i = 0; i < 3; ++i)
    live[2] = i;
  volatile long *r = resized(malloc(24));
  for (int i = 0; i < 5; ++i)
    r[2] += i;
  free((void *)r);
  char *from = original(), *to = copy();
  memset(from, 1, 100);
  memcpy(to, from, 100);
  free(from);
  free(to);
  return 0;
}
