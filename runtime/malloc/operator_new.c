/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operator new and delete by their mangled names, the hinted forms under tcmalloc's: alignment and hint are plain
 * integers to the ABI.
 *
 * A program may replace the plain forms alone. So all others go through these by their public names, as the C++
 * library's do, and all are weak, as its own are: else the archive could not be linked to such a program. */
#include "entry_points.h"
#include "hints.h"

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

static void *must_new_hinted(size_t bytes, size_t alignment, unsigned placement) {
  return hearth_new_or_throw(&new_heap, &(new_request){bytes, alignment, placement}, bytes);
}

static void *may_new_hinted(size_t bytes, size_t alignment, unsigned placement) {
  return hearth_new_or_null(&new_heap, &(new_request){bytes, alignment, placement});
}

static __attribute__((noinline)) void *new_slowly(hearth_pool *pool, size_t bytes) {
  void *block = hearth_take_small(pool, hearth_small_class(bytes));
  return HEARTH_LIKELY(block != NULL) ? block : must_new_hinted(bytes, 1, HEARTH_POOL_MAIN);
}

/* For code of the program (hearth/lowered_calls.h). */
HEARTH_EXPORT void *hearth_fast_new_3(hearth_pool *pool, size_t class) {
  return new_slowly(pool, class * HEARTH_GRANULE);
}

HEARTH_EXPORT void *_Znwm(size_t bytes) {
  hearth_pool *pool = hearth_main_pool;
  void *block = hearth_pop_small(pool, bytes);
  return HEARTH_LIKELY(block != NULL) ? block : new_slowly(pool, bytes);
}
HEARTH_EXPORT void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment) {
  return must_new_hinted(bytes, alignment, HEARTH_POOL_MAIN);
}
HEARTH_EXPORT void *_Znam(size_t bytes) { return _Znwm(bytes); }
HEARTH_EXPORT void *_ZnamSt11align_val_t(size_t bytes, size_t alignment) {
  return _ZnwmSt11align_val_t(bytes, alignment);
}

#define HEARTH_NOTHROW(name)                                                                                           \
  HEARTH_EXPORT void *name##RKSt9nothrow_t(size_t bytes, const void *nothrow) {                                        \
    (void)nothrow;                                                                                                     \
    return hearth_new_by(name, bytes);                                                                                 \
  }                                                                                                                    \
  HEARTH_EXPORT void *name##St11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow) {       \
    (void)nothrow;                                                                                                     \
    return hearth_new_aligned_by(name##St11align_val_t, bytes, alignment);                                             \
  }
HEARTH_NOTHROW(_Znwm)
HEARTH_NOTHROW(_Znam)

/* The hinted forms. */

static inline unsigned placement_of_new(uint8_t hint) {
  return atomic_load_explicit(&hearth_hints_of_process.placement_of_new[hint], memory_order_relaxed);
}

#define HEARTH_NEW(plain)                                                                                              \
  static __attribute__((noinline)) void *plain##_slowly(size_t bytes, uint8_t hint) {                                  \
    unsigned placement = placement_of_new(hint);                                                                       \
    if (placement != HEARTH_POOL_NONE)                                                                                 \
      return must_new_hinted(bytes, 1, placement);                                                                     \
    hearth_hint_pass_on(hint);                                                                                         \
    return plain(bytes);                                                                                               \
  }                                                                                                                    \
  static __attribute__((noinline)) void *plain##_at_cursor(size_t bytes, uint8_t hint, unsigned placement,             \
                                                           hearth_pool *pool) {                                        \
    void *block = hearth_hinted_take(placement, pool, bytes);                                                          \
    return HEARTH_LIKELY(block != NULL) ? block : plain##_slowly(bytes, hint);                                         \
  }                                                                                                                    \
  HEARTH_EXPORT void *plain##12__hot_cold_t(size_t bytes, uint8_t hint) {                                              \
    unsigned placement = placement_of_new(hint);                                                                       \
    hearth_heap *heap = hearth_hinted_heap();                                                                          \
    hearth_pool *pool = hearth_hinted_pool(heap, placement);                                                           \
    if (HEARTH_UNLIKELY(!pool))                                                                                        \
      return plain##_slowly(bytes, hint);                                                                              \
    void *block = hearth_hinted_pop(heap, placement, pool, bytes);                                                     \
    return HEARTH_LIKELY(block != NULL) ? block : plain##_at_cursor(bytes, hint, placement, pool);                     \
  }                                                                                                                    \
  HEARTH_EXPORT void *plain##RKSt9nothrow_t12__hot_cold_t(size_t bytes, const void *nothrow, uint8_t hint) {           \
    unsigned placement = placement_of_new(hint);                                                                       \
    if (placement != HEARTH_POOL_NONE)                                                                                 \
      return may_new_hinted(bytes, 1, placement);                                                                      \
    hearth_hint_pass_on(hint);                                                                                         \
    return plain##RKSt9nothrow_t(bytes, nothrow);                                                                      \
  }                                                                                                                    \
  HEARTH_EXPORT void *plain##St11align_val_t12__hot_cold_t(size_t bytes, size_t alignment, uint8_t hint) {             \
    unsigned placement = placement_of_new(hint);                                                                       \
    if (placement != HEARTH_POOL_NONE)                                                                                 \
      return must_new_hinted(bytes, alignment, placement);                                                             \
    hearth_hint_pass_on(hint);                                                                                         \
    return plain##St11align_val_t(bytes, alignment);                                                                   \
  }                                                                                                                    \
  HEARTH_EXPORT void *plain##St11align_val_tRKSt9nothrow_t12__hot_cold_t(size_t bytes, size_t alignment,               \
                                                                         const void *nothrow, uint8_t hint) {          \
    unsigned placement = placement_of_new(hint);                                                                       \
    if (placement != HEARTH_POOL_NONE)                                                                                 \
      return may_new_hinted(bytes, alignment, placement);                                                              \
    hearth_hint_pass_on(hint);                                                                                         \
    return plain##St11align_val_tRKSt9nothrow_t(bytes, alignment, nothrow);                                            \
  }
HEARTH_NEW(_Znwm)
HEARTH_NEW(_Znam)

/* The plain forms of delete are free (malloc_functions.c): a sized one would save the load of a byte that has to be
 * written all the same. */
void _ZdlPv(void *block);
void _ZdlPvSt11align_val_t(void *block, size_t alignment);
HEARTH_EXPORT void _ZdaPv(void *block) { _ZdlPv(block); }
HEARTH_EXPORT void _ZdaPvSt11align_val_t(void *block, size_t alignment) { _ZdlPvSt11align_val_t(block, alignment); }

#define HEARTH_DELETE(name)                                                                                            \
  HEARTH_EXPORT void name##m(void *block, size_t bytes) {                                                              \
    (void)bytes;                                                                                                       \
    name(block);                                                                                                       \
  }                                                                                                                    \
  HEARTH_EXPORT void name##RKSt9nothrow_t(void *block, const void *nothrow) {                                          \
    (void)nothrow;                                                                                                     \
    name(block);                                                                                                       \
  }                                                                                                                    \
  HEARTH_EXPORT void name##mSt11align_val_t(void *block, size_t bytes, size_t alignment) {                             \
    (void)bytes;                                                                                                       \
    name##St11align_val_t(block, alignment);                                                                           \
  }                                                                                                                    \
  HEARTH_EXPORT void name##St11align_val_tRKSt9nothrow_t(void *block, size_t alignment, const void *nothrow) {         \
    (void)nothrow;                                                                                                     \
    name##St11align_val_t(block, alignment);                                                                           \
  }
HEARTH_DELETE(_ZdlPv)
HEARTH_DELETE(_ZdaPv)

/* Do the public names lead here? They lead to the first definition; the same functions under names that nobody
 * replaces do not. By addresses, without a call: a program's operator delete need not take NULL. */
#define HEARTH_OTHER_DELETES(X, name)                                                                                  \
  X(name##m) X(name##RKSt9nothrow_t) X(name##mSt11align_val_t) X(name##St11align_val_tRKSt9nothrow_t)
#define HEARTH_DELETES(X, name) X(name) X(name##St11align_val_t) HEARTH_OTHER_DELETES(X, name)

#define HEARTH_OWN(name) HEARTH_HIDDEN __typeof__(name) hearth_own##name __attribute__((alias(#name)));
HEARTH_HIDDEN __typeof__(_ZdlPv) hearth_own_ZdlPv; /* malloc_functions.c */
HEARTH_HIDDEN __typeof__(_ZdlPvSt11align_val_t) hearth_own_ZdlPvSt11align_val_t;
HEARTH_OTHER_DELETES(HEARTH_OWN, _ZdlPv)
HEARTH_DELETES(HEARTH_OWN, _ZdaPv)
HEARTH_OWN(_Znwm)
HEARTH_OWN(_Znam)

#define HEARTH_IS_OWN(name) &&(uintptr_t)name == (uintptr_t)hearth_own##name
bool hearth_deletes_are_own(void) {
  return true HEARTH_DELETES(HEARTH_IS_OWN, _ZdlPv) HEARTH_DELETES(HEARTH_IS_OWN, _ZdaPv);
}

bool hearth_news_are_own(void) { return true HEARTH_IS_OWN(_Znwm) HEARTH_IS_OWN(_Znam); }
