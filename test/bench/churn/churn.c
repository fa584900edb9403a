/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* churn: a long-lived program's heap, in a short time.
 *
 * usage: churn MIB OPERATIONS THREADS
 *   MIB         the most bytes in blocks, of all threads
 *   OPERATIONS  allocations and frees, of all threads
 *
 * In each of PHASES phases another mixture of sizes, lifetimes and pools holds, and another amount of live bytes: a new block
 * takes the place of a random one, mostly of one born lately. Prints, on one line,
 *
 *   PEAK   greatest resident bytes to the greatest sum of bytes in blocks
 *   MEAN   resident bytes to bytes in blocks, geometric mean of samples over all phases but the first
 *   WORST  the greatest of these
 *   LAST   of the last phase, with as many bytes as the first
 *   NS     nanoseconds of processor time for each operation */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(HINTED)
#include <hearth/malloc.h>
#elif defined(HEAPS) /* a heap of mimalloc's for each pool and thread */
#include <mimalloc.h>
static void *malloc_hot_cold(size_t bytes, uint8_t hint) {
  static _Thread_local mi_heap_t *heaps[UINT8_MAX + 1];
  if (!heaps[hint])
    heaps[hint] = mi_heap_new();
  return mi_heap_malloc(heaps[hint], bytes);
}
#define free mi_free
#else
static void *malloc_hot_cold(size_t bytes, uint8_t hint) {
  (void)hint;
  return malloc(bytes);
}
#endif

enum { PHASES = 20, SAMPLES = 8, KINDS = 6, THREADS_MOST = 16, SLOTS_MOST = 1 << 21 };

struct block {
  char *at;
  uint32_t bytes;
};

struct worker {
  struct block *blocks;
  size_t count, live_bytes, target_bytes;
  uint64_t random;
};

/* Sizes, the pool, and how many of a kind's frees take a block born lately: short lives. */
static const struct kind {
  uint32_t least, most;
  uint8_t hint;
  uint8_t young_percent;
} kinds[KINDS] = {{16, 64, 223, 90},   {24, 200, 224, 50},  {100, 1000, 225, 20},
                  {16, 4000, 226, 70}, {500, 9000, 223, 0}, {32, 32, 227, 30}};

/* Weights of the kinds, of each phase a row; and its live bytes in per cent of the most. */
static const struct phase {
  uint8_t weight[KINDS];
  uint8_t percent;
} phases[] = {{{30, 30, 10, 10, 1, 19}, 70}, {{80, 10, 5, 5, 0, 0}, 100},   {{5, 10, 60, 20, 5, 0}, 80},
              {{10, 80, 5, 5, 0, 0}, 40},    {{0, 20, 20, 40, 10, 10}, 90}, {{20, 0, 0, 0, 0, 80}, 60},
              {{10, 10, 30, 45, 5, 0}, 100}};
enum { MIXTURES = sizeof phases / sizeof *phases };

static struct worker workers[THREADS_MOST];
static unsigned threads;
static size_t most_bytes;
static unsigned long operations;
static pthread_barrier_t begin, end;
static const struct phase *phase;

static uint32_t next_random(struct worker *worker) {
  worker->random = worker->random * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)(worker->random >> 33);
}

static const struct kind *random_kind(struct worker *worker) {
  unsigned at = next_random(worker) % 100, i = 0;
  while (i < KINDS - 1 && at >= phase->weight[i])
    at -= phase->weight[i++];
  return &kinds[i];
}

/* The new block is the youngest: the last. */
static void add(struct worker *worker, const struct kind *kind) {
  uint32_t bytes = kind->least + next_random(worker) % (kind->most - kind->least + 1);
  struct block block = {malloc_hot_cold(bytes, kind->hint), bytes};
  if (worker->count == SLOTS_MOST || !block.at)
    exit(3);
  memset(block.at, 1, bytes);
  worker->blocks[worker->count++] = block;
  worker->live_bytes += bytes;
}

static void drop(struct worker *worker, const struct kind *kind) {
  size_t young = worker->count / 64 + 1;
  size_t at = next_random(worker) % 100 < kind->young_percent ? worker->count - 1 - next_random(worker) % young
                                                              : next_random(worker) % worker->count;
  struct block block = worker->blocks[at];
  worker->blocks[at] = worker->blocks[--worker->count];
  worker->live_bytes -= block.bytes;
  free(block.at);
}

static void step(struct worker *worker) {
  const struct kind *kind = random_kind(worker);
  if (worker->live_bytes < worker->target_bytes)
    add(worker, kind);
  else
    drop(worker, kind);
}

static void *work(void *argument) {
  struct worker *worker = argument;
  unsigned long steps = operations / threads / PHASES / SAMPLES;
  for (int i = 0; i < PHASES * SAMPLES; i++) {
    pthread_barrier_wait(&begin);
    worker->target_bytes = most_bytes / 100 * phase->percent / threads;
    for (unsigned long k = 0; k < steps; k++)
      step(worker);
    pthread_barrier_wait(&end);
  }
  return NULL;
}

static double resident_bytes(void) {
  double pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (!statm || fscanf(statm, "%*d %lf", &pages) != 1)
    exit(3);
  fclose(statm);
  return pages * 4096;
}

static double live_bytes(void) {
  double bytes = 0;
  for (unsigned i = 0; i < threads; i++)
    bytes += (double)workers[i].live_bytes;
  return bytes;
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  pthread_t ids[THREADS_MOST];
  if (argc != 4 || (threads = (unsigned)atoi(argv[3])) < 1 || threads > THREADS_MOST)
    return 2;
  most_bytes = (size_t)atol(argv[1]) << 20;
  operations = strtoul(argv[2], NULL, 10);
  pthread_barrier_init(&begin, NULL, threads + 1);
  pthread_barrier_init(&end, NULL, threads + 1);
  static struct block blocks[THREADS_MOST][SLOTS_MOST];
  for (unsigned i = 0; i < threads; i++) {
    workers[i] = (struct worker){.blocks = memset(blocks[i], 1, sizeof blocks[i]), .random = i + 1};
    pthread_create(&ids[i], NULL, work, &workers[i]);
  }
  double before = resident_bytes(), start = processor_seconds(), sum = 0, worst = 0, last = 0;
  double most_resident = 0, most_live = 0;
  for (int i = 0; i < PHASES * SAMPLES; i++) {
    phase = &phases[i / SAMPLES % MIXTURES];
    if (i / SAMPLES == PHASES - 1)
      phase = &phases[0];
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    double resident = resident_bytes() - before, live = live_bytes();
    most_resident = resident > most_resident ? resident : most_resident;
    most_live = live > most_live ? live : most_live;
    last = resident / live;
    if (i < SAMPLES)
      continue;
    sum += log(last);
    worst = last > worst ? last : worst;
  }
  for (unsigned i = 0; i < threads; i++)
    pthread_join(ids[i], NULL);
  double ns = (processor_seconds() - start) / (double)operations * 1e9;
  printf("%.3f %.3f %.3f %.3f %.1f\n", most_resident / most_live, exp(sum / ((PHASES - 1) * SAMPLES)), worst, last, ns);
  return 0;
}
