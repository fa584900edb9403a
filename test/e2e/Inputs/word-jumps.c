/* longjmp out of a decision site that never returns otherwise; with STOCK, setjmp and longjmp are called by a library without
 * profile, with SIGNAL a signal handler jumps. */
#include <setjmp.h>
#include <signal.h>

#include "word-places.h"

static sigjmp_buf env;
static char *cold[BLOCKS], *hot[BLOCKS], *jumped[BLOCKS];

#ifdef STOCK
int protect(void (*function)(int), int i);
void fail(void);
#else
static __attribute__((noinline)) void fail(void) {
#ifdef SIGNAL
  raise(SIGUSR1);
#else
  siglongjmp(env, 1);
#endif
}

static __attribute__((noinline)) int protect(void (*function)(int), int i) {
  if (sigsetjmp(env, 1))
    return 1;
  function(i);
  return 0;
}
#endif

static void on_signal(int number) {
  (void)number;
  siglongjmp(env, 1);
}

static __attribute__((noinline)) char *make(size_t size, int jumps, char **place) {
  *place = allocate(size);
  if (jumps)
    fail();
  return *place;
}

static __attribute__((noinline)) void fill_cold(int i) { make(40, 0, &cold[i]); }
static __attribute__((noinline)) void fill_hot(int i) { make(41, 0, &hot[i]); }
static __attribute__((noinline)) void fill_and_jump(int i) {
  make(42, 1, &jumped[i]);
  puts("not reached");
}

int main(void) {
  int jumps = 0;
  signal(SIGUSR1, on_signal);
  for (int i = 0; i < BLOCKS; i++) {
    jumps += protect(fill_and_jump, i);
    fill_cold(i);
    protect(fill_hot, i);
  }
  heat(hot);
  heat(jumped);
  printf("%d jumps\n", jumps);
  print_places("cold", cold);
  print_places("hot", hot);
  print_places("jumped", jumped);
  return 0;
}
