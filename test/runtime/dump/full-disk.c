/* On a full disk the contexts of most bytes are written, as many as there is room for; what is left out is said and
 * counted, and the file is a complete profile.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof*
 * RUN: sh -c 'ulimit -f 20; HEARTH_OPTIONS=log_path=%t.prof:recursion=full exec %t' 2>&1 | FileCheck %s
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize > %t.txt
 * RUN: FileCheck %s --check-prefix=PROFILE < %t.txt
 * RUN: awk '/^profile:/ { sub(/.*dropped_blocks=/, ""); total += $1 } /^record:/ { sub(/.*AllocCount=/, ""); total += $1 } \
 * RUN:   END { print total, "blocks" }' %t.txt | FileCheck %s --check-prefix=TOTAL
 * RUN: ls %t.prof.* | count 1
 *
 * CHECK: done, 0
 * CHECK: hearth: the profile {{.*}} is not complete: file too large; contexts of least bytes are left out, {{[0-9]+}} blocks
 * CHECK-NOT: {{.}}
 * PROFILE-NOT: dropped_blocks=0
 * PROFILE-NOT: MaxSize=1{{$|[^0-9]}}
 * PROFILE: MaxSize=1023 | full-disk.c.tmp+
 * TOTAL: 1024 blocks
 */
#include <stdio.h>
#include <stdlib.h>

/* A call stack for each number: its bits are calls of two functions. */
static void *make(unsigned path, int bits, size_t size);

__attribute__((noinline)) static void *left(unsigned path, int bits, size_t size) {
  return make(path / 2, bits - 1, size);
}

__attribute__((noinline)) static void *right(unsigned path, int bits, size_t size) {
  return make(path / 2, bits - 1, size);
}

static void *make(unsigned path, int bits, size_t size) {
  return bits == 0 ? malloc(size) : path % 2 ? right(path, bits, size) : left(path, bits, size);
}

int main(void) {
  static char buffer[100];

  setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
  for (unsigned i = 0; i < 1024; ++i)
    free(make(i, 10, i));
  printf("done, 0\n");
  return 0;
}
