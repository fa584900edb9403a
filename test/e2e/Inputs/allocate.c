/* All blocks of split.c, hot and cold, come from this one call. Not inlined: inlining does not tell them apart. */
#include <stdlib.h>

__attribute__((noinline)) void *allocate(size_t size) {
  void *block = malloc(size);
  if (!block)
    exit(1);
  return block;
}
