/* The heap dump of the peak has what was live at the peak, to half a percent: also what ended it, and if that is all there was. */
/* REQUIRES: traces
 * RUN: %clang -O1 -fno-builtin %s -lpthread -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: sh %S/Inputs/peak.sh %hearth %t one few many huge tail | FileCheck %s
 * RUN: sh %S/Inputs/peak.sh %hearth %t shrink move zero signal threads | FileCheck %s
 * CHECK-COUNT-5: {{^[a-z]+}} exact
 *
 * Where peaks follow each other more quickly than dumps are made, to one percent: each is higher by a ten-thousandth here.
 * RUN: sh %S/Inputs/peak.sh %hearth %t steps | FileCheck %s --check-prefix=STEPS
 * STEPS: steps {{exact|near}}
 *
 * The linked runtime does the same, and so does a sample, about.
 * RUN: %clang -O1 -fno-builtin %s %rt -lpthread -o %t.linked
 * RUN: env HEARTH_OPTIONS=mode=live:log_path=own %t.linked few && %hearth index -q --symbols own.*.peak -o own.prof && %hearth show --text own.prof | \
 * RUN:   awk '/^  TotalSize/ { sum += $NF } END { print (sum > 15750000 && sum < 15900000 ? "exact" : sum) }' | FileCheck %s --check-prefix=LINKED
 * LINKED: {{^}}exact
 * RUN: %hearth record -q --mode=live --sample=10000 -o some -- %t few && %hearth index -q --symbols some.peak -o some.prof && %hearth show --text some.prof | \
 * RUN:   awk '/^  TotalSize/ { sum += $NF } END { print (sum > 15600000 && sum < 16000000 ? "near" : sum) }' | FileCheck %s --check-prefix=SAMPLE
 * SAMPLE: {{^}}near
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))
#define MIB      ((size_t)1 << 20)

static void *blocks[1000];

static NOINLINE size_t allocate(int count, size_t size) {
  for (int i = 0; i < count; ++i)
    blocks[i] = malloc(size);
  return (size_t)count * size;
}

static NOINLINE void end(int count) {
  for (int i = 0; i < count; ++i)
    free(blocks[i]);
}

static size_t fill(int count, size_t size) {
  size_t peak = allocate(count, size);

  end(count);
  return peak;
}

static void *resize(size_t from, size_t to) {
  void *block = realloc(malloc(from), to);

  if (to)
    free(block);
  return block;
}

static void end_in_handler(int number) { free(blocks[number == SIGUSR1 ? 0 : 1]); }

static pthread_barrier_t all;

static void *use(void *closure) {
  void *own[10];

  for (int i = 0; i < 10; ++i)
    own[i] = malloc(MIB);
  pthread_barrier_wait(&all);
  for (int i = 0; i < 10; ++i)
    free(own[i]);
  return closure;
}

static size_t use_in_threads(void) {
  pthread_t threads[4];

  pthread_barrier_init(&all, NULL, 4);
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, use, NULL);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  return 40 * MIB;
}

/* 1,000 blocks of 10,000 bytes, then a tenth of them comes and goes on top of more and more. */
static size_t rise(void) {
  static void *more[300];
  size_t peak = allocate(1000, 10000);

  for (int i = 0; i < 300; ++i) {
    more[i] = malloc(1000);
    free(malloc(1000000));
    peak += 1000;
  }
  return peak + 1000000;
}

static size_t run(const char *way) {
  if (strcmp(way, "one") == 0)
    return fill(1, 3 * MIB);
  if (strcmp(way, "few") == 0)
    return fill(5, 3 * MIB);
  if (strcmp(way, "many") == 0)
    return fill(10, 1000000);
  if (strcmp(way, "huge") == 0)
    return fill(2, 200 * MIB);
  if (strcmp(way, "tail") == 0)
    return fill(1000, 5000) + 0 * fill(100, 5000);
  if (strcmp(way, "shrink") == 0)
    return resize(3 * MIB, 3 * MIB / 100 * 95), 3 * MIB;
  if (strcmp(way, "move") == 0)
    return resize(3 * MIB, 6 * MIB), 9 * MIB; /* both, while it is copied */
  if (strcmp(way, "zero") == 0)
    return resize(3 * MIB, 0), 3 * MIB;
  if (strcmp(way, "threads") == 0)
    return use_in_threads();
  if (strcmp(way, "steps") == 0)
    return rise();
  signal(SIGUSR1, end_in_handler);
  size_t peak = allocate(1, 3 * MIB);
  raise(SIGUSR1);
  return peak;
}

int main(int argc, char **argv) {
  void *kept[100];

  for (int i = 0; i < 100; ++i)
    kept[i] = malloc(1000);
  size_t peak = run(argv[argc - 1]) + 100000;
  for (int i = 0; i < 100; ++i)
    free(kept[i]);
  return printf("%zu\n", peak) < 0;
}
