/* The example of CERN openlab's report on MemProf (2016): four records, in this order, with these sizes and kinds; stacks
 * as deep as the calls. */
/* REQUIRES: traces
 * RUN: %clang -O0 -gmlt -fdebug-info-for-profiling %s -o %t && rm -f %t.trace*
 * RUN: not %hearth record --mode=trace -o %t.trace -- %t
 * RUN: %hearth trace %t.trace | grep -e '^malloc' -e '^free' > %t.events
 * RUN: FileCheck %s --check-prefix=EVENTS < %t.events
 * EVENTS: malloc 0x[[#%x,A:]] 8 thread 1 at {{[0-9]+ [0-9]+ [0-9]+}} stack {{[0-9]+}} frames [[#DEEP:]]
 * EVENTS-NEXT: malloc 0x[[#%x,B:]] 20 thread 1 at {{[0-9]+ [0-9]+ [0-9]+}} stack {{[0-9]+}} frames [[#DEEP-7]]
 * EVENTS-NEXT: free 0x[[#A]] 8 thread 1 at {{[0-9]+ [0-9]+ [0-9]+}} stack [[#%d,FIRST:]] frames [[#OUTER:DEEP-9]]
 * EVENTS-NEXT: free 0x[[#B]] 20 thread 1 at {{[0-9]+ [0-9]+ [0-9]+}} stack [[#%d,SECOND:FIRST+1]] frames [[#DEEP-9]]
 * EVENTS-NOT: {{.}}
 *
 * Times go on, within an event and from one to the next:
 * RUN: awk '{ for (i = 7; i <= 9; ++i) { if ($i < last) exit 1; last = $i } }' %t.events
 *
 * RUN: %trace_stat %t.trace | FileCheck %s --check-prefix=STAT
 * STAT: command {{.*}}trace-four
 * STAT: threads     1
 * STAT: events      4 in
 * STAT: dropped     0 events, 0 stacks, 0 damaged blocks
 * STAT: peak live   28 B (28 bytes) in 2 blocks
 * STAT: live at end 0 B (0 bytes) in 0 blocks
 * STAT: {{^}}malloc 2 28 B
 * STAT: {{^}}free 2 28 B
 *
 * It becomes a profile as the aggregate of a run does:
 * RUN: %hearth index -o %t.prof %t.trace && %hearth show %t.prof | FileCheck %s --check-prefix=SHOW
 * SHOW: allocated  28 B (28 bytes) by 2 allocations
 * SHOW: f8 ({{.*}}trace-four.c): 20 B in 1 context
 * SHOW: f1 ({{.*}}trace-four.c): 8 B in 1 context
 * SHOW: f1
 * SHOW-NEXT: f2
 * SHOW-NEXT: f3
 * SHOW-NEXT: f4
 * SHOW-NEXT: f5
 * SHOW-NEXT: f6
 * SHOW-NEXT: f7
 * SHOW-NEXT: f8
 * SHOW-NEXT: f9
 * SHOW-NEXT: main
 *
 * RUN: %replay %t.trace | FileCheck %s --check-prefix=REPLAY
 * REPLAY: operations     4
 * REPLAY: peak live      28 B (28 bytes)
 */
#include <stdlib.h>

static int *a, *b;

static void f1(void) { a = malloc(2 * sizeof *a); }
static void f2(void) { f1(); }
static void f3(void) { f2(); }
static void f4(void) { f3(); }
static void f5(void) { f4(); }
static void f6(void) { f5(); }
static void f7(void) { f6(); }
static void f8(void) {
  f7();
  b = malloc(5 * sizeof *b);
}
static void f9(void) { f8(); }

int main(void) {
  f9();
  free(a);
  free(b);
  return 1;
}
