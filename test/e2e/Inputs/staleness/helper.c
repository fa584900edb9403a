#include "allocate.h"
#include <stdlib.h>

__attribute__((noinline)) void *helper(size_t n) {
  return malloc(n);
}

__attribute__((noinline)) void *build(size_t n) {
  char *block = helper(n);
  return block;
}
