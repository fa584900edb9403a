// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts of coroutines part where they are resumed and awaited, and their frames get hints as objects of new expressions do.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clangxx -std=c++20 -O2 $(%hearth flags instrument --clang=%clang) %s -o coroutines.i
// RUN: env %run_clock HEARTH_OPTIONS=log_path=raw ./coroutines.i
// RUN: %hearth index -q --layout=calls raw.* --binary coroutines.i -o coroutines.prof
// RUN: %clangxx -std=c++20 -O2 $(%hearth flags use coroutines.prof --clang=%clang) -I%include -DPLACED %s -o coroutines 2> warnings
// RUN: not grep -E 'heap profile|builtins' warnings
// RUN: ./coroutines > places 2> at-start && FileCheck %s < places && not grep . at-start
// CHECK: resumed cold: 0 other 400 cold 0 hot
// CHECK-NEXT: resumed hot: 0 other 0 cold 400 hot
// CHECK-NEXT: awaited cold: 0 other 400 cold 0 hot
// CHECK-NEXT: awaited hot: 0 other 0 cold 400 hot
// CHECK-NEXT: frames cold: 0 other 400 cold 0 hot
// CHECK-NEXT: frames hot: 0 other 0 cold 400 hot
#include <coroutine>
#include <cstdio>
#include <cstdlib>

#ifdef PLACED
#include <hearth/malloc.h>
#endif

constexpr int Count = 400;
constexpr size_t Size = 96;

struct Generator {
  struct promise_type {
    char *Block = nullptr;
    char Buffer[Size];
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(char *Made) noexcept {
      Block = Made;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> Handle;
};

struct Task {
  struct promise_type {
    char *Result = nullptr;
    std::coroutine_handle<> Then;
    struct Last {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> Done) noexcept {
        return Done.promise().Then ? Done.promise().Then : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    Last final_suspend() noexcept { return {}; }
    void return_value(char *Value) { Result = Value; }
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> Handle;
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> Then) {
    Handle.promise().Then = Then;
    return Handle;
  }
  char *await_resume() {
    char *Result = Handle.promise().Result;
    Handle.destroy();
    return Result;
  }
};

#define NOINLINE __attribute__((noinline))

NOINLINE char *allocate(size_t Bytes) { return static_cast<char *>(calloc(Bytes, 1)); }

NOINLINE Generator blocks(size_t Bytes) {
  for (;;)
    co_yield allocate(Bytes);
}

Task makeBlock(size_t Bytes) { co_return allocate(Bytes + 1); }
Task awaitCold() { co_return co_await makeBlock(Size); }
Task awaitHot() { co_return co_await makeBlock(Size); }

char *run(Task T) {
  T.Handle.resume();
  return T.await_resume();
}

NOINLINE char *coldFrame() { return blocks(1).Handle.promise().Buffer; }
NOINLINE char *hotFrame() { return blocks(2).Handle.promise().Buffer; }

struct Blocks {
  const char *What;
  char *Cold[Count], *Hot[Count];
};
static Blocks All[] = {{"resumed"}, {"awaited"}, {"frames"}};

#ifdef PLACED
static void printPlaces(const char *What, const char *Class, char *const *Blocks) {
  int Of[3] = {};
  for (int I = 0; I < Count; I++)
    Of[hearth_malloc_class(Blocks[I])]++;
  printf("%s %s: %d other %d cold %d hot\n", What, Class, Of[HEARTH_MALLOC_OTHER], Of[HEARTH_MALLOC_COLD],
         Of[HEARTH_MALLOC_HOT]);
}
#endif

int main() {
  Generator Cold = blocks(Size), Hot = blocks(Size);
  for (int I = 0; I < Count; I++) {
    Cold.Handle.resume();
    All[0].Cold[I] = Cold.Handle.promise().Block;
    Hot.Handle.resume();
    All[0].Hot[I] = Hot.Handle.promise().Block;
    All[1].Cold[I] = run(awaitCold());
    All[1].Hot[I] = run(awaitHot());
    All[2].Cold[I] = coldFrame();
    All[2].Hot[I] = hotFrame();
  }
  unsigned Sum = 0;
  for (int Round = 0; Round < 4000; Round++)
    for (const Blocks &B : All)
      for (int I = 0; I < Count; I++)
        Sum += static_cast<unsigned char>(B.Hot[I][Round % Size]++);
#ifdef PLACED
  for (const Blocks &B : All) {
    printPlaces(B.What, "cold", B.Cold);
    printPlaces(B.What, "hot", B.Hot);
  }
#endif
  return Sum == 1;
}
