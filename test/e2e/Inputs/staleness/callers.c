#include "allocate.h"

char *cold[KINDS][BLOCKS], *hot[KINDS][BLOCKS], *more[KINDS][BLOCKS];

static __attribute__((noinline)) void fill_lines(int i) {
  cold[LINES][i] = helper(40);
  hot[LINES][i] = helper(41);
}

static __attribute__((noinline)) void fill_one_line(int i) {
  cold[ONE_LINE][i] = helper(42), hot[ONE_LINE][i] = helper(43);
}

static __attribute__((noinline)) void fill_one_column(int i) {
  char **one = cold[ONE_COLUMN], **two = hot[ONE_COLUMN];
  one[i] = helper(52);
  two[i] = helper(53);
}

static __attribute__((noinline)) void fill_loops(void) {
  for (int i = 0; i < BLOCKS; i++) cold[LOOPS][i] = helper(44);
  for (int i = 0; i < BLOCKS; i++) hot[LOOPS][i] = helper(45);
}

static __attribute__((noinline)) void fill_wrapped(int i) {
  cold[WRAPPED][i] = wrap(46);
  hot[WRAPPED][i] = wrap(47);
}

static __attribute__((noinline)) char *make_cold(void) {
  return build(48);
}

static __attribute__((noinline)) char *make_hot(void) {
  return build(49);
}

__attribute__((noinline)) void fill(void) {
  fill_loops();
  for (int i = 0; i < BLOCKS; i++) {
    fill_lines(i);
    fill_one_line(i);
    fill_one_column(i);
    fill_wrapped(i);
    cold[LEVELS][i] = make_cold();
    hot[LEVELS][i] = make_hot();
  }
}
