/* malloc_stats is no point of cancellation, as in the C library: a thread that is to end prints all of it.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t 2>&1 | FileCheck %s
 *
 * CHECK: hearth malloc
 * CHECK: large blocks:
 * CHECK-NEXT: cancelled behind it
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t asked;

static void *work(void *unused) {
  pthread_barrier_wait(&asked);
  malloc_stats();
  pthread_testcancel();
  return unused;
}

int main(void) {
  pthread_t thread;
  void *result;
  pthread_barrier_init(&asked, NULL, 2);
  pthread_create(&thread, NULL, work, NULL);
  pthread_cancel(thread);
  pthread_barrier_wait(&asked);
  pthread_join(thread, &result);
  fprintf(stderr, "%s\n", result == PTHREAD_CANCELED ? "cancelled behind it" : "not cancelled");
}
