/* A recorded program's profile has its peak and its command line, which an option takes out; merging keeps a command that all have. */
/* RUN: %clang -O1 -fno-builtin %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: %hearth record -q -o one.raw -- %t first 'second and third' '' && %hearth index --symbols -q one.raw -o one
 * RUN: %hearth show one | FileCheck %s -DPROGRAM=%t
 * CHECK: peak 3.0 MiB live, {{[0-9.]+ [mu]?s}} from the start{{$}}
 * CHECK-NEXT: over time {{[0-9]*9[0-9]*}} (most and
 * CHECK-NEXT: {{^ *[0-9]+}} least of each {{.*}}s, in tenths)
 * CHECK-NEXT: command [[PROGRAM]] first second and third
 * RUN: %hearth show --json one | FileCheck %s --check-prefix=JSON
 * JSON: "peak_bytes":{{ *}}31457{{[0-9][0-9]}},{{.*}}"commands_differ":{{ *}}false
 * RUN: %if views %{ %hearth report one -o - | grep -o '"peak_bytes": *[0-9]*,[^}]*"last_day"' | grep -c command %}
 *
 * RUN: env HEARTH_OPTIONS=command=off %hearth record -q -o off.raw -- %t first && %hearth index --symbols -q off.raw -o off
 * RUN: not grep -a -e first off.raw && %hearth show off | FileCheck %s --check-prefix=OFF
 * OFF: peak 3.0 MiB live, {{[0-9.]+ [mu]?s}} from the start{{$}}
 * OFF-NEXT: over time {{[0-9]*9[0-9]*}} (most and
 * OFF-NEXT: least of each
 * OFF-NEXT: accesses
 *
 * RUN: %hearth record -q -o two.raw -- %t other 2 && %hearth index --symbols -q one.raw off.raw -o same
 * RUN: %hearth show same | FileCheck %s --check-prefix=SAME && %hearth index --symbols -q one.raw two.raw -o both
 * SAME: peak 3.0 MiB live in one of the runs, {{[0-9.]+ [mu]?s}} from the start on average
 * SAME-NEXT: over time {{[0-9]*9[0-9]*}} (most and
 * SAME-NEXT: least of each
 * SAME-NEXT: command {{.*}} first second and third
 * RUN: %hearth show both | FileCheck %s --check-prefix=BOTH
 * BOTH: peak 3.0 MiB live in one of the runs, {{[0-9.]+ [mu]?s}} from the start on average
 * BOTH-NEXT: over time {{[0-9]*9[0-9]*}} (most and
 * BOTH-NEXT: least of each
 * BOTH-NEXT: command the runs had several
 *
 * A long one is cut.
 * RUN: %hearth record -q -o long.raw -- %t $(head -c 2000 /dev/zero | tr '\0' x) && %hearth index --symbols -q long.raw -o long
 * RUN: %hearth show --full long | grep -o 'xx[x.]*$' | tail -c 5 | FileCheck %s --check-prefix=LONG
 * LONG: {{^x[.][.][.]$}}
 */
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  char *volatile block;
  (void)argv;
  for (int i = 0; i < argc; i++) {
    block = malloc(3 << 20);
    memset(block, 1, 3 << 20);
    free(block);
  }
  return 0;
}
