/* What functions of the C library read and write is counted by range, one for each 8 bytes: what they did, not what they
 * were asked to do.
 *
 * RUN: %clang %clang_plugin -mllvm -memprof-instrument -O1 -g -fno-builtin -fno-omit-frame-pointer \
 * RUN:   -mno-omit-leaf-frame-pointer %s -Wl,--build-id %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MinSize TotalAccessCount | FileCheck %s
 *
 * strcpy of 20 characters and their NUL: 3; strlen of them: 3.
 * CHECK: AllocCount=1 MinSize=101 TotalAccessCount=6
 * read: 1000 bytes are there, 2000 were asked for: 125; then a read that fails: 0; write of 64: 8.
 * CHECK: AllocCount=1 MinSize=2000 TotalAccessCount=133
 * fread: 4 of 5 elements of 30 bytes: 15; memset of all: 375.
 * CHECK: AllocCount=1 MinSize=3000 TotalAccessCount=390
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(int holds) {
  if (!holds)
    abort();
}

int main(void) {
  int ends[2];
  static char zeros[1000];
  check(pipe(ends) == 0 && write(ends[1], zeros, sizeof zeros) == sizeof zeros);

  char *string = malloc(101);
  strcpy(string, "twenty characters, 2");
  check(strlen(string) == 20);

  char *buffer = malloc(2000);
  check(read(ends[0], buffer, 2000) == 1000);
  check(read(-1, buffer, 2000) == -1);
  check(write(ends[1], buffer, 64) == 64);

  FILE *file = fmemopen(zeros, 120, "r");
  char *elements = malloc(3000);
  check(file && fread(elements, 30, 5, file) == 4);
  memset(elements, 1, 3000);
  free(string);
  free(buffer);
  free(elements);
  return 0;
}
