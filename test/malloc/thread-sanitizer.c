/* The engine itself under the thread sanitizer, by its internal functions: threads with heaps of their own, blocks that others
 * free, heaps that threads leave to each other, large blocks.
 *
 * RUN: %clang -O1 -g -fsanitize=thread -I%malloc_source -I%malloc_source/../guard -I%malloc_source/../include -I%format %s -o %t -pthread \
 * RUN:   %malloc_source/cold_memory.c %malloc_source/cold_thread.c %malloc_source/large_block.c %malloc_source/malloc_messages.c %malloc_source/remote_frees.c %malloc_source/secure_mode.c %malloc_source/segments.c %malloc_source/slow_path.c %malloc_source/sweep.c \
 * RUN:   %malloc_source/system_memory_linux.c %malloc_source/thread_heaps.c %malloc_source/../guard/futex_lock.c
 * RUN: %t 20000 2>&1 | FileCheck %s
 *
 * REQUIRES: tsan
 * CHECK-NOT: WARNING: ThreadSanitizer
 * CHECK: well
 */
#include "engine.h"
#include "large_block.h"
#include "segments.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, SHARED = 512, OWN = 300, ROUNDS = 4 };
typedef struct block {
  uint32_t bytes, number;
} block;

static block *_Atomic shared[SHARED];
static long operations;

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static block *make(uint64_t *state) {
  uint64_t number = next_random(state);
  uint32_t kind = number % 200, most = kind < 150 ? 100 : kind < 195 ? 1000 : kind < 199 ? 20000 : 400000;
  uint32_t bytes = (uint32_t)(number >> 20) % most + (uint32_t)sizeof(block);
  bool is_zero;
  block *made = NULL;
  if (bytes <= HEARTH_MEDIUM_BYTES) {
    size_t class = hearth_class_of(bytes);
    made = hearth_pool_pop(hearth_main_pool, class, hearth_class_granules(class));
    made = made ? made : hearth_pool_alloc_slowly(hearth_main_pool, class);
  } else {
    made = hearth_large_alloc(false, bytes, 1, &is_zero);
  }
  if (!made)
    abort();
  memset(made, (int)bytes, bytes);
  made->bytes = bytes;
  return made;
}

static void end(block *block) {
  for (uint32_t i = sizeof *block; i < block->bytes; i++)
    if (((unsigned char *)block)[i] != (unsigned char)block->bytes)
      abort();
  hearth_pool_free_slowly(hearth_main_pool, block);
}

static void *work(void *number) {
  uint64_t state = (uintptr_t)number + 88172645463325252u;
  block *own[OWN] = {0};
  for (long i = 0; i < operations; i++) {
    uint64_t random = next_random(&state);
    size_t at = random >> 8 & (SHARED - 1);
    if (random % 3 == 0) {
      block *other = atomic_exchange(&shared[at], make(&state));
      if (other)
        end(other);
    } else {
      at %= OWN;
      if (own[at])
        end(own[at]);
      own[at] = make(&state);
    }
  }
  for (size_t i = 0; i < OWN; i++)
    if (own[i])
      end(own[i]);
  return NULL;
}

int main(int count, char **arguments) {
  operations = count > 1 ? atol(arguments[1]) : 10000;
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t thread[THREADS];
    for (long i = 0; i < THREADS; i++)
      pthread_create(&thread[i], NULL, work, (void *)(round * THREADS + i));
    for (int i = 0; i < THREADS; i++)
      pthread_join(thread[i], NULL);
    if (hearth_main_pool->heap)
      hearth_heap_collect(hearth_main_pool->heap);
    hearth_segments_trim();
    hearth_large_trim();
  }
  puts("well");
}
