/* Three blocks of 111 bytes that are accessed twice each, and one of 222 that stays. For C and C++. */
#include <stdio.h>
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

#ifdef OWN_NAMES
static volatile int calls;

char *strdup(const char *string) {
  ++calls;
  return (char *)string;
}

char *strndup(const char *string, size_t most) {
  ++calls;
  return (char *)string + most;
}

int malloc_info(int options, FILE *stream) {
  ++calls;
  return stream ? options : 0;
}

static int are_own(void) {
  char *volatile copy = strdup("a");
  copy = strndup(copy, 1);
  return malloc_info(7, stdout) == 7 && calls == 3;
}
#else
static int are_own(void) { return 1; }
#endif

int main(void) {
  for (int i = 0; i < 3; ++i) {
    char *volatile block = make(111);
    *(volatile char *)block = 1;
    *(volatile char *)block = 2;
    destroy(block);
  }
  kept = make(222);
  return !are_own();
}
