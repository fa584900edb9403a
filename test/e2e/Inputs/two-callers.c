/* Cold and hot blocks by way of one function that is not inlined. */
#include <stdio.h>
#include <stdlib.h>
#ifdef PLACED
#include <hearth/malloc.h>
#endif

enum { BLOCKS = 400 };
static char *cold[BLOCKS], *hot[BLOCKS];

__attribute__((noinline)) static char *helper(size_t size) {
  char *block = malloc(size);
  if (!block)
    abort();
  return block;
}

__attribute__((noinline)) static void fill(int i) {
  /* a line that goes */
  cold[i] = helper(40);
   hot[i] = helper(41);
}

int main(void) {
  for (int i = 0; i < BLOCKS; i++)
    fill(i);
  for (int round = 0; round < 20000; round++)
    for (int i = 0; i < BLOCKS; i++)
      ((volatile char *)hot[i])[round & 15]++;
#ifdef PLACED
  int count[2][3] = {{0}};
  for (int i = 0; i < BLOCKS; i++) {
    count[0][hearth_malloc_class(cold[i])]++;
    count[1][hearth_malloc_class(hot[i])]++;
  }
  printf("cold blocks: %d cold, %d hot; hot blocks: %d cold, %d hot\n", count[0][HEARTH_MALLOC_COLD],
         count[0][HEARTH_MALLOC_HOT], count[1][HEARTH_MALLOC_COLD], count[1][HEARTH_MALLOC_HOT]);
#endif
  return 0;
}
