/* REQUIRES: views
 * What was live over time, in all and by context: levels of equal parts of the run, which add up when runs are merged, in any order,
 * and go through text, shards and builds of several threads unchanged.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t && %clang -O1 -g -fno-builtin -I%tools %s -lpthread -rdynamic -o p
 * RUN: %hearth record -q -o raw -- ./p && %hearth index -q --symbols raw -o prof && %hearth show --text prof > text
 * RUN: %python %S/Inputs/levels.py text | FileCheck %s
 * The greatest, rounded to a 2048th, and then what is left; 'other' is of a thread that has ended.
 * CHECK: all: 3599{{[0-9]+}} then 600{{[0-9]+}}, peak at a third
 * CHECK-DAG: first: 999{{[0-9]+}} then 0
 * CHECK-DAG: most: 2999{{[0-9]+}} then 0
 * CHECK-DAG: other: 599{{[0-9]+}} then 599{{[0-9]+}}
 *
 * RUN: %hearth show prof | FileCheck %s --check-prefix=SHOWN
 * SHOWN: peak 3.4 MiB live, 86400{{[0-9.]+}} s from the start
 * SHOWN-NEXT: over time {{2+9+1+}} (most and
 * SHOWN-NEXT: {{2+9+1+}} least of each 40500.0 s, in tenths)
 *
 * RUN: %hearth index -q text -o again && cmp prof again
 * RUN: %hearth record -q -o raw2 -- ./p && %hearth index -q --symbols raw2 -o prof2
 * RUN: %hearth merge -q prof prof2 -o ab && %hearth merge -q prof2 prof -o ba && cmp ab ba && %hearth index -q --symbols raw raw2 -o both && cmp ab both
 * RUN: %hearth show --text ab | grep -c '^history runs=2 ' && %hearth merge -q --weight=3:prof -o three && %hearth show --text three | grep -c '^history runs=3 '
 *
 * RUN: %hearth show --json prof | %python -c 'import json, sys; d = json.load(sys.stdin); l = d["live_over_time"]; assert 0.33 < d["peak_ns"] / d["duration_ns"] < 0.34 and 0.33 < l.index(max(l)) / len(l) < 0.34 and 0.99 < max(l) / d["peak_bytes"] < 1.01'
 * RUN: %hearth show --json three | %python -c 'import json, sys; d = json.load(sys.stdin); assert 0.33 < 3 * d["peak_ns"] / d["duration_ns"] < 0.34 and 0.99 < max(d["live_over_time"]) / d["peak_bytes"] < 1.01'
 *
 * A history that its checksum does not save is refused, not believed.
 * RUN: for n in 255 257; do sed "s|^levels .*|levels$(printf ' 7%%.0s' $(seq $n))|" text > bad && not %hearth index -q bad -o none 2>&1 | grep bad: || exit 1; done
 *
 * Other viewers: massif's file, which ms_print reads, and the time of DHAT's maximum.
 * RUN: %hearth export --format=massif prof -o massif.out && ms_print --threshold=1 massif.out > printed && FileCheck %s --check-prefix=MASSIF < printed
 * MASSIF: 3.4
 * MASSIF: Detailed snapshots: [{{[0-9]+}} (peak)]
 * MASSIF: 100.00% (3,{{[0-9,]+}}B) (heap allocation functions)
 * MASSIF-NEXT: ->8{{.*}}most (
 * MASSIF: main (
 * MASSIF: ->16{{.*}}other (
 * RUN: awk '/^  frame most / { for (i = 0; i < 300000; i++) print } 1' text > deep && %hearth index -q --recursion=full deep -o deep.prof
 * RUN: %hearth export --format=massif deep.prof -o deep.out && grep -c ' most (' deep.out | FileCheck %s --check-prefix=DEEP
 * DEEP: {{^}}1000{{$}}
 * Perfetto's:
 * RUN: %hearth export --format=chrome prof -o counters.json && %python %S/Inputs/check_counters.py counters.json | FileCheck %s --check-prefix=CHROME
 * RUN: %hearth export --format=chrome ab -o two.json && %python %S/Inputs/check_counters.py two.json | FileCheck %s --check-prefix=CHROME
 * CHROME: all 3{{[56][0-9]+}} then 6{{[0-9]+}}
 * CHROME-NEXT: most 2999{{[0-9]+}} then 0
 * CHROME-NEXT: first 999{{[0-9]+}} then 0
 * CHROME-NEXT: other 599{{[0-9]+}} then 599{{[0-9]+}}
 * CHROME-NEXT: (others)
 * CHROME-NEXT: peak at a third
 * RUN: %hearth export --format=dhat prof | %python -c 'import json, sys; d = json.load(sys.stdin); assert 0.33 < d["tg"] / d["te"] < 0.34, (d["tg"], d["te"])'
 * RUN: %hearth merge -q --fields=AllocCount,TotalSize prof -o few; %hearth show --text few | sed '/levels/d; /^history/d' > none.txt && %hearth index -q none.txt -o none.prof && not %hearth export --format=massif none.prof 2>&1 | grep 'no history' && not %hearth export --format=chrome none.prof 2>&1 | grep 'no history'
 *
 * The file stays small.
 * RUN: test $(stat -c %%s raw) -lt 8000
 */
#include "given_days.h"

#include <pthread.h>
#include <stdlib.h>

static char *volatile blocks[3000];

__attribute__((noinline)) static void first(void) {
  for (int i = 0; i < 1000; i++)
    blocks[i] = malloc(1000);
}

__attribute__((noinline)) static void most(void) {
  for (int i = 0; i < 3000; i++)
    blocks[i] = malloc(1000);
}

__attribute__((noinline)) static void other(void) {
  for (int i = 0; i < 600; i++)
    *(char *volatile *)&blocks[0] = malloc(1000);
}

static void *work(void *unused) {
  other();
  return unused;
}

static void free_all(int count) {
  pass_days(10);
  for (int i = 0; i < count; i++)
    free(blocks[i]);
}

int main(void) {
  pthread_t thread;
  first();
  free_all(1000);
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  most();
  free_all(3000);
  pass_days(10);
  return 0;
}
