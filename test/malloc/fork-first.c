/* A process that forks while a thread of it makes its first request: the child's first request is served.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -o %t.archive -pthread
 * RUN: %t.archive | FileCheck %s
 *
 * CHECK: 100 rounds well
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t start;

static void *first_requests(void *unused) {
  void *kept[100];
  pthread_barrier_wait(&start);
  for (int i = 0; i < 100; i++)
    kept[i] = malloc(i % 10 ? (size_t)i * 100 : 300000);
  for (int i = 0; i < 100; i++)
    free(kept[i]);
  return unused;
}

/* In a process of its own, whose heap is as the program's start left it. */
static int fork_meanwhile(int spins) {
  pthread_t thread;
  int status = 0;
  pthread_barrier_init(&start, NULL, 2);
  pthread_create(&thread, NULL, first_requests, NULL);
  pthread_barrier_wait(&start);
  for (volatile int i = 0; i < spins; i++)
    ;
  for (int i = 0; i < 3 && !status; i++) {
    pid_t child = fork();
    if (!child) {
      alarm(600);
      char *small = malloc(100), *large = malloc(300000);
      memset(small, 1, 100);
      memset(large, 1, 300000);
      free(small);
      free(large);
      _exit(0);
    }
    waitpid(child, &status, 0);
  }
  pthread_join(thread, NULL);
  return status;
}

int main(void) {
  int well = 0;
  for (int i = 0; i < 100; i++) {
    int status;
    pid_t child = fork();
    if (!child)
      _exit(fork_meanwhile(i * 100) != 0);
    waitpid(child, &status, 0);
    well += status == 0;
  }
  printf("%d rounds well\n", well);
}
