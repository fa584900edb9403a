/* Functions that call each other, or themselves, any number of times before they allocate. */
#include <stdio.h>
#include <stdlib.h>
#ifdef PLACED
#include <hearth/malloc.h>
#endif

#define BLOCKS   400
#define NOINLINE __attribute__((noinline))
#define STAY     __asm__ volatile("" ::: "memory") /* no tail call */

NOINLINE static char *end(void) {
  char *block = malloc(17);
  STAY;
  return block;
}

static char *mutual(int turns);

NOINLINE static char *step(int turns) {
  char *block = turns ? mutual(turns - 1) : end();
  STAY;
  return block;
}

NOINLINE static char *mutual(int turns) {
  char *block = step(turns);
  STAY;
  return block;
}

NOINLINE static char *itself(int turns) {
  char *block = turns ? itself(turns - 1) : malloc(18);
  STAY;
  return block;
}

NOINLINE static char *turned(int turns) {
  char *block = turns ? turned(turns - 1) : malloc(19);
  STAY;
  return block;
}

static struct kind {
  char *cold[BLOCKS], *hot[BLOCKS];
} by_mutual, by_itself, by_turned;

/* What is hot depends on where the cycle is entered, or on whether it is gone through at all. */
static void allocate(void) {
  for (int i = 0; i < BLOCKS; i++) {
    by_mutual.cold[i] = mutual(i % 4);
    by_mutual.hot[i] = mutual(3 - i % 4);
    by_itself.cold[i] = itself(i % 4);
    by_itself.hot[i] = itself(3 - i % 4);
  }
  for (int i = 0; i < 2 * BLOCKS; i++)
    (i % 2 ? by_turned.hot : by_turned.cold)[i / 2] = turned(i % 2 ? 0 : 1 + i / 2 % 4);
}

static void use(const struct kind *kind) {
  for (int round = 0; round < 20000; round++)
    for (int i = 0; i < BLOCKS; i++)
      ((volatile char *)kind->hot[i])[round & 15]++;
}

#ifdef PLACED
static void report(const char *name, const struct kind *kind) {
  int count[2][3] = {{0}};
  for (int i = 0; i < BLOCKS; i++) {
    count[0][hearth_malloc_class(kind->cold[i])]++;
    count[1][hearth_malloc_class(kind->hot[i])]++;
  }
  printf("%s: cold blocks: %d cold, %d hot; hot blocks: %d cold, %d hot\n", name, count[0][HEARTH_MALLOC_COLD],
         count[0][HEARTH_MALLOC_HOT], count[1][HEARTH_MALLOC_COLD], count[1][HEARTH_MALLOC_HOT]);
}
#endif

int main(void) {
  allocate();
  use(&by_mutual);
  use(&by_itself);
  use(&by_turned);
#ifdef PLACED
  report("mutual", &by_mutual);
  report("itself", &by_itself);
  report("turned", &by_turned);
#endif
  return 0;
}
