/* A profile has the program's build and the day; the host's name only if it was told to.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
 * RUN: HEARTH_OPTIONS=log_path=plain %t && %hearth index -q plain.[0-9]* -o plain.prof
 * RUN: HEARTH_OPTIONS=log_path=off:host=off %t && HEARTH_OPTIONS=log_path=on:host=on %t && uname -n > name
 * RUN: HEARTH_OPTIONS=log_path=given:host=web-class %t && HEARTH_OPTIONS=log_path=live:mode=live:host=web-class %t
 * RUN: %hearth show --runs plain.prof | FileCheck %s
 * RUN: %hearth index -q on.[0-9]* -o on.prof && %hearth show --text on.prof | grep "^origin [0-9a-f]* $(cat name) day="
 * RUN: grep -a web-class given.* && grep -a web-class live.*
 * RUN: %hearth index -q off.[0-9]* -o off.prof && %hearth show --text off.prof | grep '^origin [0-9a-f]* "" day='
 * RUN: %hearth index -q plain.[0-9]* off.[0-9]* on.[0-9]* given.[0-9]* -o all.prof
 * RUN: %hearth show --runs all.prof | FileCheck %s --check-prefix=ALL
 *
 * CHECK: 1 run, 100 B allocated
 * CHECK: {{ *}}runs bytes build
 * CHECK-NEXT: 1 100 B 100.0% {{[0-9a-f]+}} host.c.tmp
 * CHECK: 1 100 B 100.0% unknown
 * CHECK: 1 100 B 100.0% 20{{[0-9-]+}}
 *
 * ALL: 4 runs, 400 B allocated
 * ALL-EMPTY:
 * ALL: runs bytes host
 * ALL-DAG: 2 200 B 50.0% unknown
 * ALL-DAG: 1 100 B 25.0% web-class
 */
#include <stdlib.h>

int main(void) {
  void *volatile block = malloc(100);
  free(block);
  return 0;
}
