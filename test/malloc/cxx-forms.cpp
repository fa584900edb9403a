// The hinted forms of operator new: placement, alignment, failure; every operator delete takes the block.
//
// RUN: %clangxx -std=c++17 -fsized-deallocation -g -O1 -Wall -Wextra -fno-builtin -I%include %s %malloc_a -o %t.a
// RUN: %t.a | FileCheck %s
// RUN: %clangxx -std=c++17 -fsized-deallocation -g -O1 -fno-builtin -I%include %s %malloc -Wl,-rpath,$(dirname %malloc) -o %t.so
// RUN: %t.so | FileCheck %s
// With a static C++ library nothing here asks for the plain operator new, so malloc serves; throwing needs one function.
// RUN: %clangxx -std=c++17 -fsized-deallocation -g -O1 -fno-builtin -static-libstdc++ -Wl,-u,_ZSt17__throw_bad_allocv \
// RUN:   -I%include %s %malloc_a -o %t.static
// RUN: %t.static | FileCheck %s
//
// CHECK: 8 forms with hint 0 in class 1
// CHECK: 8 forms with hint 128 in class 0
// CHECK: 8 forms with hint 253 in class 2
// CHECK: bad_alloc 4, null 4
#undef NDEBUG
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <hearth/malloc.h>
#include <new>

enum class __hot_cold_t : uint8_t {};
void *operator new(size_t, __hot_cold_t);
void *operator new(size_t, const std::nothrow_t &, __hot_cold_t) noexcept;
void *operator new(size_t, std::align_val_t, __hot_cold_t);
void *operator new(size_t, std::align_val_t, const std::nothrow_t &, __hot_cold_t) noexcept;
void *operator new[](size_t, __hot_cold_t);
void *operator new[](size_t, const std::nothrow_t &, __hot_cold_t) noexcept;
void *operator new[](size_t, std::align_val_t, __hot_cold_t);
void *operator new[](size_t, std::align_val_t, const std::nothrow_t &, __hot_cold_t) noexcept;

static const std::align_val_t aligned{256};

static void *allocate(int form, size_t bytes, __hot_cold_t hint) {
  switch (form) {
  case 0:
    return operator new(bytes, hint);
  case 1:
    return operator new(bytes, aligned, hint);
  case 2:
    return operator new[](bytes, hint);
  case 3:
    return operator new[](bytes, aligned, hint);
  case 4:
    return operator new(bytes, std::nothrow, hint);
  case 5:
    return operator new(bytes, aligned, std::nothrow, hint);
  case 6:
    return operator new[](bytes, std::nothrow, hint);
  default:
    return operator new[](bytes, aligned, std::nothrow, hint);
  }
}

static void deallocate(int form, void *block, size_t bytes) {
  switch (form) {
  case 0:
    return operator delete(block);
  case 1:
    return operator delete(block, bytes);
  case 2:
    return operator delete(block, std::nothrow);
  case 3:
    return operator delete(block, aligned);
  case 4:
    return operator delete(block, bytes, aligned);
  case 5:
    return operator delete(block, aligned, std::nothrow);
  case 6:
    return operator delete[](block);
  case 7:
    return operator delete[](block, bytes);
  case 8:
    return operator delete[](block, std::nothrow);
  case 9:
    return operator delete[](block, aligned);
  case 10:
    return operator delete[](block, bytes, aligned);
  default:
    return operator delete[](block, aligned, std::nothrow);
  }
}

static bool is_aligned_form(int form) { return form == 1 || form == 3 || form == 5 || form == 7; }

static void all_forms(unsigned hint, hearth_malloc_placement wanted) {
  for (size_t bytes = 0; bytes < 100000; bytes = bytes * 2 + 7)
    for (int form = 0; form < 8; form++)
      for (int how = 0; how < 12; how++) {
        void *block = allocate(form, bytes, static_cast<__hot_cold_t>(hint));
        assert(hearth_malloc_class(block) == wanted);
        size_t alignment = is_aligned_form(form) ? 256 : bytes < 16 ? 8 : 16; // all that jemalloc promises
        assert(reinterpret_cast<uintptr_t>(block) % alignment == 0);
        memset(block, 2, bytes);
        // The program's own allocator may insist on the matching form.
        if (wanted == HEARTH_MALLOC_OTHER)
          deallocate(is_aligned_form(form) ? 3 : 0, block, bytes);
        else
          deallocate(how, block, bytes);
      }
  printf("8 forms with hint %u in class %d\n", hint, wanted);
}

static void failures(unsigned hint, int *thrown, int *null) {
  volatile size_t too_much = SIZE_MAX / 4;
  for (int form = 0; form < 8; form++)
    try {
      *null += !allocate(form, too_much, static_cast<__hot_cold_t>(hint));
    } catch (const std::bad_alloc &) {
      ++*thrown;
    }
}

int main() {
  all_forms(0, HEARTH_MALLOC_COLD);
  all_forms(128, HEARTH_MALLOC_OTHER);
  all_forms(253, HEARTH_MALLOC_HOT);
  for (int how = 0; how < 12; how++)
    deallocate(how, nullptr, 0);
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  assert(stats.cold.live_blocks == 0 && stats.hot.live_blocks == 0);
  for (unsigned hint = 0; hint < 256; hint += 127) {
    int thrown = 0, null = 0;
    failures(hint, &thrown, &null);
    assert(thrown == 4 && null == 4);
  }
  puts("bad_alloc 4, null 4");
}
