/* Three blocks of 111 bytes that are accessed twice each, and one of 222 that stays. For C and C++. */
#include <stdlib.h>
#include <string.h>

static void *volatile kept;

static char *make(size_t size) {
#ifdef __cplusplus
  return new char[size];
#else
  return (char *)malloc(size);
#endif
}

static void destroy(char *block) {
#ifdef __cplusplus
  delete[] block;
#else
  free(block);
#endif
}

int main(void) {
  for (int i = 0; i < 3; ++i) {
    char *volatile block = make(111);
    *(volatile char *)block = 1;
    *(volatile char *)block = 2;
    destroy(block);
  }
  kept = make(222);
  return 0;
}
