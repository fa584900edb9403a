/* What 'go tool pprof' makes of a heap dump: what is live, nothing of what was freed.
 *
 * REQUIRES: go, traces, views
 * RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-builtin %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: %hearth record -q --mode=live -o dump -- %t && %hearth index -q dump.1 -o prof && %hearth export --format=pprof --value=live prof -o pprof
 * RUN: env HOME=%t.d go tool pprof -top -sample_index=inuse_space -unit=B pprof | FileCheck %s
 * CHECK: Type: inuse_space
 * CHECK: 100000B 100% 100% 100000B 100% keep
 * CHECK: 0 0% 100% 100000B 100% main
 * CHECK-NOT: drop
 * RUN: env HOME=%t.d go tool pprof -traces -sample_index=inuse_objects pprof | FileCheck %s --check-prefix=TRACES
 * TRACES: 100 keep
 * TRACES-NEXT: main
 */
#include <stdlib.h>

static void *kept[100];

__attribute__((noinline)) static void keep(void) {
  for (int i = 0; i < 100; ++i)
    kept[i] = malloc(1000);
}

__attribute__((noinline)) static void drop(void) {
  for (int i = 0; i < 100; ++i)
    free(malloc(2000));
}

int main(void) {
  keep();
  drop();
  return kept[99] == NULL;
}
