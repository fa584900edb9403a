// C++ from profile to placement: operator new in several forms, called and, as the scope has destructors, invoked.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clangxx -O2 $(%hearth flags instrument --clang=%clang) %s -o instrumented
// RUN: env %run_clock HEARTH_OPTIONS=log_path=%t/raw ./instrumented > expected
// RUN: %hearth index --layout=calls -q raw.* --binary instrumented -o prof
// RUN: %hearth show --full prof | FileCheck %s --check-prefix=SHOW
// RUN: %clangxx -O2 $(%hearth flags use prof --clang=%clang) -I%include %s -DPLACED -o optimised
// RUN: ./optimised > actual
// RUN: FileCheck %s --check-prefix=PLACED < actual
// RUN: %clangxx -O2 $(%hearth flags use prof --clang=%clang --compile) -S -emit-llvm %s -o - | FileCheck %s --check-prefix=IR
//
// SHOW-DAG: cold: 2000 allocations
// SHOW-DAG: hot: 2000 allocations
// IR-DAG: invoke {{.*}}@__hearth__Znwm12__hot_cold_t(i64 {{.*}}, i8 zeroext {{-33|0}})
// IR-DAG: @__hearth__Znam12__hot_cold_t(i64 {{.*}}, i8 zeroext 0)
// PLACED: caught 1
// PLACED: node hot payload cold
#include <cstdio>
#include <ctime>
#include <stdexcept>

#ifdef PLACED
#include <hearth/malloc.h>
static const char *place(const void *block) {
  switch (hearth_malloc_class(block)) {
  case HEARTH_MALLOC_COLD:
    return "cold";
  case HEARTH_MALLOC_HOT:
    return "hot";
  default:
    return "other";
  }
}
#endif

static int alive;

// Something to destroy while allocations are under way: they become invokes.
struct Guard {
  Guard() { ++alive; }
  __attribute__((noinline)) ~Guard() { --alive; }
};

struct Node {
  Node *next;
  char *payload;
  long key;
  Node(Node *next, char *payload, long key) : next(next), payload(payload), key(key) {
    if (key < 0)
      throw std::runtime_error("negative key");
  }
};

static Node *list;

__attribute__((noinline)) static void add(long key) {
  Guard guard;
  char *payload = new char[200];
  payload[0] = static_cast<char>(key);
  list = new Node(list, payload, key);
}

int main() {
  for (long i = 0; i < 2000; i++)
    add(i);
  int caught = 0;
  try {
    Node *before = list;
    Node failing(before, nullptr, -1);
  } catch (const std::exception &) {
    caught++;
  }
  long sum = 0;
  const clock_t end = clock() + CLOCKS_PER_SEC / 20;
  do
    for (Node *node = list; node; node = node->next)
      sum += node->key & 1;
  while (clock() < end);
  std::printf("caught %d\n", caught + (sum == 0) + alive);
#ifdef PLACED
  std::printf("node %s payload %s\n", place(list), place(list->payload));
#endif
}
