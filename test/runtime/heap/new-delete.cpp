// Every form of operator new and delete is ours; a stack begins in the caller of operator new.
//
// RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t -std=c++17 -fsized-deallocation
// RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t | FileCheck %s --check-prefix=OUT
// RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize MaxAccessCount LiveAtExit | FileCheck %s
// RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t.static -std=c++17 -fsized-deallocation -static -Wl,-u,_ZSt17__throw_bad_allocv
// RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t.static | FileCheck %s --check-prefix=OUT
// RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MaxSize MaxAccessCount LiveAtExit | FileCheck %s
//
// Without a C++ library, or without the part of a static one that throws, there is a message.
// RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t.nothrow -std=c++17 -fsized-deallocation -static
// RUN: env HEARTH_OPTIONS=dump_at_exit=0 not --crash %t.nothrow 2>&1 | FileCheck %s --check-prefix=CANNOT
//
// CANNOT: hearth: operator new: no memory for 1152921504606846976 bytes, and std::__throw_bad_alloc() is not linked
// OUT: bad_alloc: new handler called 2 times
// OUT: nothrow: null
//
// CHECK: AllocCount=1 MaxSize=41 MaxAccessCount=1 LiveAtExit=0 | new-delete.cpp.tmp{{(.static)?}}+
// CHECK: AllocCount=1 MaxSize=42 MaxAccessCount=1 LiveAtExit=0
// CHECK: AllocCount=1 MaxSize=43 MaxAccessCount=1 LiveAtExit=0
// CHECK: AllocCount=1 MaxSize=44 MaxAccessCount=1 LiveAtExit=0
// CHECK: AllocCount=1 MaxSize=45 MaxAccessCount=1 LiveAtExit=0
// CHECK: AllocCount=1 MaxSize=46 MaxAccessCount=1 LiveAtExit=0
// CHECK: AllocCount=1 MaxSize=47 MaxAccessCount=1 LiveAtExit=0
// CHECK: AllocCount=1 MaxSize=48 MaxAccessCount=1 LiveAtExit=1
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>

static constexpr std::align_val_t wide{256};
static int handled;

static char *use(void *block, std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(block) % alignment != 0)
    std::abort();
  *static_cast<volatile char *>(block) = 1;
  return static_cast<char *>(block);
}

static void on_no_memory() {
  if (++handled == 2)
    std::set_new_handler(nullptr);
}

char *keep;

int main() {
  operator delete(use(operator new(41), 16));
  operator delete[](use(operator new[](42), 16), 42);
  operator delete(use(operator new(43, std::nothrow), 16), std::nothrow);
  operator delete[](use(operator new[](44, std::nothrow), 16));
  operator delete(use(operator new(45, wide), 256), wide);
  operator delete[](use(operator new[](46, wide), 256), 46, wide);
  operator delete(use(operator new(47, wide, std::nothrow), 256), wide, std::nothrow);
  keep = use(operator new[](48, wide, std::nothrow), 256);
  std::set_new_handler(on_no_memory);
  try {
    operator delete(operator new(std::size_t(1) << 60));
  } catch (const std::bad_alloc &) {
    std::printf("bad_alloc: new handler called %d times\n", handled);
  }
  void *none = operator new(std::size_t(1) << 60, std::nothrow);
  std::printf("nothrow: %s\n", none ? "a block" : "null");
}
