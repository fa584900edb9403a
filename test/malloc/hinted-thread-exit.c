/* Threads come and go without losing the blocks they held back; handlers that run after the allocator's own at thread
 * exit may still allocate and free.
 *
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc_a -o %t -pthread
 * RUN: %t | FileCheck %s
 *
 * CHECK: 0 live, resident under 4 MiB
 */
#undef NDEBUG
#include <assert.h>
#include <hearth/malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t key;

/* Sets itself again, so that it also runs in a later round than the allocator's handler. */
static void at_exit(void *block) {
  static _Thread_local int rounds;
  free(block);
  if (++rounds < 3)
    pthread_setspecific(key, malloc_hot_cold(200, 0));
}

static void *run(void *unused) {
  void *blocks[300];
  for (int i = 0; i < 300; i++)
    blocks[i] = malloc_hot_cold((size_t)i * 3, 0);
  for (int i = 0; i < 300; i++)
    free(blocks[i]);
  pthread_setspecific(key, malloc_hot_cold(200, 0));
  return unused;
}

int main(void) {
  assert(!pthread_key_create(&key, at_exit));
  for (int round = 0; round < 500; round++) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
      assert(!pthread_create(&threads[i], NULL, run, NULL));
    for (int i = 0; i < 4; i++)
      pthread_join(threads[i], NULL);
  }
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  printf("%d live, resident %s\n", (int)stats.cold.live_blocks,
         stats.cold.resident_bytes < 4 << 20 ? "under 4 MiB" : "too much");
  return 0;
}
