/* Forks while other threads allocate: the child can allocate, its copy of the heap is its own.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 * RUN: env LD_PRELOAD=%malloc_checked %t | FileCheck %s
 *
 * CHECK: 200 children well
 */
#undef NDEBUG
#include <assert.h>
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
    unsigned slot = seed >> 8 & (SLOTS - 1), shift = seed >> 27 ? 20 : 12;
    free(blocks[slot]);
    blocks[slot] = malloc((seed >> shift) + 1);
    blocks[slot][0] = 1;
    blocks[slot][seed >> shift] = 1;
  }
  for (int i = 0; i < SLOTS; i++)
    free(blocks[i]);
}

static void *run(void *seed) {
  while (!done)
    churn((unsigned)(size_t)seed, 100000, &done);
  return NULL;
}

static void *run_short(void *seed) {
  volatile int never = 0;
  churn((unsigned)(size_t)seed, 300, &never);
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  volatile int never = 0;
  int well = 0;
  for (size_t i = 0; i < 3; i++)
    pthread_create(&threads[i], NULL, run, (void *)(i + 1));
  for (int i = 0; i < 200; i++) {
    char *own = malloc(100);
    memset(own, i, 100);
    pid_t child = fork();
    if (!child) {
      alarm(600);
      churn((unsigned)i, 3000, &never);
      pthread_t thread;
      pthread_create(&thread, NULL, run_short, (void *)7);
      pthread_join(thread, NULL);
      for (int j = 0; j < 100; j++)
        assert(own[j] == (char)i);
      free(own);
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    well += status == 0;
    free(own);
  }
  done = 1;
  for (int i = 0; i < 3; i++)
    pthread_join(threads[i], NULL);
  printf("%d children well\n", well);
}
