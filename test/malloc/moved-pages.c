/* A block of megabytes grows, and its pages move. Its old place stays mapped: other threads free blocks of the same two MiB
 * at that moment, and read the first bytes of them.
 *
 * RUN: %clang -g -O1 -fno-builtin %s %malloc_a -o %t -pthread
 * RUN: %t | FileCheck %s
 * CHECK: all freed
 */
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4000, LEAST = 5 << 18, MOST = 7 << 18, STEP = 1 << 14, OTHERS = 64, OTHER_BYTES = 150000 };

static atomic_bool is_over;

static void *grow(void *unused) {
  for (int round = 0; round < ROUNDS; round++) {
    char *block = NULL;
    for (size_t bytes = LEAST; bytes <= MOST; bytes += STEP) {
      block = realloc(block, bytes);
      assert(block && (bytes == LEAST || block[LEAST - 1] == 1));
      block[LEAST - 1] = 1;
    }
    free(block);
  }
  atomic_store(&is_over, true);
  return unused;
}

int main(void) {
  pthread_t thread;
  assert(!pthread_create(&thread, NULL, grow, NULL));
  char *other[OTHERS] = {0};
  for (unsigned i = 0; !atomic_load(&is_over); i++) {
    char **at = &other[i * 37 % OTHERS];
    free(*at);
    *at = malloc(OTHER_BYTES);
    assert(*at);
    **at = 1;
  }
  pthread_join(thread, NULL);
  for (int i = 0; i < OTHERS; i++)
    free(other[i]);
  puts("all freed");
  return 0;
}
