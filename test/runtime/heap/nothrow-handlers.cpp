// The nothrow forms of operator new call the new handler, too, and give NULL where it throws.
//
// RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t -std=c++17
// RUN: HEARTH_OPTIONS=dump_at_exit=0 %t | FileCheck %s
// RUN: %S/../Inputs/profiled.sh %clangxx %rt %s %t.static -std=c++17 -static
// RUN: HEARTH_OPTIONS=dump_at_exit=0 %t.static | FileCheck %s
// RUN: %clangxx -O1 -std=c++17 -fno-builtin %s -o %t.plain && %t.plain | FileCheck %s
// RUN: %hearth record -o %t.record -- %t.plain | FileCheck %s
//
// CHECK: plain: null, 3 calls
// CHECK: array: null, 3 calls
// CHECK: aligned: null, 3 calls
// CHECK: aligned array: null, 3 calls
// CHECK: throws: null, 1 calls
// CHECK: no power of two: null, 0 calls
// CHECK: no handler: null, 0 calls
#include <cstdint>
#include <cstdio>
#include <new>

static volatile std::size_t much = SIZE_MAX / 2;
static int calls;

static void give_up() {
  if (++calls == 3)
    std::set_new_handler(nullptr);
}

static void throw_number() {
  ++calls;
  throw 5;
}

static void tell(const char *name, void *block) {
  std::printf("%s: %s, %d calls\n", name, block ? "a block" : "null", calls);
  calls = 0;
  std::set_new_handler(give_up);
}

int main() {
  std::set_new_handler(give_up);
  tell("plain", ::operator new(much, std::nothrow));
  tell("array", ::operator new[](much, std::nothrow));
  tell("aligned", ::operator new(much, std::align_val_t(64), std::nothrow));
  tell("aligned array", ::operator new[](much, std::align_val_t(64), std::nothrow));
  std::set_new_handler(throw_number);
  tell("throws", ::operator new(much, std::nothrow));
  tell("no power of two", ::operator new(8, std::align_val_t(24), std::nothrow));
  std::set_new_handler(nullptr);
  tell("no handler", ::operator new(much, std::nothrow));
}
