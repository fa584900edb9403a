/* What a core dump would hold, and vm.overcommit_memory=2 counts: mappings that are readable and writable are little more than
 * what is in use; the rest of the heap's addresses has no access.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t -pthread
 * RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
 *
 * CHECK: 100 MB in small blocks: at most 1.1 times
 * CHECK: freed: at most 16 MiB
 * CHECK: 100 MB in large blocks: at most 1.1 times
 * CHECK: freed: at most 16 MiB
 * CHECK: 20 blocks in each of 20 threads: at most 8 MiB
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of private mappings that are readable and writable, without stacks. */
static long writable_kib(void) {
  FILE *file = fopen("/proc/self/maps", "r");
  char line[512], access[8];
  uintptr_t start, end;
  long kib = 0;
  if (!file)
    abort();
  while (fgets(line, sizeof line, file))
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &start, &end, access) == 3 && !strcmp(access, "rw-p") &&
        !strstr(line, "[stack"))
      kib += (long)((end - start) >> 10);
  fclose(file);
  return kib;
}

static pthread_barrier_t allocated, measured;
static void *allocate_little(void *unused) {
  for (int i = 0; i < 20; i++)
    memset(malloc((size_t)i * 50 + 1), 1, (size_t)i * 50 + 1);
  pthread_barrier_wait(&allocated);
  pthread_barrier_wait(&measured);
  return unused;
}

static const char *least(double ratio) { return ratio <= 1.1 ? "at most 1.1 times" : "more"; }

int main(void) {
  enum { THREADS = 20, STACK = 64 << 10, SMALL = 100 };
  static void *block[1000000];
  memset(block, 1, sizeof block);
  long before = writable_kib(), first = before;
  for (int i = 0; i < 1000000; i++)
    memset((block[i] = malloc(i % 2 ? 96 : 112)), 1, 96);
  long small = writable_kib() - before;
  printf("100 MB in small blocks: %s\n", least((double)small * 1024 / 104e6));
  for (int i = 0; i < 1000000; i++)
    free(block[i]);
  printf("freed: at most %ld MiB\n", ((writable_kib() - first) / 16384 + 1) * 16);
  before = writable_kib();
  for (int i = 0; i < 100; i++)
    memset((block[i] = malloc(1000000)), 1, 1000000);
  printf("100 MB in large blocks: %s\n", least((double)(writable_kib() - before) * 1024 / 100e6));
  for (int i = 0; i < 100; i++)
    free(block[i]);
  printf("freed: at most %ld MiB\n", ((writable_kib() - first) / 16384 + 1) * 16);
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  pthread_barrier_init(&allocated, NULL, THREADS + 1);
  pthread_barrier_init(&measured, NULL, THREADS + 1);
  before = writable_kib();
  for (int i = 0; i < THREADS; i++)
    pthread_create(&thread, &attributes, allocate_little, NULL);
  pthread_barrier_wait(&allocated);
  long each = (writable_kib() - before - THREADS * (STACK >> 10)) / THREADS;
  pthread_barrier_wait(&measured);
  printf("20 blocks in each of 20 threads: at most %ld MiB\n", (each * THREADS / 8192 + 1) * 8);
}
