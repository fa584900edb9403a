/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pairs: malloc and free again and again, at a depth of ten calls, on one or more threads at once.
 *
 * usage: pairs THREADS PAIRS    pairs of each thread
 *
 * Prints nanoseconds of processor time for each pair, the least of several rounds on any thread, and the wall time of a
 * pair of all threads together. What other programs do meanwhile changes the first little. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 10, THREADS_MOST = 64, CALLS = 7 }; /* with work, repeat and main or the thread's start: ten */

static unsigned long pairs; /* of each round */

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void repeat(void) {
  for (unsigned long i = 0; i < pairs; i++) {
    void *block = malloc(48);
    __asm__ volatile("" : : "r"(block) : "memory"); /* or the pair is optimised away */
    free(block);
  }
}

__attribute__((noinline)) static void descend(int calls) {
  if (calls == 0)
    repeat();
  else
    descend(calls - 1);
  __asm__ volatile(""); /* no tail call */
}

static void *work(void *least) {
  for (int i = 0; i < ROUNDS; i++) {
    double start = seconds(CLOCK_THREAD_CPUTIME_ID);
    descend(CALLS);
    double taken = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    if (i == 0 || taken < *(double *)least)
      *(double *)least = taken;
  }
  return NULL;
}

static unsigned long number(const char *text, unsigned long most) {
  char *end;
  errno = 0;
  unsigned long value = strtoul(text, &end, 10);
  if (errno || *end || *text == '-' || value == 0 || value > most) {
    fprintf(stderr, "pairs: '%s' is not a number from 1 to %lu\n", text, most);
    exit(2);
  }
  return value;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fputs("usage: pairs THREADS PAIRS\n", stderr);
    return 2;
  }
  unsigned long count = number(argv[1], THREADS_MOST);
  pairs = number(argv[2], 1000000000) / ROUNDS + 1;
  pthread_t threads[THREADS_MOST];
  double least[THREADS_MOST], start = seconds(CLOCK_MONOTONIC);
  for (unsigned long i = 1; i < count; i++)
    if (pthread_create(&threads[i], NULL, work, &least[i]) != 0) {
      fputs("pairs: cannot start a thread\n", stderr);
      return 1;
    }
  work(&least[0]);
  for (unsigned long i = 1; i < count; i++)
    pthread_join(threads[i], NULL);
  double wall = seconds(CLOCK_MONOTONIC) - start, best = least[0];
  for (unsigned long i = 1; i < count; i++)
    best = least[i] < best ? least[i] : best;
  printf("%.2f %.2f\n", best * 1e9 / (double)pairs, wall * 1e9 / (double)(pairs * ROUNDS * count));
}
