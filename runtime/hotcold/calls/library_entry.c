/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The plain functions, before the program's own allocator: a call in a library gets the hint that the list of library
 * calls has for it (hinted_calls.h); all others go on. realloc and reallocarray are entry.c's. */
#define _GNU_SOURCE
#include "cxx_entry.h"
#include "entry.h"
#include "hinted_calls.h"
#include "known_calls.h"
#include "next.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* A block with the hint of the call, or NULL: the next allocator is to serve it. */
static inline void *library_alloc(struct hearth_caller caller, size_t bytes, size_t alignment) {
  uint8_t hint;
  return hearth_library_hint(caller, &hint) ? hearth_hinted_alloc(bytes, alignment, hint) : NULL;
}

static inline void *library_new(struct hearth_caller caller, size_t bytes, size_t alignment) {
  uint8_t hint;
  if (!hearth_library_hint(caller, &hint))
    return NULL;
  void *block = alignment == 1 ? hearth_quick_alloc(bytes, hint) : NULL;
  return block ? block : hearth_hinted_new(bytes, alignment, hint);
}

static void *no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

/* The next allocator's function. It is looked up out of line, so that later calls save no registers; meanwhile there is no
 * memory. */
#define HEARTH_NEXT(name, parameters, ...)                                                                             \
  static _Atomic(void *) slot_of_##name;                                                                               \
  static __attribute__((noinline)) void *first_##name parameters {                                                     \
    __typeof__(&name) next = (__typeof__(&name))hearth_next_function(&slot_of_##name, #name);                          \
    return next ? next(__VA_ARGS__) : no_memory();                                                                     \
  }                                                                                                                    \
  static inline void *next_##name parameters {                                                                         \
    void *known = atomic_load_explicit(&slot_of_##name, memory_order_relaxed);                                         \
    return __builtin_expect(known != NULL, 1) ? ((__typeof__(&name))known)(__VA_ARGS__) : first_##name(__VA_ARGS__);   \
  }

HEARTH_NEXT(malloc, (size_t bytes), bytes)
HEARTH_NEXT(calloc, (size_t count, size_t bytes), count, bytes)
HEARTH_NEXT(aligned_alloc, (size_t alignment, size_t bytes), alignment, bytes)
HEARTH_NEXT(memalign, (size_t alignment, size_t bytes), alignment, bytes)
HEARTH_NEXT(valloc, (size_t bytes), bytes)
HEARTH_NEXT(pvalloc, (size_t bytes), bytes)
HEARTH_NEXT(strdup, (const char *string), string)
HEARTH_NEXT(strndup, (const char *string, size_t most), string, most)

/* Functions apart, so that the usual requests save no registers. */

static __attribute__((noinline)) void *malloc_hinted(size_t bytes, uint8_t hint) {
  void *block = hearth_quick_alloc(bytes, hint);
  block = block ? block : hearth_hinted_alloc(bytes, 1, hint);
  return block ? block : next_malloc(bytes);
}

static __attribute__((noinline)) void *malloc_looked_up(uintptr_t address, uintptr_t stack, size_t bytes) {
  uint8_t hint;
  return hearth_library_calls_find((struct hearth_caller){address, stack}, &hint) ? malloc_hinted(bytes, hint)
                                                                                  : next_malloc(bytes);
}

HEARTH_INTERPOSE void *malloc(size_t bytes) {
  struct hearth_caller caller = HEARTH_CALLER;
  struct hearth_known_set *sets = atomic_load_explicit(&hearth_known_calls, memory_order_acquire);
  if (!sets)
    return next_malloc(bytes);
  uint64_t code = hearth_known_at_once(sets, caller.address), by_hint = code - HEARTH_KNOWN_BY_HINT;
  if (by_hint < HEARTH_POOL_NONE << 8) {
    void *block;
    return hearth_quick_cached(bytes, (unsigned)(by_hint >> 8), &block) ? block
                                                                        : malloc_hinted(bytes, (uint8_t)by_hint);
  }
  return code == 0 ? next_malloc(bytes) : malloc_looked_up(caller.address, caller.stack, bytes);
}

HEARTH_INTERPOSE void *calloc(size_t count, size_t bytes) {
  uint8_t hint;
  void *block = hearth_library_hint(HEARTH_CALLER, &hint) ? hearth_hinted_calloc(count, bytes, hint) : NULL;
  return block ? block : next_calloc(count, bytes);
}

HEARTH_INTERPOSE void *aligned_alloc(size_t alignment, size_t bytes) {
  void *block = library_alloc(HEARTH_CALLER, bytes, alignment);
  return block ? block : next_aligned_alloc(alignment, bytes);
}

HEARTH_INTERPOSE void *memalign(size_t alignment, size_t bytes) {
  void *block = library_alloc(HEARTH_CALLER, bytes, alignment);
  return block ? block : next_memalign(alignment, bytes);
}

HEARTH_INTERPOSE void *valloc(size_t bytes) {
  void *block = library_alloc(HEARTH_CALLER, bytes, HEARTH_PAGE_BYTES);
  return block ? block : next_valloc(bytes);
}

HEARTH_INTERPOSE void *pvalloc(size_t bytes) {
  size_t whole = (bytes + HEARTH_PAGE_BYTES - 1) / HEARTH_PAGE_BYTES * HEARTH_PAGE_BYTES;
  void *block = whole >= bytes ? library_alloc(HEARTH_CALLER, whole, HEARTH_PAGE_BYTES) : NULL;
  return block ? block : next_pvalloc(bytes);
}

static int next_posix_memalign(void **ret_block, size_t alignment, size_t bytes) {
  static _Atomic(void *) slot;
  __typeof__(&posix_memalign) next = (__typeof__(&posix_memalign))hearth_next_function(&slot, "posix_memalign");
  return next ? next(ret_block, alignment, bytes) : ENOMEM;
}

HEARTH_INTERPOSE int posix_memalign(void **ret_block, size_t alignment, size_t bytes) {
  void *block = alignment >= sizeof(void *) ? library_alloc(HEARTH_CALLER, bytes, alignment) : NULL;
  if (!block)
    return next_posix_memalign(ret_block, alignment, bytes);
  *ret_block = block;
  return 0;
}

/* The call that has the hint is strdup's; if it has none, the next strdup's own call of malloc may. */
static char *copy_string(struct hearth_caller caller, const char *string, size_t length) {
  char *copy = library_alloc(caller, length + 1, 1);
  if (!copy)
    return NULL;
  memcpy(copy, string, length);
  copy[length] = 0;
  return copy;
}

HEARTH_INTERPOSE char *strdup(const char *string) {
  char *copy = copy_string(HEARTH_CALLER, string, strlen(string));
  return copy ? copy : next_strdup(string);
}

HEARTH_INTERPOSE char *strndup(const char *string, size_t most) {
  char *copy = copy_string(HEARTH_CALLER, string, strnlen(string, most));
  return copy ? copy : next_strndup(string, most);
}

/* Operator new, by mangled name as in cxx_entry.c. There is no next one where the C++ library is linked statically. */

#define HEARTH_NEW(name, parameters, arguments, alignment, plain)                                                      \
  HEARTH_INTERPOSE void *name parameters;                                                                              \
  void *name parameters {                                                                                              \
    static _Atomic(void *) slot;                                                                                       \
    void *block = library_new(HEARTH_CALLER, bytes, alignment);                                                        \
    if (block)                                                                                                         \
      return block;                                                                                                    \
    __typeof__(&name) next = (__typeof__(&name))hearth_next_optional(&slot, #name);                                    \
    return next ? next arguments : plain(bytes, alignment);                                                            \
  }
#define HEARTH_NEWS(name)                                                                                              \
  HEARTH_NEW(name, (size_t bytes), (bytes), 1, hearth_plain_new)                                                       \
  HEARTH_NEW(name##RKSt9nothrow_t, (size_t bytes, const void *nothrow), (bytes, nothrow), 1, hearth_plain_new_or_null) \
  HEARTH_NEW(name##St11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment), alignment, hearth_plain_new) \
  HEARTH_NEW(name##St11align_val_tRKSt9nothrow_t, (size_t bytes, size_t alignment, const void *nothrow),               \
             (bytes, alignment, nothrow), alignment, hearth_plain_new_or_null)
HEARTH_NEWS(_Znwm)
HEARTH_NEWS(_Znam)
