/* Forking while other threads allocate: the child can allocate and free, its copy of the heap is its own, and blocks
 * that the vanished threads held back are reused.
 *
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc_a -o %t -pthread
 * RUN: %t | FileCheck %s
 *
 * CHECK: 200 children well
 */
#undef NDEBUG
#include <assert.h>
#include <hearth/malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int done;

static void churn(unsigned seed, int steps, volatile int *stop) {
  enum { SLOTS = 64 };
  char *blocks[SLOTS] = {0};
  for (int i = 0; i < steps && !*stop; i++) {
    seed = seed * 1664525 + 1013904223;
    unsigned slot = seed >> 8 & (SLOTS - 1);
    free(blocks[slot]);
    blocks[slot] = malloc_hot_cold(seed >> 16 & 1 ? 40 : seed >> 18, (uint8_t)(seed & 1 ? 0 : 255));
    blocks[slot][0] = 1;
  }
  for (int i = 0; i < SLOTS; i++)
    free(blocks[i]);
}

static void *run(void *seed) {
  while (!done)
    churn((unsigned)(size_t)seed, 100000, &done);
  return NULL;
}

static void child(char *shared, unsigned seed) {
  volatile int never = 0;
  assert(!strcmp(shared, "from the parent"));
  strcpy(shared, "from the child");
  free(shared);
  churn(seed, 20000, &never);
  _exit(0);
}

int main(void) {
  enum { THREADS = 3, CHILDREN = 200 };
  pthread_t threads[THREADS];
  int well = 0;
  char *shared = malloc_hot_cold(100, 0);
  strcpy(shared, "from the parent");
  for (size_t i = 0; i < THREADS; i++)
    assert(!pthread_create(&threads[i], NULL, run, (void *)(i + 1)));
  for (unsigned i = 0; i < CHILDREN; i++) {
    int status;
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0)
      child(shared, i);
    assert(waitpid(pid, &status, 0) == pid);
    well += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  done = 1;
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  assert(!strcmp(shared, "from the parent"));
  free(shared);
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  assert(stats.cold.live_blocks == 0 && stats.hot.live_blocks == 0);
  printf("%d children well\n", well);
  return 0;
}
