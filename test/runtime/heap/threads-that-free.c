/* Threads that have freed blocks of a size keep few of them for themselves once they are done with that size. The main thread
 * allocates blocks of one size now and of another size then, and sixteen threads free them.
 *
 * RUN: %clang -O1 -g -pthread %s -o %t && %t | FileCheck %s
 * RUN: %hearth record -q -o %t.raw -- %t | FileCheck %s
 * RUN: %hearth record -q --sample=65536 -o %t.raw -- %t | FileCheck %s
 * CHECK: {{^[123]\..}} times
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { TOTAL = 32 << 20, SIZES = 20, THREADS = 16, LEAST = 100 };

static void *blocks[TOTAL / LEAST];
static size_t count;
static pthread_barrier_t barrier;

/* Blocks from everywhere, so that each span has some of each thread's. */
static void *free_some(void *number) {
  for (size_t i = 0; i < SIZES; ++i) {
    pthread_barrier_wait(&barrier);
    for (size_t k = (size_t)number; k < count; k += THREADS)
      free(blocks[k]);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

static void shuffle(void) {
  static unsigned long long state = 1;
  for (size_t i = count; i > 1; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    size_t other = (size_t)(state >> 33) % i;
    void *block = blocks[i - 1];
    blocks[i - 1] = blocks[other];
    blocks[other] = block;
  }
}

int main(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  for (size_t i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, free_some, (void *)i);
  for (size_t i = 0; i < SIZES; ++i) {
    size_t size = i % 3 == 2 ? 1500 + 500 * i : 120 + 48 * i;
    count = TOTAL / size;
    for (size_t k = 0; k < count; ++k)
      blocks[k] = memset(malloc(size), 1, size);
    shuffle();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  }
  for (size_t i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("%.1f times\n", (double)usage.ru_maxrss * 1024 / TOTAL);
  return 0;
}
