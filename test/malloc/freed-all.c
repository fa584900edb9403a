/* When all is freed, in whatever order, at most a tenth of the memory stays: from the first block to the last, from the last to the
 * first, at random, two thirds at random and then the others.
 *
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -o %t
 * RUN: for order in 0 1 2 3; do %t $order || exit; done | FileCheck %s
 * CHECK-COUNT-4: under a tenth
 */
#include "Inputs/rollup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 1200000 };
static void *block[BLOCKS], *other[BLOCKS];
static unsigned random_state = 1;

static unsigned next_random(void) {
  random_state = random_state * 1103515245 + 12345;
  return random_state >> 8;
}

static long resident_kib(void) { return rollup_kib("Rss:"); }

static void swap(int i, int j) {
  void *kept = block[i];
  block[i] = block[j];
  block[j] = kept;
}

static void as_they_are(void) {}
static void turn(void) {
  for (int i = 0; i < BLOCKS / 2; i++)
    swap(i, BLOCKS - 1 - i);
}
static void shuffle(void) {
  for (int i = BLOCKS - 1; i > 0; i--)
    swap(i, (int)(next_random() % (unsigned)(i + 1)));
}
static void shuffle_most(void) {
  int front = 0, rest = 0;
  for (int i = 0; i < BLOCKS; i++)
    if (next_random() % 3)
      block[front++] = block[i];
    else
      other[rest++] = block[i];
  memcpy(block + front, other, (size_t)rest * sizeof *block);
}

static void measure(void (*order)(void)) {
  long before = resident_kib();
  for (int i = 0; i < BLOCKS; i++) {
    size_t bytes = next_random() % 2000 ? 16 + next_random() % 180 : 5000;
    block[i] = memset(malloc(bytes), 1, bytes);
  }
  long all = resident_kib() - before;
  order();
  for (int i = 0; i < BLOCKS; i++)
    free(block[i]);
  long left = resident_kib() - before;
  fprintf(stderr, "%ld of %ld KiB\n", left, all);
  printf("%s a tenth\n", left < all / 10 ? "under" : "over");
}

int main(int argc, char **argv) {
  static void (*const orders[])(void) = {as_they_are, turn, shuffle, shuffle_most};
  memset(block, 1, sizeof block);
  memset(other, 1, sizeof other);
  measure(orders[argc > 1 ? atoi(argv[1]) : 0]);
  return 0;
}
