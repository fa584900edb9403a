/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hinted forms of operator new, under tcmalloc's names. */
#include "hints.h"

#include <malloc.h>

struct sized_block { /* tcmalloc's __sized_ptr_t, returned in two registers */
  void *block;
  size_t bytes;
};

static inline unsigned placement_of(uint8_t hint) {
  return atomic_load_explicit(&hearth_hints_of_process.placement_of_new[hint], memory_order_relaxed);
}

/* NULL: the plain form is to serve the request. */
static void *pass_on(size_t bytes, size_t alignment, uint8_t hint) {
  hearth_hint_pass_on(hint);
  return hearth_hints_of_process.are_verified ? hearth_verified_alloc(bytes, alignment, hint) : NULL;
}

void *_Znwm(size_t bytes);
void *_Znam(size_t bytes);
void *_ZnwmRKSt9nothrow_t(size_t bytes, const void *nothrow);
void *_ZnamRKSt9nothrow_t(size_t bytes, const void *nothrow);
void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment);
void *_ZnamSt11align_val_t(size_t bytes, size_t alignment);
void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow);
void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow);

#define HEARTH_NEW(plain)                                                                                              \
  static __attribute__((noinline)) void *plain##_slowly(size_t bytes, uint8_t hint) {                                  \
    unsigned placement = placement_of(hint);                                                                           \
    if (placement != HEARTH_POOL_NONE)                                                                                 \
      return hearth_must_new(bytes, 1, placement);                                                                     \
    void *block = pass_on(bytes, 1, hint);                                                                             \
    return block ? block : plain(bytes);                                                                               \
  }                                                                                                                    \
  static __attribute__((noinline)) void *plain##_at_cursor(hearth_pool *pool, size_t bytes, uint8_t hint) {            \
    void *block = hearth_hinted_take(pool, bytes);                                                                     \
    return HEARTH_LIKELY(block != NULL) ? block : plain##_slowly(bytes, hint);                                         \
  }                                                                                                                    \
  HEARTH_OPERATOR void *plain##12__hot_cold_t(size_t bytes, uint8_t hint) {                                            \
    hearth_pool *pool = hearth_hinted_pool(placement_of(hint));                                                        \
    if (HEARTH_UNLIKELY(!pool))                                                                                        \
      return plain##_slowly(bytes, hint);                                                                              \
    void *block = hearth_hinted_pop(pool, bytes);                                                                      \
    return HEARTH_LIKELY(block != NULL) ? block : plain##_at_cursor(pool, bytes, hint);                                \
  }                                                                                                                    \
  HEARTH_OPERATOR void *plain##RKSt9nothrow_t12__hot_cold_t(size_t bytes, const void *nothrow, uint8_t hint) {         \
    unsigned placement = placement_of(hint);                                                                           \
    if (placement != HEARTH_POOL_NONE)                                                                                 \
      return hearth_may_new(bytes, 1, placement);                                                                      \
    void *block = pass_on(bytes, 1, hint);                                                                             \
    return block ? block : plain##RKSt9nothrow_t(bytes, nothrow);                                                      \
  }                                                                                                                    \
  HEARTH_OPERATOR void *plain##St11align_val_t12__hot_cold_t(size_t bytes, size_t alignment, uint8_t hint) {           \
    unsigned placement = placement_of(hint);                                                                           \
    if (placement != HEARTH_POOL_NONE)                                                                                 \
      return hearth_must_new(bytes, alignment, placement);                                                             \
    void *block = pass_on(bytes, alignment, hint);                                                                     \
    return block ? block : plain##St11align_val_t(bytes, alignment);                                                   \
  }                                                                                                                    \
  HEARTH_OPERATOR void *plain##St11align_val_tRKSt9nothrow_t12__hot_cold_t(size_t bytes, size_t alignment,             \
                                                                           const void *nothrow, uint8_t hint) {        \
    unsigned placement = placement_of(hint);                                                                           \
    if (placement != HEARTH_POOL_NONE)                                                                                 \
      return hearth_may_new(bytes, alignment, placement);                                                              \
    void *block = pass_on(bytes, alignment, hint);                                                                     \
    return block ? block : plain##St11align_val_tRKSt9nothrow_t(bytes, alignment, nothrow);                            \
  }
HEARTH_NEW(_Znwm)
HEARTH_NEW(_Znam)

/* Sized delete may be told anything from the requested to the returned size, so the room of a block of ours may be told to
 * the program; of a block of the plain form, only the requested size is known to be right. */
static struct sized_block with_room(void *block, size_t bytes, uint8_t hint) {
  return (struct sized_block){block, placement_of(hint) ? malloc_usable_size(block) : bytes};
}

HEARTH_OPERATOR struct sized_block __size_returning_new_hot_cold(size_t bytes, uint8_t hint) {
  return with_room(_Znwm12__hot_cold_t(bytes, hint), bytes, hint);
}

HEARTH_OPERATOR struct sized_block __size_returning_new_aligned_hot_cold(size_t bytes, size_t alignment, uint8_t hint) {
  return with_room(_ZnwmSt11align_val_t12__hot_cold_t(bytes, alignment, hint), bytes, hint);
}

/* Forms of operator delete: the public names, which lead to whoever comes first, and names of ours. */
#define HEARTH_DELETE_NAME(name, kind)                                                                                 \
  extern const char name[];                                                                                            \
  extern HEARTH_HIDDEN const char hearth_own##name[];
#include "allocation_names.def"

/* By addresses, without a call: a program's operator delete need not take NULL. */
bool hearth_deletes_are_own(void) {
  unsigned foreign = 0;
#define HEARTH_DELETE_NAME(name, kind) foreign += (uintptr_t)name != (uintptr_t)hearth_own##name;
#include "allocation_names.def"
  return !foreign;
}

HEARTH_HIDDEN void *hearth_own_Znwm(size_t bytes);
HEARTH_HIDDEN void *hearth_own_Znam(size_t bytes);

bool hearth_news_are_own(void) {
  return (uintptr_t)_Znwm == (uintptr_t)hearth_own_Znwm && (uintptr_t)_Znam == (uintptr_t)hearth_own_Znam;
}
