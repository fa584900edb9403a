/* A library as distributions have them: without debug information. */
#include <stdlib.h>

void *library_alloc(size_t size) {
  void *block = malloc(size);
  if (!block)
    abort();
  return block;
}
