/* Where blocks are, counted one by one; what programs of word tests share that make cold and hot ones in one helper. */
#ifndef WORD_PLACES_H
#define WORD_PLACES_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hearth/malloc.h"
#pragma weak hearth_malloc_class

enum { BLOCKS = 400 };

void *allocate(size_t size);

/* Use these blocks until a while has passed. */
static inline void heat(char *const *blocks) {
  clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (int i = 0; i < BLOCKS; i++)
      ((volatile char *)blocks[i])[0]++;
  while (clock() < end);
}

static inline void print_places(const char *what, char *const *blocks) {
  int where[3] = {0};
  if (!hearth_malloc_class)
    return;
  for (int i = 0; i < BLOCKS; i++)
    where[hearth_malloc_class(blocks[i])]++;
  printf("%s: %d other %d cold %d hot\n", what, where[HEARTH_MALLOC_OTHER], where[HEARTH_MALLOC_COLD],
         where[HEARTH_MALLOC_HOT]);
}

#endif
