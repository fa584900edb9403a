/* Destructors of thread-specific data run when a thread ends, in several rounds, and may allocate and free in each; those
 * of C++'s thread_local objects, too (thread-local-objects.cpp). What they do is recorded like all else.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -pthread && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* MaxSize AllocCount LiveAtExit TotalAccessCount | FileCheck %s
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t.static -pthread -static && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t.static
 * RUN: python3 %S/../Inputs/raw_print.py %t.prof.* MaxSize AllocCount LiveAtExit TotalAccessCount | FileCheck %s
 *
 * CHECK: dropped_blocks=0 dropped_stacks=0
 * CHECK: MaxSize=111 AllocCount=50 LiveAtExit=0 TotalAccessCount=50
 * CHECK: MaxSize=222 AllocCount=50 LiveAtExit=0 TotalAccessCount=50
 * CHECK: MaxSize=333 AllocCount=50 LiveAtExit=0
 * CHECK: MaxSize=444 AllocCount=50 LiveAtExit=50
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t first, second;
static void *volatile lost[50];
static int lost_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* In the first round; what it sets has its destructor called in the next. */
static void end_first(void *block) {
  free(block);
  char *volatile next = malloc(222);
  *next = 1;
  pthread_setspecific(second, next);
}

static void end_second(void *block) {
  free(realloc(block, 333));
  pthread_mutex_lock(&lock);
  lost[lost_count++] = malloc(444);
  pthread_mutex_unlock(&lock);
}

static void *work(void *closure) {
  char *volatile block = malloc(111);

  *block = 1;
  pthread_setspecific(first, block);
  return closure;
}

int main(void) {
  pthread_t threads[50];

  pthread_key_create(&second, end_second);
  pthread_key_create(&first, end_first);
  for (int i = 0; i < 50; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 50; ++i)
    pthread_join(threads[i], NULL);
  return lost_count == 50 ? 0 : 1;
}
