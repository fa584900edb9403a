/* Coroutines that yield below decision sites, and end. */
#include <ucontext.h>

#include "word-places.h"

static ucontext_t main_context, coroutines[2];
static char stacks[2][65536];
static char *cold[BLOCKS], *hot[BLOCKS], *between[BLOCKS];
static int running;

static void yield(void) { swapcontext(&coroutines[running], &main_context); }

static void resume(int coroutine) {
  running = coroutine;
  swapcontext(&main_context, &coroutines[coroutine]);
}

static __attribute__((noinline)) void make(size_t size, char **place) {
  yield();
  *place = allocate(size);
  yield();
}

static __attribute__((noinline)) void fill_cold(int i) { make(40, &cold[i]); }
static __attribute__((noinline)) void fill_hot(int i) { make(41, &hot[i]); }
static __attribute__((noinline)) void fill_between(int i) { between[i] = allocate(42); }

static void run(void) {
  int own = running;
  for (int i = 0; i < BLOCKS; i++)
    if (own)
      fill_hot(i);
    else
      fill_cold(i);
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    getcontext(&coroutines[i]);
    coroutines[i].uc_stack.ss_sp = stacks[i];
    coroutines[i].uc_stack.ss_size = sizeof stacks[i];
    coroutines[i].uc_link = &main_context;
    makecontext(&coroutines[i], run, 0);
  }
  for (int i = 0; i < 2 * BLOCKS + 1; i++) {
    resume(i & 1);
    if (i < BLOCKS)
      fill_between(i);
    resume(!(i & 1));
  }
  heat(hot);
  print_places("cold", cold);
  print_places("hot", hot);
  print_places("between", between);
  return 0;
}
