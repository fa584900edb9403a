/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operator new and delete by their mangled names: alignment and hint are plain integers to the ABI.
 *
 * A program may replace the plain forms alone. So all others go through these by their public names, as the C++ library's do,
 * and all are weak, as its own are: else the archive could not be linked to such a program. */
#include "hints.h"
#include "malloc_messages.h"
#include "new_retry.h"

typedef struct new_request {
  size_t bytes, alignment;
  unsigned placement;
} new_request;

static void *allocate_new(const void *request) {
  const new_request *of = request;
  bool is_zero;
  return of->placement == HEARTH_POOL_MAIN ? hearth_alloc(hearth_main_pool, of->bytes, of->alignment, &is_zero)
                                           : hearth_hinted_alloc(of->placement, of->bytes, of->alignment, &is_zero);
}

static void fail_new(size_t bytes) {
  hearth_fatal("no memory, and std::bad_alloc was not linked (add -Wl,-u,_ZSt17__throw_bad_allocv); requested bytes: ",
               (const void *)bytes);
}

static const hearth_new_heap new_heap = {allocate_new, fail_new};

void *hearth_must_new(size_t bytes, size_t alignment, unsigned placement) {
  return hearth_new_or_throw(&new_heap, &(new_request){bytes, alignment, placement}, bytes);
}

void *hearth_may_new(size_t bytes, size_t alignment, unsigned placement) {
  return hearth_new_or_null(&new_heap, &(new_request){bytes, alignment, placement});
}

static __attribute__((noinline)) void *new_slowly(size_t bytes) {
  void *block = hearth_take_small(hearth_main_pool, bytes);
  return HEARTH_LIKELY(block != NULL) ? block : hearth_must_new(bytes, 1, HEARTH_POOL_MAIN);
}

HEARTH_OPERATOR void *_Znwm(size_t bytes) {
  void *block = hearth_pop_small(hearth_main_pool, bytes);
  return HEARTH_LIKELY(block != NULL) ? block : new_slowly(bytes);
}
HEARTH_OPERATOR void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment) {
  return hearth_must_new(bytes, alignment, HEARTH_POOL_MAIN);
}
HEARTH_OPERATOR void *_Znam(size_t bytes) { return _Znwm(bytes); }
HEARTH_OPERATOR void *_ZnamSt11align_val_t(size_t bytes, size_t alignment) {
  return _ZnwmSt11align_val_t(bytes, alignment);
}

#define HEARTH_NOTHROW(name)                                                                                           \
  HEARTH_OPERATOR void *name##RKSt9nothrow_t(size_t bytes, const void *nothrow) {                                      \
    (void)nothrow;                                                                                                     \
    return hearth_new_by(name, bytes);                                                                                 \
  }                                                                                                                    \
  HEARTH_OPERATOR void *name##St11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow) {     \
    (void)nothrow;                                                                                                     \
    return hearth_new_aligned_by(name##St11align_val_t, bytes, alignment);                                             \
  }
HEARTH_NOTHROW(_Znwm)
HEARTH_NOTHROW(_Znam)

/* The plain forms of delete are free (malloc_functions.c): a sized one would save the load of a byte that has to be written
 * all the same. */
void _ZdlPv(void *block);
void _ZdlPvSt11align_val_t(void *block, size_t alignment);
HEARTH_OPERATOR void _ZdaPv(void *block) { _ZdlPv(block); }
HEARTH_OPERATOR void _ZdaPvSt11align_val_t(void *block, size_t alignment) { _ZdlPvSt11align_val_t(block, alignment); }

/* The same under a name that nobody replaces, to tell whether the public one leads here. */
#define HEARTH_OWN(name, parameters) HEARTH_HIDDEN void hearth_own##name parameters __attribute__((alias(#name)));

#define HEARTH_DELETE(name)                                                                                            \
  HEARTH_OPERATOR void name##m(void *block, size_t bytes) {                                                            \
    (void)bytes;                                                                                                       \
    name(block);                                                                                                       \
  }                                                                                                                    \
  HEARTH_OPERATOR void name##RKSt9nothrow_t(void *block, const void *nothrow) {                                        \
    (void)nothrow;                                                                                                     \
    name(block);                                                                                                       \
  }                                                                                                                    \
  HEARTH_OPERATOR void name##mSt11align_val_t(void *block, size_t bytes, size_t alignment) {                           \
    (void)bytes;                                                                                                       \
    name##St11align_val_t(block, alignment);                                                                           \
  }                                                                                                                    \
  HEARTH_OPERATOR void name##St11align_val_tRKSt9nothrow_t(void *block, size_t alignment, const void *nothrow) {       \
    (void)nothrow;                                                                                                     \
    name##St11align_val_t(block, alignment);                                                                           \
  }                                                                                                                    \
  HEARTH_OWN(name##m, (void *block, size_t bytes))                                                                     \
  HEARTH_OWN(name##RKSt9nothrow_t, (void *block, const void *nothrow))                                                 \
  HEARTH_OWN(name##mSt11align_val_t, (void *block, size_t bytes, size_t alignment))                                    \
  HEARTH_OWN(name##St11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *nothrow))
HEARTH_DELETE(_ZdlPv)
HEARTH_DELETE(_ZdaPv)
HEARTH_HIDDEN void *hearth_own_Znwm(size_t bytes) __attribute__((alias("_Znwm")));
HEARTH_HIDDEN void *hearth_own_Znam(size_t bytes) __attribute__((alias("_Znam")));
HEARTH_OWN(_ZdaPv, (void *block))
HEARTH_OWN(_ZdaPvSt11align_val_t, (void *block, size_t alignment))
