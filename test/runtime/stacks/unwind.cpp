// Call stacks through code without frame pointers: of the program, of the C and C++ libraries, callbacks that these make
// included. They are those that backtrace() finds, also when a stack is remembered that differs in one caller only.
//
// DEFINE: %{flags} = -g -O2 -fno-optimize-sibling-calls -fno-builtin -Wl,--build-id %s %rt -lpthread -o %t
// DEFINE: %{check} = rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:recursion=full %t > %t.txt && \
// DEFINE:   python3 %S/../Inputs/backtraces.py %t.prof.* %t.txt
//
// RUN: %clangxx -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer %{flags} && %{check}
// RUN: %clangxx -fomit-frame-pointer %{flags} && %{check}
// RUN: %clangxx -fomit-frame-pointer -static %{flags} && %{check}
// RUN: g++-12 -fomit-frame-pointer %{flags} && %{check}
//
// By frame pointers alone, callers are missing.
// RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof:recursion=full:unwind=fp %t > %t.txt
// RUN: not python3 %S/../Inputs/backtraces.py %t.prof.* %t.txt
//
// REQUIRES: g++-12
#include <alloca.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <string>
#include <thread>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

// The size of the allocation that follows, by this function or by a library's, and the callers of this one's caller.
NOINLINE static void announce(const char *by, size_t size) {
  void *pcs[80];
  int count = backtrace(pcs, 80);

  printf("%s %zu", by, size);
  for (int i = 2; i < count; ++i)
    printf(" %zu", (size_t)pcs[i]);
  printf("\n");
}

NOINLINE static void allocate(size_t size) {
  announce("program", size);
  free(malloc(size));
  sink = 1;
}

NOINLINE static int compare(const void *left, const void *right) {
  allocate(1001);
  return *(const int *)left - *(const int *)right;
}

NOINLINE static void sort() {
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof *numbers, compare);
  sink = numbers[0];
}

NOINLINE static void make_string() {
  announce("library", 2002 + 1);
  std::string string(2002, 'x');
  sink = string[1];
}

NOINLINE static void left() { make_string(), sink = 1; }
NOINLINE static void right() { make_string(), sink = 2; }

NOINLINE static void variable(size_t size) {
  char *array = static_cast<char *>(alloca(size));
  memset(array, 1, size);
  allocate(1003);
  sink = array[size / 2];
}

NOINLINE static void aligned() {
  alignas(64) volatile char line[64];
  line[5] = 1;
  allocate(1004);
  sink = line[5];
}

static ucontext_t main_context, coroutine_context;

static void coroutine() {
  sort();
  variable(500);
  sink = 1;
}

static void run_coroutine() {
  static char stack[65536];
  getcontext(&coroutine_context);
  coroutine_context.uc_stack.ss_sp = stack;
  coroutine_context.uc_stack.ss_size = sizeof stack;
  coroutine_context.uc_link = &main_context;
  makecontext(&coroutine_context, coroutine, 0);
  swapcontext(&main_context, &coroutine_context);
}

NOINLINE static int deep(int depth) {
  if (depth > 0)
    return deep(depth - 1) + 1;
  for (int i = 0; i < 3; ++i)
    sort(), left(), right(), variable(100 + 1000 * i), aligned();
  return 0;
}

int main() {
  announce("nobody", 0); // loads what it needs
  deep(0);
  sink = deep(5) + deep(200);
  std::thread([] { sink = deep(7); }).join();
  run_coroutine();
  return 0;
}
