/* A program that calls itself as interpreters do: `protect` runs `start`, which has it run `interpret`. Folding leaves the call
 * of `start` out of the stacks of what `interpret` allocates. */
#include "word.h"

#include <stdlib.h>

#define BARRIER() __asm__ volatile("") /* no tail calls */

void *allocate(size_t size);

enum { COUNT = 300 };
static char *payloads[COUNT];
static struct node *list;

NOINLINE static void protect(int which);

NOINLINE static void start(void) { /* NOLINT(misc-no-recursion) */
  for (int i = 0; i < COUNT; i += 2) {
    payloads[i] = allocate(200);
    payloads[i + 1] = allocate(200);
  }
  protect(1);
  BARRIER();
}

NOINLINE static void interpret(void) {
  for (int i = 0; i < COUNT; i++) {
    struct node *node = i % 2 ? allocate(sizeof *node) : allocate(sizeof *node + sizeof(long));
    for (int k = 0; k < 3; k++)
      free(k % 2 ? allocate(sizeof *node) : allocate(sizeof *node + 2 * sizeof(long)));
    list = prepend(list, node, payloads[i], i);
  }
}

NOINLINE static void dispatch(int which) { /* NOLINT(misc-no-recursion) */
  if (which)
    interpret();
  else
    start();
  BARRIER();
}

NOINLINE static void protect(int which) { /* NOLINT(misc-no-recursion) */
  dispatch(which);
  BARRIER();
}

int main(void) {
  protect(0);
  use("cycle", list);
  return 0;
}
