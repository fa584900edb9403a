/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All of the C++ library is weak: a C program does not have it, and never throws. */
#include "entry_points.h"

typedef void new_handler(void);
extern "C" {
__attribute__((weak)) new_handler *_ZSt15get_new_handlerv(void);
__attribute__((weak)) void _ZSt17__throw_bad_allocv(void);
}
__asm__(".weak __gxx_personality_v0\n.weak __cxa_begin_catch\n.weak __cxa_end_catch\n.weak _ZSt9terminatev");

static void *ask_handler(const hearth_new_heap *heap, const void *request) {
  for (;;) {
    void *block = heap->allocate(request);
    if (block)
      return block;
    new_handler *handler = _ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : nullptr;
    if (!handler)
      return nullptr;
    handler();
  }
}

/* Where the C++ library is an archive, the linker may have taken no part of it that throws; a reference that is not
 * weak would ask C programs for it. */
void hearth_new_refuse(const hearth_new_heap *heap, size_t bytes) {
  if (_ZSt17__throw_bad_allocv)
    _ZSt17__throw_bad_allocv();
  heap->fail(bytes);
  __builtin_unreachable();
}

void *hearth_new_or_throw(const hearth_new_heap *heap, const void *request, size_t bytes) {
  void *block = ask_handler(heap, request);
  if (!block)
    hearth_new_refuse(heap, bytes);
  return block;
}

void *hearth_new_or_null(const hearth_new_heap *heap, const void *request) {
  try {
    return ask_handler(heap, request);
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
