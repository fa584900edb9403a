/* A page of a trace has the contexts that `hearth index --symbols` makes of it, and plots of single blocks and of time.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t && %clang -O0 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -pthread %s -o app
 * RUN: %hearth record --mode=trace -o trace -- ./app && %hearth index -q --symbols trace -o prof && %hearth show --json prof > show.json
 * RUN: %hearth report trace -o page.html && python3 %S/Inputs/compare_with_show.py page.html show.json
 * RUN: python3 %S/Inputs/print_trace_plots.py page.html > plots && FileCheck %s --input-file=plots
 *
 * CHECK: live: at most 105000{{...}}, within the run
 * CHECK-NEXT: lifetime-size: size: 103 blocks, 106000{{...}} bytes, 5000{{...}} live
 * CHECK-NEXT: lifetime-time: time of allocation: 103 blocks, 106000{{...}} bytes, 5000{{...}} live
 * CHECK-NEXT: command: ./app, started in 20{{..}}
 * CHECK-NEXT: temporary: {{[12]}} blocks; at the peak: 105000{{...}} bytes
 *
 * A trace of which nothing can be symbolised:
 * RUN: not %hearth report %S/../golden/trace/trace-2.trace -o bad.html 2>&1 | FileCheck %s --check-prefix=UNKNOWN
 * UNKNOWN: error: {{.*}}trace-2.trace: no usable binary
 */
#include <pthread.h>
#include <stdlib.h>

enum { BLOCKS = 100 };

static void *blocks[BLOCKS];

static void *take_over(void *unused) {
  static void *volatile own;
  own = malloc(5000000);
  for (int i = 0; i < BLOCKS; i++)
    free(blocks[i]);
  return unused;
}

int main(void) {
  pthread_t thread;
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = malloc(1000000);
  free(malloc(1000000));
  if (pthread_create(&thread, NULL, take_over, NULL) != 0)
    return 1;
  return pthread_join(thread, NULL);
}
