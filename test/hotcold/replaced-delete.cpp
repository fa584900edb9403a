// A library behind the adapter replaces operator new and one form of delete: all forms still end there. Without it they end in
// free, which Memcheck is not told: it wants blocks of new in delete.
//
// RUN: %clangxx -std=c++17 -O1 -fPIC -shared -DLIBRARY %s -o %t.so
// RUN: %clangxx -std=c++17 -fsized-deallocation -O1 -fno-builtin %s %hotcold_so %t.so -Wl,-rpath,$(dirname %hotcold_so):$(dirname %t) -o %t
// RUN: %t 2>&1 | FileCheck %s
// RUN: %clangxx -std=c++17 -fsized-deallocation -O1 -fno-builtin %s %hotcold_so -Wl,-rpath,$(dirname %hotcold_so) -o %t.plain
// RUN: %t.plain 2>&1 | FileCheck %s --check-prefix=PLAIN
// RUN: valgrind --error-exitcode=1 %t.plain 2>&1 | FileCheck %s --check-prefix=MEMCHECK
//
// REQUIRES: valgrind
// CHECK: 4 of 4 deletes by the library
// PLAIN: 0 of 4 deletes by the library
// MEMCHECK: ERROR SUMMARY: 0 errors
#include <cstdio>
#include <cstdlib>
#include <new>

#ifdef LIBRARY
int library_deletes;
void *operator new(std::size_t bytes) {
  char *block = static_cast<char *>(std::malloc(bytes + 16));
  return block + 16;
}
void operator delete(void *block) noexcept {
  library_deletes++;
  std::free(static_cast<char *>(block) - 16);
}
#else
__attribute__((weak)) extern int library_deletes;

int main() {
  std::size_t bytes = 40;
  operator delete(operator new(bytes));
  operator delete(operator new(bytes), bytes);
  operator delete[](operator new[](bytes));
  operator delete[](operator new[](bytes), bytes);
  std::fprintf(stderr, "%d of 4 deletes by the library\n", &library_deletes ? library_deletes : 0);
}
#endif
