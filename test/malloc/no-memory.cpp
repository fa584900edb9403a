/* A program that asks for more memory than there is gets std::bad_alloc; if the C++ library is an archive of which the linker took
 * nothing that throws, a message with the remedy.
 *
 * RUN: %clangxx -O1 %s $(%hearth flags malloc) -o %t && %t | FileCheck %s
 * RUN: %clangxx -O1 %s $(%hearth flags malloc --static) -o %t && %t | FileCheck %s
 * RUN: %clangxx -O1 -static -Wl,-u,_ZSt17__throw_bad_allocv %s $(%hearth flags malloc --static) -o %t
 * RUN: %t | FileCheck %s
 * RUN: %clangxx -O1 -static %s $(%hearth flags malloc --static) -o %t
 * RUN: not --crash %t 2>&1 | FileCheck %s --check-prefix=WITHOUT
 *
 * CHECK: caught
 * WITHOUT: hearth malloc: no memory, and std::bad_alloc was not linked (add -Wl,-u,_ZSt17__throw_bad_allocv); requested bytes: 0x4
 */
#include <cstdio>
#include <new>

int main(int count, char **) {
  try {
    char *volatile block = new char[static_cast<size_t>(count) << 62];
    std::printf("%p\n", static_cast<void *>(block));
  } catch (const std::bad_alloc &) {
    std::puts("caught");
  }
}
