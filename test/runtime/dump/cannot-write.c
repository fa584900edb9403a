/* A profile that cannot be written is one message; the program's result does not change, and no part of a file stays.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -rf %t.dir && mkdir %t.dir && HEARTH_OPTIONS=log_path=%t/none/x %t 2>&1 | FileCheck %s --check-prefix=NODIR
 * RUN: cd %t.dir && HEARTH_OPTIONS=log_path=limited sh -c 'ulimit -f 0; trap "" XFSZ; exec %t' 2>&1 \
 * RUN:   | FileCheck %s --check-prefix=LIMIT
 * RUN: ls %t.dir | count 0
 *
 * NODIR: done, 0
 * NODIR: hearth: cannot write the profile {{.*}}/none/x.{{[0-9]+}}: Not a directory
 * LIMIT: done, 0
 * LIMIT: hearth: cannot write the profile {{.*}}/limited.{{[0-9]+}}: File too large
 */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  free(malloc(10));
  printf("done, 0\n");
  return fflush(stdout);
}
