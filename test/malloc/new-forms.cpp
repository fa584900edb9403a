// All forms of operator new and delete, and the program's new handler, also with nothrow.
//
// RUN: %clangxx -std=c++17 -fsized-deallocation -O1 -fno-builtin %s -o %t
// RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
// RUN: %clangxx -std=c++17 -fsized-deallocation -O1 -fno-builtin %s %malloc_a -o %t.archive
// RUN: %t.archive | FileCheck %s
//
// CHECK: forms well
// CHECK: new: handler called 3 times, then bad_alloc
// CHECK: nothrow: handler called 3 times, then null
// CHECK: handler that throws: null
// CHECK: handler that frees: a block
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

static int calls;
static void *volatile reserve, *volatile block_of_try;
static std::size_t volatile impossible = PTRDIFF_MAX / 2;
static void give_up_at_three() {
  if (++calls == 3)
    std::set_new_handler(nullptr);
}
static void throw_at_once() { throw std::bad_alloc(); }
static void free_reserve() {
  std::free(reserve);
  std::set_new_handler(nullptr);
  impossible = 100;
}

template <typename Allocate> static void *check(Allocate allocate, std::size_t bytes, std::size_t alignment) {
  void *block = allocate();
  if (!block || reinterpret_cast<std::uintptr_t>(block) % alignment)
    std::abort();
  std::memset(block, 1, bytes);
  return block;
}

int main() {
  for (std::size_t bytes : {1, 16, 40, 1000, 5000, 200000})
    for (std::size_t alignment : {32, 64, 4096, 1 << 18}) {
      std::align_val_t align{alignment};
      operator delete(check([&] { return operator new(bytes); }, bytes, 16));
      operator delete(check([&] { return operator new(bytes); }, bytes, 16), bytes);
      operator delete[](check([&] { return operator new[](bytes); }, bytes, 16));
      operator delete[](check([&] { return operator new[](bytes); }, bytes, 16), bytes);
      operator delete(check([&] { return operator new(bytes, std::nothrow); }, bytes, 16), std::nothrow);
      operator delete[](check([&] { return operator new[](bytes, std::nothrow); }, bytes, 16), std::nothrow);
      operator delete(check([&] { return operator new(bytes, align); }, bytes, alignment), align);
      operator delete(check([&] { return operator new(bytes, align); }, bytes, alignment), bytes, align);
      operator delete[](check([&] { return operator new[](bytes, align); }, bytes, alignment), align);
      operator delete[](check([&] { return operator new[](bytes, align); }, bytes, alignment), bytes, align);
      operator delete(check([&] { return operator new(bytes, align, std::nothrow); }, bytes, alignment), align, std::nothrow);
      operator delete[](check([&] { return operator new[](bytes, align, std::nothrow); }, bytes, alignment), align,
                        std::nothrow);
    }
  operator delete(nullptr);
  std::puts("forms well");

  std::set_new_handler(give_up_at_three);
  bool is_thrown = false;
  try {
    block_of_try = operator new(impossible);
  } catch (const std::bad_alloc &) {
    is_thrown = true;
  }
  std::printf("new: handler called %d times, then %s\n", calls, is_thrown ? "bad_alloc" : "a block");
  calls = 0;
  std::set_new_handler(give_up_at_three);
  void *block = operator new[](impossible, std::nothrow);
  std::printf("nothrow: handler called %d times, then %s\n", calls, block ? "a block" : "null");
  std::set_new_handler(throw_at_once);
  std::printf("handler that throws: %s\n", operator new(impossible, std::nothrow) ? "a block" : "null");
  reserve = std::malloc(1 << 20);
  std::set_new_handler(free_reserve);
  for (;;)
    try {
      block = operator new(impossible);
      break;
    } catch (const std::bad_alloc &) {
    }
  std::printf("handler that frees: %s\n", block ? "a block" : "null");
  operator delete(block);
}
