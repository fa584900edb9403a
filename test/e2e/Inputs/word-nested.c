/* Cold and hot blocks come through one function from two callers. With an argument, each caller is then called below the
 * other, which the profile never saw: the bits of both are set. */
#include "word-places.h"

static char *cold[BLOCKS], *hot[BLOCKS], *hot_in_cold[BLOCKS], *cold_in_hot[BLOCKS];

static char *(*volatile deeper)(size_t size);

static __attribute__((noinline)) char *middle(size_t size) {
  char *(*next)(size_t) = deeper;
  deeper = NULL;
  char *block = next ? next(size) : allocate(size);
  block[0] = 1;
  return block;
}

static __attribute__((noinline)) char *make_cold(size_t size) {
  char *block = middle(size);
  block[1] = 1;
  return block;
}

static __attribute__((noinline)) char *make_hot(size_t size) {
  char *block = middle(size);
  block[2] = 1;
  return block;
}

int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < BLOCKS; i++) {
    cold[i] = make_cold(40);
    hot[i] = make_hot(41);
  }
  heat(hot);
  print_places("cold", cold);
  print_places("hot", hot);
  for (int i = 0; i < BLOCKS && argc > 1; i++) {
    deeper = make_hot;
    hot_in_cold[i] = make_cold(42);
    deeper = make_cold;
    cold_in_hot[i] = make_hot(43);
  }
  if (argc > 1) {
    print_places("hot in cold", hot_in_cold);
    print_places("cold in hot", cold_in_hot);
  }
  return 0;
}
