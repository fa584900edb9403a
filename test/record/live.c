/* Heap dumps of a program as it is: on request, at the peak and at the end; by context, type and allocator, exact.
 *
 * REQUIRES: traces
 * RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-builtin -I%include %s -lpthread -o %t
 * RUN: rm -rf %t.d && mkdir %t.d && cd %t.d && %hearth record --mode=live -o dump -- %t && ls | FileCheck %s --check-prefix=FILES
 * FILES: {{^}}dump.1{{$}}
 * FILES-NEXT: {{^}}dump.2{{$}}
 * FILES-NEXT: {{^}}dump.peak{{$}}
 * FILES-NOT: {{.}}
 *
 * RUN: cd %t.d && %hearth heap --dump=dump.1 --limit=0 dump.* > first.txt && FileCheck %s --check-prefix=FIRST < first.txt
 * What is live when asked for: 100 blocks of 1,000 bytes, 10 of 16 bytes and 5 of 24 from one place, of two types.
 * FIRST: 1 request {{.*}} 97.9 KiB in 115 blocks, profiler {{.*}} dump.1
 * FIRST: 2 peak {{.*}} blocks, profiler {{.*}} dump.peak
 * FIRST: 3 exit {{.*}} 40.2 KiB in 44 blocks, profiler {{.*}} dump.2
 * FIRST: Live in dump.1:
 * FIRST: (100000 bytes) in 100 blocks{{$}}
 * FIRST-NEXT: keep {{ *}}live.c:
 * FIRST-NEXT: main {{ *}}live.c:
 * FIRST: (160 bytes) in 10 blocks of type small from pool{{$}}
 * FIRST-NEXT: hearth_allocator_allocated
 * FIRST-NEXT: take {{ *}}live.c:
 * FIRST: (120 bytes) in 5 blocks of type large from pool{{$}}
 * FIRST-NOT: bytes)
 *
 * The C library has 288 bytes for each thread. At the peak there were 5,000,000 bytes more, by four threads; what was dumped is less by a few steps.
 * RUN: cd %t.d && %hearth index -q --symbols dump.peak -o top.prof && %hearth show --text top.prof | \
 * RUN:   awk '/^  TotalSize/ { sum += $NF } END { print (sum > 4900000 && sum <= 5101432 ? "near" : sum) }' | FileCheck %s --check-prefix=PEAK
 * PEAK: near
 *
 * For other tools: each dump is one event, and the sums are those of the entries.
 * RUN: cd %t.d && %hearth heap --format=chrome dump.* -o dump.json && \
 * RUN:   python3 %S/Inputs/check_chrome.py dump.json > chrome.txt && FileCheck %s --check-prefix=CHROME < chrome.txt
 * CHROME: explicitly_triggered malloc 100000 100 pool 280 15
 * CHROME-NEXT: peak_memory_usage malloc {{(49|50|51)[0-9]+}}
 * CHROME-NEXT: explicitly_triggered malloc 41152 44
 * RUN: cd %t.d && grep -c . chrome.txt | FileCheck %s --check-prefix=COUNT
 * COUNT: {{^}}3
 *
 * As a profile, its blocks are those that were live; without the runtime's own memory.
 * RUN: cd %t.d && %hearth index --symbols dump.1 -o x.prof 2>&1 | FileCheck %s --check-prefix=INDEX
 * INDEX: warning: dump.1: a heap dump: only the blocks that were live at its moment are counted
 * RUN: cd %t.d && %hearth show x.prof | FileCheck %s --check-prefix=MOMENT --implicit-check-not=hearth:profiler
 * MOMENT: allocated 97.9 KiB (100280 bytes) by 115 allocations
 * MOMENT-NEXT: at exit 97.9 KiB live
 * RUN: cd %t.d && %hearth index -q --symbols dump.peak -o peak.prof && %hearth show --peak peak.prof | FileCheck %s --check-prefix=AT-PEAK
 * AT-PEAK: grow
 * AT-PEAK: {{19[3-9]|200}} at the peak with 4.{{[678]}} MiB
 * RUN: cd %t.d && %hearth report dump.peak -o peak.html 2>&1 | FileCheck %s --check-prefix=INDEX-PEAK && grep -c '<html' peak.html
 * INDEX-PEAK: warning: dump.peak: a heap dump
 * RUN: cd %t.d && not %hearth report --base=x dump.peak -o none.html 2>&1 | grep 'is a heap dump'
 *
 * Profiles are no dumps; damage is an error.
 * RUN: cd %t.d && %hearth record -o prof -- %t && not %hearth heap prof 2>&1 | FileCheck %s --check-prefix=PROFILE
 * PROFILE: prof: not a heap dump: it is a raw profile: use 'hearth index'
 * RUN: cd %t.d && head -c 300 dump.1 > cut && not %hearth heap cut 2>&1 | FileCheck %s --check-prefix=CUT
 * CUT: cut: offset 300: the file ends before the profile does
 * RUN: cd %t.d && not %hearth heap --dump=9 dump.1 2>&1 | FileCheck %s --check-prefix=NONE
 * NONE: there is no heap dump '9' among those given
 * RUN: not %hearth record --period=1 -- true 2>&1 | FileCheck %s --check-prefix=PERIOD
 * PERIOD: --period and --residency go with --mode=live
 *
 * Periods may be shorter than a second.
 * RUN: cd %t.d && rm -f often* && %hearth record -q --mode=live --period=0.05 -o often -- /usr/bin/python3 -c 'import time; any(bytes(1000) and time.process_time() > 0.4 for _ in iter(int, 1))' && \
 * RUN:   ls often.1 often.2 often.3
 * RUN: for bad in 0 0.0004 1e3 -1 1. 4000001; do (%hearth record --mode=live --period=$bad -- true 2> %t.err; test $? = 2) && grep -q 'needs a number of seconds from 0.001 to 4000000' %t.err || exit 1; done
 *
 * Sampled: estimates, and what they are of is said.
 * RUN: cd %t.d && %hearth record --mode=live --sample=10000 -o some -- %t && %hearth heap --dump=peak -q some.[0-9p]* > some.txt && \
 * RUN:   FileCheck %s --check-prefix=SAMPLED < some.txt
 * SAMPLED: Live in some.peak, estimated from one block for 10000 bytes
 * RUN: cd %t.d && %hearth index -q --symbols some.peak -o some.prof && %hearth show --text some.prof | \
 * RUN:   awk '/^  TotalSize/ { sum += $NF } END { print (sum > 4000000 && sum < 6200000 ? "near" : sum) }' | FileCheck %s --check-prefix=PEAK
 *
 * Dumps of several processes, here of two runs, are told apart: those that began first first.
 * RUN: cd %t.d && %hearth record -q --mode=live -o twice -- %t && %hearth record -q --mode=live -o twice -- %t && \
 * RUN:   %hearth heap --dump=peak twice.* > twice.txt && FileCheck %s --check-prefix=TWICE < twice.txt
 * TWICE: Process [[#FIRST_PID:]], started {{[0-9-]+ [0-9:]+}} UTC:
 * TWICE: 1 request {{.*}} twice.1{{$}}
 * TWICE: 2 peak {{.*}} twice.peak{{$}}
 * TWICE: 3 exit {{.*}} twice.2{{$}}
 * TWICE: Process [[#]], started {{[0-9-]+ [0-9:]+}} UTC:
 * TWICE: 4 request
 * TWICE: 5 peak
 * TWICE: 6 exit
 * TWICE-NOT: Process
 * TWICE: Live in {{twice.peak.*}} of process [[#]]:
 * RUN: cd %t.d && not grep -q Process first.txt
 *
 * What ran is gone: nothing is missing from the sums, only what it was.
 * RUN: cp %t %t.gone && cd %t.d && %hearth record --mode=live -o lost -- %t.gone && rm %t.gone
 * RUN: cd %t.d && %hearth heap -q --dump=1 lost.1 > gone.txt && FileCheck %s --check-prefix=GONE < gone.txt
 * GONE: 1 request {{.*}} 97.9 KiB in 115 blocks
 * GONE: (100000 bytes) in 100 blocks{{$}}
 * GONE-NEXT: in code that is not known
 * Elsewhere, a copy of it will do.
 * RUN: cd %t.d && %hearth heap -q --dump=1 --binary=%t lost.1 > copy.txt && FileCheck %s --check-prefix=COPY < copy.txt
 * COPY: (100000 bytes) in 100 blocks{{$}}
 * COPY-NEXT: keep {{ *}}live.c:
 *
 * The linked runtime does the same.
 * RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-builtin -I%include %s %rt -lpthread -o %t.linked
 * RUN: cd %t.d && HEARTH_OPTIONS=mode=live:log_path=own %t.linked && %hearth heap --dump=1 own.*.[0-9p]* > own.txt && \
 * RUN:   FileCheck %s --check-prefix=LINKED < own.txt
 * LINKED: (100000 bytes) in 100 blocks{{$}}
 * LINKED: (160 bytes) in 10 blocks of type small from pool
 */
#include "hearth/allocator.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static void *kept[100];
static char pool_memory[15 * 32];
static hearth_allocator pool = HEARTH_ALLOCATOR("pool");

static NOINLINE void keep(void) {
  for (int i = 0; i < 100; ++i)
    kept[i] = malloc(1000);
}

static NOINLINE void take(int i) {
  hearth_allocator_allocated(&pool, pool_memory + 32 * i, i < 10 ? 16 : 24, i < 10 ? "small" : "large");
}

static pthread_barrier_t all;

static NOINLINE void *grow(void *closure) {
  void *blocks[50];
  for (int i = 0; i < 50; ++i)
    blocks[i] = malloc(25000);
  pthread_barrier_wait(&all); /* everybody has all */
  for (int i = 0; i < 50; ++i)
    free(blocks[i]);
  return closure;
}

int main(void) {
  pthread_t threads[4];
  keep();
  for (int i = 0; i < 15; ++i)
    take(i);
  raise(61); /* asks for a dump */
  pthread_barrier_init(&all, NULL, 4);
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, grow, NULL);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  hearth_allocator_cleared(&pool);
  for (int i = 0; i < 60; ++i)
    free(kept[i]);
  return 0;
}
