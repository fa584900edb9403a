/* Arrays that grow as items are added. */
#ifndef HEARTH_ARRAY_H
#define HEARTH_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

/* `items` with room for one more than `count`, perhaps moved. NULL when out of memory: then nothing has changed. */
static inline void *hearth_array_grow(void *items, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity)
    return items;
  size_t larger = *capacity ? *capacity * 2 : 16;
  void *moved = realloc(items, larger * size);
  if (moved)
    *capacity = larger;
  return moved;
}

#endif
