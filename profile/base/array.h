/* Growing arrays. */
#ifndef HEARTH_ARRAY_H
#define HEARTH_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more element in the array that the pointer at `array` points to, and which holds `count`. The pointer is
 * copied by bytes: it may be of any type. False: out of memory. */
static inline bool hearth_array_grow(void *array, size_t *capacity, size_t count, size_t element) {
  void *moved;
  if (count < *capacity)
    return true;
  size_t more = *capacity ? *capacity + *capacity / 2 : 16; /* few: there may be thousands of units with such arrays */
  memcpy(&moved, array, sizeof moved);
  moved = realloc(moved, more * element);
  if (!moved)
    return false;
  memcpy(array, &moved, sizeof moved);
  *capacity = more;
  return true;
}

#endif
