/* At the end `hearth record` sums the run up: peak, allocations, temporary blocks, blocks that were not freed. */
/* RUN: %clang -O1 -fno-builtin %s -lpthread -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: %hearth record -o one -- %t 2>&1 | FileCheck %s --check-prefix=ONE
 * ONE: hearth: peak 5.1 MiB, 210{{[0-9]}} allocations, 2000 temporary, {{99|100}} not freed (9{{[67]}}.{{[0-9]}} KiB)
 * ONE-NEXT: hearth: the profile is
 * RUN: %hearth index -q --symbols one -o one.heap && %hearth show one.heap | FileCheck %s --check-prefix=SHOWN
 * SHOWN: peak 5.1 MiB live
 *
 * Of a sample it is an estimate; where records are in several files, they are not summed; a trace says it by itself.
 * RUN: %hearth record -o some --sample=1000 -- %t 2>&1 | FileCheck %s --check-prefix=SOME
 * SOME: hearth: peak {{[456]}}.{{[0-9]}} MiB, {{[0-9]+}} allocations, {{[0-9]+}} not freed
 * RUN: env HEARTH_OPTIONS=dump_interval=1 %hearth record -o all -- %t 2>&1 | FileCheck %s --check-prefix=ONE
 * RUN: %hearth record --mode=trace -o trace -- %t 2>&1 | FileCheck %s --check-prefix=TRACE
 * TRACE-NOT: peak
 * TRACE: hearth: the trace is
 * TRACE-NOT: peak
 * RUN: %hearth record -q -o quiet -- %t 2>&1 | count 0
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *volatile kept[100];

/* Its blocks count when it has ended, too. */
static void *thread(void *unused) {
  for (int i = 0; i < 1000; i++)
    free(malloc(10));
  return unused;
}

int main(void) {
  pthread_t other;
  thread(NULL);
  pthread_create(&other, NULL, thread, NULL);
  pthread_join(other, NULL);
  for (int i = 0; i < 100; i++)
    kept[i] = malloc(1000);
  char *big = malloc(5 << 20);
  memset(big, 1, 5 << 20);
  free(kept[3]);
  free(big);
  return 0;
}
