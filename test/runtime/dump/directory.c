/* The directory of profiles can be given to the compiler; it is made when the profile is written, and an option of the
 * environment wins over it.
 *
 * RUN: rm -rf %t.dir && mkdir %t.dir
 * RUN: %clang -fmemory-profile=%t.dir/deep/er -O1 -fno-builtin -c %s -o %t.o && %clang %t.o %rt -lpthread -o %t
 * RUN: cd %t.dir && %t && ls deep/er/memprof.profraw.*
 * RUN: cd %t.dir && HEARTH_OPTIONS=log_path=other/file %t && ls other/file.*
 */
#include <stdlib.h>

int main(void) {
  free(malloc(10));
  return 0;
}
