/* `hearth top --touched` says how much of each range was touched in an interval: all of the hot one here, a quarter of the
 * cold one. Cold memory that is to leave has no huge pages, which would count as a whole.
 *
 * REQUIRES: traces
 * RUN: rm -rf %t.dir && mkdir %t.dir
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc_a -o %t -pthread
 * RUN: env HEARTH_MALLOC=cold=file:interval=0:dir=%t.dir %t "%hearth top --touched --every=0.5 --count=2 --json" > %t.json
 * RUN: FileCheck %s --check-prefix=MIB < %t.json
 * RUN: env HEARTH_MALLOC=cold=file:interval=0:dir=%t.dir %t "%hearth top --every=0.1 --count=1 --json" \
 * RUN:   | FileCheck %s --check-prefix=WITHOUT
 * RUN: env HEARTH_MALLOC=cold=file:interval=0:dir=%t.dir %t "%hearth top --touched --every=0.5 --count=1" \
 * RUN:   | FileCheck %s --check-prefix=TEXT
 * RUN: (%hearth top --touched 1 2> %t.err; test $? = 2) && grep "'--touched' goes with '--every'" %t.err
 * RUN: python3 -c 'import json, sys; [print(i, round(o["cold"]["touched_bytes"] / 2**20), \
 * RUN:   o["hot"]["touched_bytes"] >> 20 >= 32) for i, o in enumerate(json.loads(l) for l in open(sys.argv[1]))]' %t.json \
 * RUN:   | FileCheck %s
 *
 * MIB-COUNT-2: "touched_bytes":
 * WITHOUT-NOT: touched
 * TEXT: swap touched placed
 * CHECK: 0 8 True
 * CHECK-NEXT: 1 8 True
 */
#define _GNU_SOURCE
#undef NDEBUG
#include <assert.h>
#include <hearth/malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS = 1024, BYTES = 32 << 10, PAGE = 4096 };

/* Small pages of no pool: the system clears marks without a word to the TLB, and what a TLB holds is not marked again. */
enum { OTHER_BYTES = 64 << 20 };
static char *cold[BLOCKS], *hot[BLOCKS], *other;
static _Atomic bool ended;

static void read_blocks(char **blocks, int count) {
  for (int i = 0; i < count; i++)
    for (int at = 0; at < BYTES; at += PAGE)
      *(volatile char *)&blocks[i][at];
}

static void *use(void *unused) {
  while (!ended) {
    read_blocks(hot, BLOCKS);
    read_blocks(cold, BLOCKS / 4);
    for (int at = 0; at < OTHER_BYTES; at += PAGE)
      *(volatile char *)&other[at];
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t thread;
  char command[1000];
  assert(argc == 2);
  other = mmap(NULL, OTHER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert(other != MAP_FAILED && !madvise(other, OTHER_BYTES, MADV_NOHUGEPAGE));
  memset(other, 1, OTHER_BYTES);
  for (int i = 0; i < BLOCKS; i++) {
    cold[i] = memset(malloc_hot_cold(BYTES, 0), 1, BYTES);
    hot[i] = memset(malloc_hot_cold(BYTES, 253), 1, BYTES);
  }
  assert(!pthread_create(&thread, NULL, use, NULL));
  snprintf(command, sizeof command, "%s %d", argv[1], (int)getpid());
  int status = system(command);
  ended = true;
  pthread_join(thread, NULL);
  return status != 0;
}
