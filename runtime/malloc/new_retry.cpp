/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All of the C++ library is weak: a C program does not have it, and never throws. */
#include "new_retry.h"

typedef void new_handler(void);
extern "C" {
[[noreturn]] __attribute__((visibility("hidden"))) void hearth_fatal(const char *what, const void *address);
__attribute__((weak)) new_handler *_ZSt15get_new_handlerv(void);
__attribute__((weak)) void _ZSt17__throw_bad_allocv(void);
}
__asm__(".weak __gxx_personality_v0\n.weak __cxa_begin_catch\n.weak __cxa_end_catch\n.weak _ZSt9terminatev");

static void *ask_handler(size_t bytes, size_t alignment, unsigned placement) {
  for (;;) {
    void *block = hearth_new_try(bytes, alignment, placement);
    if (block)
      return block;
    new_handler *handler = _ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : nullptr;
    if (!handler)
      return nullptr;
    handler();
  }
}

void *hearth_new_or_throw(size_t bytes, size_t alignment, unsigned placement) {
  void *block = ask_handler(bytes, alignment, placement);
  if (block)
    return block;
  if (_ZSt17__throw_bad_allocv)
    _ZSt17__throw_bad_allocv();
  /* The C++ library is an archive, of which the linker took no part that throws; a reference that is not weak would ask C programs
   * for it. */
  hearth_fatal("no memory, and std::bad_alloc was not linked (add -Wl,-u,_ZSt17__throw_bad_allocv); requested bytes: ",
               reinterpret_cast<const void *>(bytes));
}

void *hearth_new_or_null(size_t bytes, size_t alignment, unsigned placement) {
  try {
    return ask_handler(bytes, alignment, placement);
  } catch (...) {
    return nullptr;
  }
}

void *hearth_new_by(void *(*operator_new)(size_t), size_t bytes) {
  try {
    return operator_new(bytes);
  } catch (...) {
    return nullptr;
  }
}

void *hearth_new_aligned_by(void *(*operator_new)(size_t, size_t), size_t bytes, size_t alignment) {
  try {
    return operator_new(bytes, alignment);
  } catch (...) {
    return nullptr;
  }
}
