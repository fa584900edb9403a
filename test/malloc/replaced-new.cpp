// A program that replaces the plain operator new and delete gets all forms' calls there, as with the C++ library's own forms.
//
// RUN: %clangxx -std=c++17 -fsized-deallocation -O1 -fno-builtin %s -o %t
// RUN: %t | FileCheck %s
// RUN: env LD_PRELOAD=%malloc %t | FileCheck %s
// RUN: %clangxx -std=c++17 -fsized-deallocation -O1 -fno-builtin %s %malloc_a -o %t.archive
// RUN: %t.archive | FileCheck %s
//
// CHECK: 7 calls of new, 7 of delete; aligned: 3 of new, 3 of delete
#include <cstdio>
#include <cstdlib>
#include <new>

static int news, deletes, aligned_news, aligned_deletes;
void *operator new(std::size_t bytes) {
  news++;
  return static_cast<char *>(std::malloc(bytes + 16)) + 16;
}
void operator delete(void *block) noexcept {
  deletes++;
  std::free(static_cast<char *>(block) - 16);
}
void *operator new(std::size_t bytes, std::align_val_t alignment) {
  aligned_news++;
  return static_cast<char *>(std::aligned_alloc(std::size_t(alignment), bytes + std::size_t(alignment))) + std::size_t(alignment);
}
void operator delete(void *block, std::align_val_t alignment) noexcept {
  aligned_deletes++;
  std::free(static_cast<char *>(block) - std::size_t(alignment));
}

int main() {
  std::size_t volatile bytes = 64;
  std::align_val_t align{64};
  operator delete(operator new(bytes));
  operator delete(operator new(bytes), bytes);
  operator delete[](operator new[](bytes));
  operator delete[](operator new[](bytes), bytes);
  operator delete(operator new(bytes, std::nothrow));
  operator delete[](operator new[](bytes, std::nothrow), std::nothrow);
  operator delete(operator new(bytes), std::nothrow);
  operator delete(operator new(bytes, align), bytes, align);
  operator delete[](operator new[](bytes, align), align);
  operator delete[](operator new[](bytes, align, std::nothrow), bytes, align);
  std::printf("%d calls of new, %d of delete; aligned: %d of new, %d of delete\n", news, deletes, aligned_news, aligned_deletes);
}
