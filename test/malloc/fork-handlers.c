/* Fork handlers of the program allocate and free, whether registered before or after the allocator's own, while other
 * threads allocate; no deadlock, in the parent and in the child, and nothing lost.
 *
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc_a -o %t -pthread
 * RUN: %t | FileCheck %s
 *
 * CHECK: 50 children well, 0 live
 */
#undef NDEBUG
#include <assert.h>
#include <hearth/malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 600, KEPT = 8 }; /* more small blocks than a thread's cache holds */

static void *kept[KEPT];
static atomic_int done;

static void use(void) {
  static _Thread_local void *small[SMALL];
  for (int i = 0; i < SMALL; i++) {
    small[i] = malloc_hot_cold(48, (uint8_t)(i % 2 ? 0 : 255));
    memset(small[i], i, 48);
  }
  for (int i = 0; i < SMALL; i++) {
    for (int k = 0; k < 48; k++)
      assert(((unsigned char *)small[i])[k] == (unsigned char)i);
    free(small[i]);
  }
  char *large = malloc_hot_cold(100000, 0);
  large = realloc_hot_cold(large, 300000, 255);
  free(large);
}

/* Frees what an earlier call or main took, takes new. */
static void handler(void) {
  alarm(600); /* a child does not inherit it */
  for (int i = 0; i < KEPT; i++) {
    free(kept[i]);
    kept[i] = malloc_hot_cold((size_t)40000 * (size_t)(i % 2) + 100, 0);
  }
  use();
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  assert(stats.cold.live_blocks >= KEPT);
}

static void *run(void *unused) {
  while (!done)
    use();
  return unused;
}

static void *run_once(void *unused) {
  use();
  return unused;
}

int main(void) {
  enum { THREADS = 3, CHILDREN = 50 };
  pthread_t threads[THREADS];
  int well = 0;
  assert(!pthread_atfork(handler, handler, handler));
  for (int i = 0; i < KEPT; i++)
    kept[i] = malloc_hot_cold(100, 0); /* the allocator registers its own */
  assert(!pthread_atfork(handler, handler, handler));
  for (int i = 0; i < THREADS; i++)
    assert(!pthread_create(&threads[i], NULL, run, NULL));
  for (int i = 0; i < CHILDREN; i++) {
    int status;
    pid_t pid = fork();
    assert(pid >= 0);
    if (pid == 0) {
      pthread_t other;
      assert(!pthread_create(&other, NULL, run_once, NULL));
      use();
      pthread_join(other, NULL);
      _exit(0);
    }
    assert(waitpid(pid, &status, 0) == pid);
    well += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  done = 1;
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < KEPT; i++)
    free(kept[i]);
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  printf("%d children well, %d live\n", well, (int)(stats.cold.live_blocks + stats.hot.live_blocks));
  return 0;
}
