/* What a program compiled for profiling tells: memory that is only written, blocks that are hardly filled, and in histogram
 * mode, parts that nothing accesses. */
/* RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -fno-builtin %clang_plugin -mllvm -memprof-instrument -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -g -mllvm -memprof-histogram %s \
 * RUN:   -Wl,--build-id %rt -lpthread %given_time -o app
 * RUN: HEARTH_OPTIONS=log_path=raw ./app && %hearth index -q raw.* --binary app -o prof
 * RUN: %hearth advise prof > said && FileCheck %s < said --check-prefix=BLIND '--implicit-check-not=(unused)' && \
 * RUN:   FileCheck %s < said --check-prefix=OVERSIZED && FileCheck %s < said --check-prefix=FIELDS
 *
 * BLIND: not looked for: unused (needs
 * OVERSIZED: blocks larger than the part that is used (oversized): up to
 * OVERSIZED-NEXT: make_buffer compiled.c:
 * OVERSIZED-NEXT: 1% of 100 blocks of 8192 bytes is accessed, at most
 * FIELDS: blocks with parts that nothing accesses, or of which few are used much (fields): up to
 * FIELDS-NEXT: make_node compiled.c:
 * FIELDS-NEXT: of 1000 blocks of 64 bytes, 2 of 8 words are used much, and none of the bytes 16-63
 * FIELDS-NEXT: of type node{{$}}
 *
 * RUN: not %hearth advise --binary=missing prof 2>&1 | FileCheck %s --check-prefix=MISSING
 * MISSING: error: missing: cannot be opened
 *
 * Without counts there is nothing to say of these.
 * RUN: %hearth merge -q --fields=AllocCount,TotalSize,MinSize,MaxSize,TotalLifetime prof -o sizes
 * RUN: %hearth advise sizes | FileCheck %s --check-prefix=SIZES '--implicit-check-not=(unused)' '--implicit-check-not=(fields)'
 * SIZES: sizes: {{[0-9]+}} finding
 */
#include "given_time.h"

#include <stdlib.h>

struct node {
  long key, value;
  char name[48];
};

static long *volatile logs[100];
static char *volatile buffers[100];
static struct node *volatile nodes[1000];

static void make_log(int i) {
  long *block = malloc(4096);
  for (int k = 0; k < 512; k++)
    ((volatile long *)block)[k] = k;
  logs[i] = block;
}

static void make_buffer(int i) {
  char *block = malloc(8192);
  for (int k = 0; k < 100; k++)
    ((volatile char *)block)[k] = (char)k;
  buffers[i] = block;
}

static void make_node(int i) {
  struct node *node = malloc(sizeof *node);
  for (int k = 0; k < 20; k++) {
    *(volatile long *)&node->key = i;
    *(volatile long *)&node->value = i;
  }
  nodes[i] = node;
}

int main(void) {
  for (int i = 0; i < 100; i++) {
    make_log(i);
    make_buffer(i);
  }
  for (int i = 0; i < 1000; i++)
    make_node(i);
  pass(100 * MS); /* each has its share of all memory by time */
  return 0;
}
