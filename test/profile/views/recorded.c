/* What recording alone tells: short-lived blocks, steps of growth; and in a trace, blocks that another thread frees. */
/* RUN: rm -rf %t && mkdir %t && cd %t && %clang -O1 -gmlt -fdebug-info-for-profiling %s -o app -lpthread
 * RUN: for kind in temporary ladder threads; do \
 * RUN:   %hearth record -q --mode=trace -o $kind.trace -- ./app $kind && %hearth advise $kind.trace > $kind.txt && \
 * RUN:   %hearth index -q $kind.trace -o $kind.prof && %hearth advise $kind.prof > $kind.prof.txt || exit 1; done
 *
 * RUN: FileCheck %s --check-prefix=TEMPORARY < temporary.txt
 * TEMPORARY: temporary.trace: 1 finding{{$}}
 * TEMPORARY: 1. short-lived blocks (short-lived): up to {{99.9|100.0}}% of all allocations
 * TEMPORARY-NEXT: use_temporary recorded.c:[[#]]:[[#]]
 * TEMPORARY-NEXT: 200000 blocks of 40 bytes live {{.*}} on average; 100% are freed before their thread allocates or frees another
 * TEMPORARY-NEXT: remedy: keep one buffer
 * TEMPORARY: use_temporary recorded.c:
 * TEMPORARY-NEXT: main recorded.c:
 * RUN: FileCheck %s --check-prefix=TEMPORARY-PROFILE < temporary.prof.txt
 * TEMPORARY-PROFILE: 200000 blocks of 40 bytes live {{[^;]*}} on average{{$}}
 * TEMPORARY-PROFILE: not looked for: oversized (needs a program compiled for profiling, that counts all accesses)
 * TEMPORARY-PROFILE: not looked for: foreign (needs a trace
 *
 * A profile does not tell realloc from malloc; a trace does.
 * RUN: FileCheck %s --check-prefix=LADDER < ladder.txt
 * LADDER: memory that grows step by step (ladder): up to
 * LADDER-NEXT: use_ladder recorded.c:
 * LADDER-NEXT: realloc makes blocks larger 4950 times, with {{.*}} to copy at most; 8 to 800 bytes
 * RUN: not grep "(ladder)" ladder.prof.txt
 *
 * RUN: FileCheck %s --check-prefix=THREADS < threads.txt
 * THREADS-DAG: blocks that another thread frees (foreign): up to
 * THREADS-DAG: 2000 of 4000 blocks are freed by another thread
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4000 };

static void *volatile sink;
static void *blocks[BLOCKS], *kept[BLOCKS];

static void use_temporary(void) {
  for (int i = 0; i < 200000; i++) {
    sink = malloc(40);
    free(sink);
  }
}

static void use_ladder(void) {
  for (int i = 0; i < 50; i++) {
    void *block = NULL;
    for (size_t size = 8; size <= 800; size += 8)
      block = realloc(block, size);
    free(block);
  }
}

/* A thread's cache hands out the block that it was given last: a neighbour of the other thread's. */
static void *take_every_second(void *unused) {
  for (int i = 0; i < BLOCKS; i += 2) {
    free(blocks[i]);
    kept[i] = malloc(24);
  }
  return unused;
}

static void use_threads(void) {
  pthread_t thread;
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = malloc(24);
  pthread_create(&thread, NULL, take_every_second, NULL);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*use)(void);
  } kinds[] = {{"temporary", use_temporary}, {"ladder", use_ladder}, {"threads", use_threads}};
  for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(argv[1], kinds[i].name) == 0)
      kinds[i].use();
  return 0;
}
