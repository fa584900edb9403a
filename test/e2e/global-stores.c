/* With -memprof-global-stores, the stores to global variables count apart from loads: by instructions exactly, by memset and
 * library functions that may write one a call. A run whose stores were not counted takes the number away.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -g %s $(%hearth flags instrument --globals) -mllvm -memprof-global-stores -o program
 * RUN: HEARTH_OPTIONS=log_path=raw ./program some && %hearth index -q raw.* -o p.prof 2> messages && %hearth show --text p.prof > p.txt && FileCheck %s < p.txt
 * CHECK-DAG: global written {{.*}} size=400 accesses=1030 touched_lines={{[1-7]}} stores=1000
 * CHECK-DAG: global only_read {{.*}} accesses=30 touched_lines=1 stores=0
 * CHECK-DAG: global set_whole {{.*}} accesses=128 touched_lines=16 stores=1
 * CHECK-DAG: global scanned {{.*}} accesses=1 touched_lines=1 stores=1
 * CHECK-DAG: global table {{.*}} accesses=30 touched_lines=1 stores=0
 * CHECK-DAG: global untouched {{.*}} accesses=0 touched_lines=0 stores=0
 *
 * RUN: %hearth merge -q p.txt -o back.prof && cmp p.prof back.prof
 * RUN: %hearth merge -q --weight=2:p.prof -o twice.prof && %hearth show --text twice.prof | FileCheck %s --check-prefix=TWICE
 * TWICE: global written {{.*}} stores=2000
 * RUN: %clang -O1 -g %s $(%hearth flags instrument --globals) -o without
 * RUN: HEARTH_OPTIONS=log_path=none ./without some && %hearth index -q none.* -o none.prof 2> messages
 * RUN: %hearth merge -q none.prof p.prof -o both.prof && %hearth merge -q both.prof p.prof -o both2.prof
 * RUN: %hearth merge -q --weight=2:p.prof none.prof -o both3.prof && cmp both2.prof both3.prof
 * RUN: %hearth show --text both2.prof | FileCheck %s --check-prefix=BOTH --implicit-check-not=stores=
 * BOTH: global written {{.*}} accesses=3090
 *
 * RUN: HEARTH_OPTIONS=log_path=forked.%%p ./program fork > pid && %hearth index -q forked.$(cat pid) -o forked.prof 2> messages
 * RUN: %hearth show --text forked.prof | FileCheck %s --check-prefix=CHILD
 * CHILD-DAG: global written {{.*}} accesses=7 touched_lines=1 stores=7
 */
#include <stdlib.h>
#include <string.h>

#include "Inputs/forked.h"

volatile int written[100];
volatile int only_read = 1;
char set_whole[1024];
int scanned;
static const volatile int table[8] = {1, 2, 3};
char untouched[2000];
static void *volatile kept;
static volatile int zero;

__attribute__((noinline)) static void touch(void) {
  for (int i = 0; i < 1000; i++)
    written[i % 100] = i;
  for (int i = 0; i < 30; i++)
    (void)(written[i] + only_read + table[i % 8]);
  memset(set_whole, zero, sizeof set_whole);
  sscanf("12", "%d", &scanned);
}

__attribute__((noinline)) static void touch_again(void) {
  for (int i = 0; i < 7; i++)
    written[3] = i;
  kept = malloc(10);
}

int main(int argc, char **argv) {
  if (argc < 2)
    return untouched[argc] + set_whole[argc] + scanned;
  touch();
  kept = malloc(100);
  if (strcmp(argv[1], "fork") == 0)
    return touch_in_child(touch_again);
  return 0;
}
