/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operator new and operator delete in all their forms, under their mangled names. They reference the C++ library's
 * functions weakly, so that C programs link without it. */
#include "blocks.h"
#include "heap.h"
#include "message.h"
#include "new_handler.h"
#include "os.h"
#include "running_profile.h"

extern _Noreturn void _ZSt17__throw_bad_allocv(void) __attribute__((weak)); /* std::__throw_bad_alloc() */
typedef void (*new_handler)(void);
extern new_handler _ZSt15get_new_handlerv(void) __attribute__((weak)); /* std::get_new_handler() */

static _Noreturn void throw_bad_alloc(size_t size) {
  if (_ZSt17__throw_bad_allocv)
    _ZSt17__throw_bad_allocv();
  hearth_message("operator new: no memory for %u bytes, and std::__throw_bad_alloc() is not linked (a static program "
                 "needs -Wl,-u,_ZSt17__throw_bad_allocv)",
                 (uint64_t)size);
  hearth_os_abort();
}

static bool is_alignment(size_t alignment) { return (alignment & (alignment - 1)) == 0; }

static new_handler find_handler(void) { return _ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : NULL; }

static void *must_new(hearth_trace_kind kind, size_t size, size_t alignment, const hearth_frame *frame) {
  if (!is_alignment(alignment))
    throw_bad_alloc(size);
  for (;;) {
    void *memory = hearth_operate_allocate(kind, size, alignment, frame);
    if (memory)
      return memory;
    new_handler handler = find_handler();
    if (!handler)
      throw_bad_alloc(size);
    handler();
  }
}

/* The same, but NULL in place of an exception, the handler's too. */
static void *may_new(hearth_trace_kind kind, size_t size, size_t alignment, const hearth_frame *frame) {
  if (!is_alignment(alignment))
    return NULL;
  for (;;) {
    void *memory = hearth_operate_allocate(kind, size, alignment, frame);
    new_handler handler = memory ? NULL : find_handler();
    if (!handler || !hearth_new_handler_returns(handler))
      return memory;
  }
}

#define NEW_PLAIN(symbol, kind)                                                                                        \
  HEARTH_EXPORT void *symbol(size_t size) { return must_new(kind, size, HEARTH_MALLOC_ALIGNMENT, HEARTH_THIS_FRAME); }

#define NEW_ALIGNED(symbol, kind)                                                                                      \
  HEARTH_EXPORT void *symbol(size_t size, size_t alignment) {                                                          \
    return must_new(kind, size, alignment, HEARTH_THIS_FRAME);                                                         \
  }

#define NEW_NOTHROW(symbol, kind)                                                                                      \
  HEARTH_EXPORT void *symbol(size_t size, const void *nothrow) {                                                       \
    (void)nothrow;                                                                                                     \
    return may_new(kind, size, HEARTH_MALLOC_ALIGNMENT, HEARTH_THIS_FRAME);                                            \
  }

#define NEW_ALIGNED_NOTHROW(symbol, kind)                                                                              \
  HEARTH_EXPORT void *symbol(size_t size, size_t alignment, const void *nothrow) {                                     \
    (void)nothrow;                                                                                                     \
    return may_new(kind, size, alignment, HEARTH_THIS_FRAME);                                                          \
  }

/* Size, alignment and the nothrow tag do not matter: the block knows its chunk. They are passed in registers, so that
 * one definition serves all signatures. */
#define DELETE_ANY(symbol, kind)                                                                                       \
  HEARTH_EXPORT void symbol(void *pointer) {                                                                           \
    hearth_operate_release(kind, pointer, "operator delete", HEARTH_THIS_FRAME);                                       \
  }

#define HEARTH_NEW_NAME(name, form, kind) NEW_##form(name, HEARTH_TRACE_##kind)
#define HEARTH_DELETE_NAME(name, kind)    DELETE_ANY(name, HEARTH_TRACE_##kind)
#include "allocation_names.def"
