/* Threads that allocate, resize and free blocks of all sizes, of their own and of each other, while some fork and timers
 * interrupt them; contents, overlap, alignment and usable sizes are checked.
 *
 * usage: torture OPERATIONS SEED [THREADS]. Exit status 0 if all was well; else a message. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHARED = 4096, OWN = 512, MOST_THREADS = 64 };

/* A block's first word is its size and a number; its bytes follow from these, so that an overlap shows. */
typedef struct block {
  uint32_t bytes, number;
  unsigned char rest[];
} block;

static block *_Atomic shared[SHARED];
static _Atomic uint32_t numbers;
static _Atomic long children;
static _Atomic uint32_t interruptions; /* by whichever thread */
static long operations, seed;

static _Noreturn void fail(const char *what, const block *block) {
  dprintf(2, "torture: %s: block %p\n", what, (const void *)block);
  _exit(1);
}

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Mostly small, some up to 2 MiB. */
static uint32_t random_bytes(uint64_t *state) {
  uint64_t number = next_random(state), kind = number % 1000;
  number >>= 12;
  uint32_t most = kind < 600 ? 128 : kind < 900 ? 1024 : kind < 990 ? 9000 : kind < 998 ? 150000 : 2 << 20;
  uint32_t bytes = (uint32_t)(number % most) + 1;
  return bytes < sizeof(block) ? sizeof(block) : bytes;
}

static unsigned char fill_of(const block *block, uint32_t at) { return (unsigned char)(block->number * 31 + at * 7); }

/* All bytes of small blocks; of others both ends and one in a thousand. */
static uint32_t step_at(const block *block, uint32_t at) {
  return at < 256 || at + 64 > block->bytes - sizeof *block ? 1 : 997;
}

static void fill(block *block, uint32_t bytes, uint32_t from) {
  for (uint32_t at = from; at < bytes - sizeof *block; at += step_at(block, at))
    block->rest[at] = fill_of(block, at);
}

static void check(const block *block, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes - sizeof *block; at += step_at(block, at))
    if (block->rest[at] != fill_of(block, at))
      fail("contents differ", block);
}

static block *make(uint64_t *state) {
  uint32_t bytes = random_bytes(state), kind = next_random(state) % 32;
  size_t alignment = kind == 2 ? (size_t)16 << next_random(state) % 13 : 16;
  block *made = kind == 0   ? calloc(1, bytes)
                : kind == 2 ? memalign(alignment, bytes)
                            : malloc(bytes);
  if (!made)
    fail("no memory", made);
  if ((uintptr_t)made % alignment)
    fail("not aligned", made);
  if (malloc_usable_size(made) < bytes)
    fail("usable size", made);
  for (uint32_t at = 0; kind == 0 && at < bytes; at += at < 512 ? 1 : 509)
    if (((unsigned char *)made)[at])
      fail("not zero", made);
  made->bytes = bytes;
  made->number = atomic_fetch_add(&numbers, 1);
  fill(made, bytes, 0);
  return made;
}

static void end(block *block) {
  check(block, block->bytes);
  block->number = ~block->number;
  free(block);
}

static block *resize(block *old, uint64_t *state) {
  uint32_t before = old->bytes, bytes = random_bytes(state);
  check(old, before);
  block *resized = realloc(old, bytes);
  if (!resized || (uintptr_t)resized % 16)
    fail("realloc", resized);
  resized->bytes = before < bytes ? before : bytes;
  for (uint32_t at = 0; at < resized->bytes - sizeof *resized && at < 256; at++)
    if (resized->rest[at] != fill_of(resized, at))
      fail("contents differ after realloc", resized);
  resized->bytes = bytes;
  fill(resized, bytes, 0);
  return resized;
}

static void fork_child(uint64_t *state) {
  pid_t child = fork();
  if (!child) {
    alarm(600);
    for (int i = 0; i < 300; i++) {
      block *kept = make(state);
      end(resize(make(state), state));
      end(kept);
    }
    _exit(0);
  }
  int status;
  while (child > 0 && waitpid(child, &status, 0) < 0)
    ;
  if (child < 0 || status)
    fail("child", NULL);
  atomic_fetch_add(&children, 1);
}

static void *work(void *number) {
  uint64_t state = (uint64_t)seed * 1000003 + (uintptr_t)number + 1;
  block *own[OWN] = {0};
  for (int i = 0; i < 10; i++)
    next_random(&state);
  for (long i = 0; i < operations; i++) {
    uint64_t random = next_random(&state);
    size_t at = random % OWN;
    switch (random >> 40 & 7) {
    case 0: { /* another thread's, or one that another thread will free */
      block *other = atomic_exchange(&shared[random >> 20 & (SHARED - 1)], random >> 50 & 1 ? make(&state) : NULL);
      if (other)
        end(other);
      break;
    }
    case 1:
      if (own[at])
        own[at] = resize(own[at], &state);
      break;
    case 2: /* many at once */
      for (size_t j = at; (random >> 48 & 63) == 0 && j < OWN; j++)
        if (own[j]) {
          end(own[j]);
          own[j] = NULL;
        }
      break;
    default:
      if (own[at])
        end(own[at]);
      own[at] = make(&state);
    }
    if (random >> 44 == 0 || i == operations / 2)
      fork_child(&state);
  }
  for (size_t i = 0; i < OWN; i += 2)
    if (own[i])
      end(own[i]);
  for (size_t i = 1; i < OWN; i += 2) /* left to whoever comes */
    if (own[i] && (own[i] = atomic_exchange(&shared[i], own[i])))
      end(own[i]);
  return NULL;
}

static void interrupt(int signal) {
  (void)signal;
  atomic_fetch_add_explicit(&interruptions, 1, memory_order_relaxed);
}

int main(int count, char **arguments) {
  long all = count > 1 ? atol(arguments[1]) : 1000000;
  seed = count > 2 ? atol(arguments[2]) : 1;
  long threads = count > 3 ? atol(arguments[3]) : 16;
  if (threads < 1 || threads > MOST_THREADS)
    return 2;
  sigaction(SIGPROF, &(struct sigaction){.sa_handler = interrupt, .sa_flags = SA_RESTART}, NULL);
  struct timeval often = {0, 1000};
  setitimer(ITIMER_PROF, &(struct itimerval){often, often}, NULL);
  enum { ROUNDS = 4 }; /* threads end and start */
  operations = all / threads / ROUNDS;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t thread[MOST_THREADS];
    for (long i = 0; i < threads; i++)
      pthread_create(&thread[i], NULL, work, (void *)(round * threads + i));
    for (long i = 0; i < threads; i++)
      pthread_join(thread[i], NULL);
  }
  for (size_t i = 0; i < SHARED; i++)
    if (shared[i])
      end(shared[i]);
  malloc_trim(0);
  printf("%ld operations well, seed %ld, %ld children, %s\n", operations * threads * ROUNDS, seed, atomic_load(&children),
         interruptions ? "interrupted" : "never interrupted");
}
