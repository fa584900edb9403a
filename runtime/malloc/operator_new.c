/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operator new and delete by their mangled names: alignment and hint are plain integers to the ABI. All forms of delete are
 * free: a sized one would save the load of a byte that has to be written all the same. */
#include "malloc_functions.h"
#include "new_handler.h"

#define HEARTH_NEW(name)                                                                                               \
  HEARTH_EXPORT void *name(size_t bytes) {                                                                             \
    void *block = hearth_pop_small(bytes);                                                                             \
    return HEARTH_LIKELY(block != NULL) ? block : hearth_new_or_throw(bytes, 1, 0);                                    \
  }                                                                                                                    \
  HEARTH_EXPORT void *name##RKSt9nothrow_t(size_t bytes, const void *nothrow) {                                        \
    (void)nothrow;                                                                                                     \
    void *block = hearth_pop_small(bytes);                                                                             \
    return HEARTH_LIKELY(block != NULL) ? block : hearth_new_or_null(bytes, 1, 0);                                     \
  }                                                                                                                    \
  HEARTH_EXPORT void *name##St11align_val_t(size_t bytes, size_t alignment) {                                          \
    return hearth_new_or_throw(bytes, alignment, 0);                                                                   \
  }                                                                                                                    \
  HEARTH_EXPORT void *name##St11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow) {       \
    (void)nothrow;                                                                                                     \
    return hearth_new_or_null(bytes, alignment, 0);                                                                    \
  }
HEARTH_NEW(_Znwm)
HEARTH_NEW(_Znam)

void *hearth_new_try(size_t bytes, size_t alignment, unsigned placement) {
  (void)placement;
  return hearth_alloc(hearth_main_pool, bytes, alignment);
}
