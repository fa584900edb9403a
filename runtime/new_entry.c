/* operator new and operator delete in all their forms, under their mangled names. What they need of the C++ library is
 * referenced weakly, so that C programs link without it. */
#include "blocks.h"
#include "message.h"
#include "os.h"
#include "runtime.h"

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

static void *try_new(size_t size, size_t alignment, const hearth_frame *frame) {
  if (alignment & (alignment - 1))
    return NULL;
  return hearth_allocate(size, alignment, frame);
}

static void *must_new(size_t size, size_t alignment, const hearth_frame *frame) {
  for (;;) {
    void *memory = try_new(size, alignment, frame);
    if (memory)
      return memory;
    new_handler handler = _ZSt15get_new_handlerv ? _ZSt15get_new_handlerv() : NULL;
    if (!handler)
      throw_bad_alloc(size);
    handler();
  }
}

#define NEW(symbol)                                                                                                    \
  HEARTH_EXPORT void *symbol(size_t size);                                                                             \
  void *symbol(size_t size) { return must_new(size, HEARTH_ALIGNMENT, HEARTH_THIS_FRAME); }

#define NEW_ALIGNED(symbol)                                                                                            \
  HEARTH_EXPORT void *symbol(size_t size, size_t alignment);                                                           \
  void *symbol(size_t size, size_t alignment) { return must_new(size, alignment, HEARTH_THIS_FRAME); }

/* The nothrow forms do not call the new handler: it may throw, and C cannot catch. */
#define NEW_NOTHROW(symbol)                                                                                            \
  HEARTH_EXPORT void *symbol(size_t size, const void *nothrow);                                                        \
  void *symbol(size_t size, const void *nothrow) {                                                                     \
    (void)nothrow;                                                                                                     \
    return try_new(size, HEARTH_ALIGNMENT, HEARTH_THIS_FRAME);                                                         \
  }

#define NEW_ALIGNED_NOTHROW(symbol)                                                                                    \
  HEARTH_EXPORT void *symbol(size_t size, size_t alignment, const void *nothrow);                                      \
  void *symbol(size_t size, size_t alignment, const void *nothrow) {                                                   \
    (void)nothrow;                                                                                                     \
    return try_new(size, alignment, HEARTH_THIS_FRAME);                                                                \
  }

/* Size, alignment and the nothrow tag do not matter: the block knows its chunk. They are passed in registers, so that
 * one definition serves all signatures. */
#define DELETE(symbol)                                                                                                 \
  HEARTH_EXPORT void symbol(void *pointer);                                                                            \
  void symbol(void *pointer) { hearth_release(pointer, "operator delete"); }

NEW(_Znwm)
NEW(_Znam)
NEW_NOTHROW(_ZnwmRKSt9nothrow_t)
NEW_NOTHROW(_ZnamRKSt9nothrow_t)
NEW_ALIGNED(_ZnwmSt11align_val_t)
NEW_ALIGNED(_ZnamSt11align_val_t)
NEW_ALIGNED_NOTHROW(_ZnwmSt11align_val_tRKSt9nothrow_t)
NEW_ALIGNED_NOTHROW(_ZnamSt11align_val_tRKSt9nothrow_t)

DELETE(_ZdlPv)
DELETE(_ZdaPv)
DELETE(_ZdlPvm)
DELETE(_ZdaPvm)
DELETE(_ZdlPvRKSt9nothrow_t)
DELETE(_ZdaPvRKSt9nothrow_t)
DELETE(_ZdlPvSt11align_val_t)
DELETE(_ZdaPvSt11align_val_t)
DELETE(_ZdlPvmSt11align_val_t)
DELETE(_ZdaPvmSt11align_val_t)
DELETE(_ZdlPvSt11align_val_tRKSt9nothrow_t)
DELETE(_ZdaPvSt11align_val_tRKSt9nothrow_t)
