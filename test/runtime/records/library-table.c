/* The user's table says what functions of zlib access, as docs/howto/libraries.md has it: what they read, and what came.
 *
 * RUN: sed -n '/^crc32/,/^inflate/p' %S/../../../docs/howto/libraries.md > %t.accesses
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -mllvm -memprof-library-accesses=%t.accesses -O1 -g -fno-omit-frame-pointer \
 * RUN:   -mno-omit-leaf-frame-pointer %s -Wl,--build-id %rt -lz -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t %t.gz
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MinSize TotalAccessCount | FileCheck %s
 *
 * crc32 of 801 bytes: 101; compress2 of 160: 20; gzwrite of 80: 10.
 * CHECK: AllocCount=1 MinSize=801 TotalAccessCount=131
 * What compress2 writes is not counted.
 * CHECK: AllocCount=1 MinSize=902 TotalAccessCount=0
 * gzread of 80, of 1000: 10.
 * CHECK: AllocCount=1 MinSize=1003 TotalAccessCount=10
 */
#include <stdlib.h>
#include <zlib.h>

static void check(int holds) {
  if (!holds)
    abort();
}

int main(int argc, char **argv) {
  unsigned char *from = calloc(1, 801), *packed = malloc(902);
  uLongf length = 902;
  check(crc32(0, from, 801) != 0);
  check(compress2(packed, &length, from, 160, 9) == Z_OK);
  gzFile file = gzopen(argv[argc - 1], "w");
  check(file && gzwrite(file, from, 80) == 80 && gzclose(file) == Z_OK);

  char *to = malloc(1003);
  file = gzopen(argv[argc - 1], "r");
  check(file && gzread(file, to, 1000) == 80 && gzclose(file) == Z_OK);
  free(from);
  free(packed);
  free(to);
  return 0;
}
