/* A program with a free of its own still links with the archive; no block of ours is made, as it would end there.
 * Likewise for a program with an operator delete of its own, where only the forms of operator new are concerned.
 *
 * RUN: %clang -I%include %s %malloc_a -o %t
 * RUN: %t 2>&1 | FileCheck %s --check-prefix=FREE
 * RUN: %clangxx -x c++ -std=c++17 -I%include %s -x none %malloc_a -o %t.cxx
 * RUN: %t.cxx 2>&1 | FileCheck %s --check-prefix=DELETE
 *
 * FREE: hearth malloc: hints are ignored
 * FREE: class 0, passed on 1
 * DELETE: hearth malloc: hints of operator new are ignored
 * DELETE: class 1, passed on 1
 * DELETE: class 0, passed on 1
 */
#include <hearth/malloc.h>
#include <stdio.h>
#include <stdlib.h>

static void print_class(const void *block) {
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  fprintf(stderr, "class %d, passed on %d\n", hearth_malloc_class(block), (int)stats.passed_on);
}

#ifndef __cplusplus
void free(void *block) { (void)block; }

int main(void) {
  print_class(malloc_hot_cold(100, 0));
  return 0;
}
#else
#include <new>

enum class __hot_cold_t : uint8_t {};
void *operator new(size_t, __hot_cold_t);
void operator delete(void *block) noexcept { free(block); }

int main() {
  void *block = malloc_hot_cold(100, 0);
  void *object = operator new(100, static_cast<__hot_cold_t>(0));
  print_class(block);
  print_class(object);
  operator delete(object);
}
#endif
