// The other unit: a local function with the name of one in inlining.cpp, and code that no other unit has.
#include "inlining.h"

volatile int drain;

__attribute__((noinline)) void sink(int n) { drain = n; }

static inline __attribute__((always_inline)) void pass(int n) { sink(n); sink(-n); }

static __attribute__((noinline)) void init(int n) {
  pass(n); pass(n + 1);
  for (int i = 0; i < n; ++i) { pass(i); if (i & 1) pass(i + n); }
}

void other(int n) { init(n); pass(n); }
