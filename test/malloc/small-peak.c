/* A small heap keeps its memory, whether small or large blocks had it: it comes anew from the system for neither.
 *
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -o %t && env -u HEARTH_MALLOC %t | FileCheck %s
 * CHECK: memory is kept
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BLOCKS = 64, STEPS = 400000, ROUNDS = 2000 };

static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/* Large blocks of all sizes and many small ones come and go in no order. */
int main(void) {
  static char *blocks[BLOCKS];
  unsigned random = 1;
  long before = 0;
  for (int step = 0; step < STEPS; step++) {
    random = random * 1664525 + 1013904223;
    unsigned at = random >> 8 & (BLOCKS - 1);
    size_t bytes = random >> 28 ? 16 + (random >> 20) : (random >> 12) + (160 << 10);
    free(blocks[at]);
    blocks[at] = memset(malloc(bytes), 1, bytes);
    if (step % (STEPS / ROUNDS) == 0)
      for (int i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
        blocks[i] = NULL;
      }
    before = step == STEPS / 4 ? faults() : before;
  }
  long since = faults() - before;
  printf(since < STEPS / 100 ? "memory is kept\n" : "%ld page faults\n", since);
  return 0;
}
