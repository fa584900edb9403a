/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The hinted forms of operator new, under tcmalloc's names, and the forms of operator delete.
 *
 * In C by mangled name: hint and alignment are plain integers to the ABI, and a C program that links the shared object
 * must not need libstdc++. Symbols of the C++ library are therefore weak and may be absent. Exceptions that the plain
 * operators throw pass through these frames. */
#define _GNU_SOURCE
#include "cxx_entry.h"

#include "entry.h"
#include "fatal.h"
#include "next.h"

#include <stdlib.h>
#include <string.h>

struct sized_block { /* tcmalloc's __sized_ptr_t, returned in two registers */
  void *block;
  size_t bytes;
};

#define HEARTH_WEAK_EXTERN extern __attribute__((weak, visibility("default")))
HEARTH_WEAK_EXTERN void *_Znwm(size_t bytes);
HEARTH_WEAK_EXTERN void *_ZnwmRKSt9nothrow_t(size_t bytes, const void *nothrow);
HEARTH_WEAK_EXTERN void *_ZnwmSt11align_val_t(size_t bytes, size_t alignment);
HEARTH_WEAK_EXTERN void *_ZnwmSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow);
HEARTH_WEAK_EXTERN void *_Znam(size_t bytes);
HEARTH_WEAK_EXTERN void *_ZnamRKSt9nothrow_t(size_t bytes, const void *nothrow);
HEARTH_WEAK_EXTERN void *_ZnamSt11align_val_t(size_t bytes, size_t alignment);
HEARTH_WEAK_EXTERN void *_ZnamSt11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *nothrow);
HEARTH_WEAK_EXTERN struct sized_block __size_returning_new(size_t bytes);
HEARTH_WEAK_EXTERN struct sized_block __size_returning_new_aligned(size_t bytes, size_t alignment);
HEARTH_WEAK_EXTERN void _ZSt17__throw_bad_allocv(void);

/* Operator delete. A block of ours may reach any form; a foreign one goes to the next definition of the same form,
 * which an allocator or the program may have replaced, or to free where there is none (static C++ library). Mostly the next
 * ones are the C++ library's, which call one another, and so this file's again, and in the end free: then that is called
 * at once. */

static const char no_throw; /* stands for std::nothrow */
typedef void free_function(void *block);
static free_function *_Atomic end_of_deletes; /* once it is known to be free */
static free_function *look_for_end(void);

static inline bool is_foreign(void *block) { return hearth_range_of(block) == HEARTH_RANGE_NONE && block; }

static void delete_own(void *block, unsigned form) {
  if (block)
    hearth_range_free(block);
  else
    hearth_probe_report((unsigned)HEARTH_PROBE_DELETE << form);
}

/* X(form, name, parameters, arguments, arguments of the probe) */
#define HEARTH_DELETES(X)                                                                                              \
  X(0, _ZdlPv, (void *block), (block), (NULL))                                                                         \
  X(1, _ZdlPvm, (void *block, size_t bytes), (block, bytes), (NULL, 1))                                                \
  X(2, _ZdlPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow), (NULL, &no_throw))                  \
  X(3, _ZdlPvSt11align_val_t, (void *block, size_t alignment), (block, alignment), (NULL, 64))                         \
  X(4, _ZdlPvmSt11align_val_t, (void *block, size_t bytes, size_t alignment), (block, bytes, alignment),               \
    (NULL, 1, 64))                                                                                                     \
  X(5, _ZdlPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *nothrow),                      \
    (block, alignment, nothrow), (NULL, 64, &no_throw))                                                                \
  X(6, _ZdaPv, (void *block), (block), (NULL))                                                                         \
  X(7, _ZdaPvm, (void *block, size_t bytes), (block, bytes), (NULL, 1))                                                \
  X(8, _ZdaPvRKSt9nothrow_t, (void *block, const void *nothrow), (block, nothrow), (NULL, &no_throw))                  \
  X(9, _ZdaPvSt11align_val_t, (void *block, size_t alignment), (block, alignment), (NULL, 64))                         \
  X(10, _ZdaPvmSt11align_val_t, (void *block, size_t bytes, size_t alignment), (block, bytes, alignment),              \
    (NULL, 1, 64))                                                                                                     \
  X(11, _ZdaPvSt11align_val_tRKSt9nothrow_t, (void *block, size_t alignment, const void *nothrow),                     \
    (block, alignment, nothrow), (NULL, 64, &no_throw))
enum { HEARTH_DELETE_FORMS = 12 };

#define HEARTH_DEFINE(form, name, parameters, arguments, probe)                                                        \
  static __attribute__((noinline)) void delete_##form parameters {                                                     \
    static _Atomic(void *) slot;                                                                                       \
    free_function *end;                                                                                                \
    void(*next) parameters;                                                                                            \
    if (!is_foreign(block))                                                                                            \
      delete_own(block, form);                                                                                         \
    else if ((end = look_for_end()))                                                                                   \
      end(block);                                                                                                      \
    else if ((next = (void(*) parameters)hearth_next_optional(&slot, #name)))                                          \
      next arguments;                                                                                                  \
    else                                                                                                               \
      free(block);                                                                                                     \
  }                                                                                                                    \
  HEARTH_INTERPOSE void name parameters {                                                                              \
    free_function *end = atomic_load_explicit(&end_of_deletes, memory_order_relaxed);                                  \
    if (end && is_foreign(block))                                                                                      \
      end(block);                                                                                                      \
    else                                                                                                               \
      delete_##form arguments;                                                                                         \
  }
HEARTH_DELETES(HEARTH_DEFINE)
#undef HEARTH_DEFINE

/* Whether every form of delete is ours, as hearth_next_is_interposed tells for the C functions. Kept after the first
 * time; several threads may find out at once. */
enum { UNKNOWN, YES, NO };
static _Atomic int deletes_known_to_be_ours;

static bool deletes_are_ours(void) {
  int answer = atomic_load_explicit(&deletes_known_to_be_ours, memory_order_relaxed);
  if (answer == UNKNOWN) {
    unsigned seen = 0;
    hearth_probe_seen = &seen;
#define HEARTH_PROBE(form, name, parameters, arguments, probe) name probe;
    HEARTH_DELETES(HEARTH_PROBE)
#undef HEARTH_PROBE
    hearth_probe_seen = NULL;
    /* A foreign delete may well end in our free, which reports itself. */
    unsigned all = ((1u << HEARTH_DELETE_FORMS) - 1) * HEARTH_PROBE_DELETE;
    answer = (seen & all) == all ? YES : NO;
    atomic_store_explicit(&deletes_known_to_be_ours, answer, memory_order_relaxed);
  }
  return answer == YES;
}

/* The C++ library's forms end in free, by way of each other: if none of them is replaced. Memcheck, which Valgrind preloads,
 * wants to see blocks of new in delete. */
static bool deletes_end_in_free(void) {
  const char *preloaded = getenv("LD_PRELOAD");
  if (!hearth_next_is_interposed() || !deletes_are_ours() || (preloaded && strstr(preloaded, "vgpreload_memcheck")))
    return false;
#define HEARTH_LOOK(form, name, parameters, arguments, probe)                                                          \
  if (!hearth_next_is_absent_or_cxx(#name))                                                                            \
    return false;
  HEARTH_DELETES(HEARTH_LOOK)
#undef HEARTH_LOOK
  return true;
}

/* NULL: each form goes its own way. */
static free_function *look_for_end(void) {
  static _Atomic bool is_none;
  free_function *end = atomic_load_explicit(&end_of_deletes, memory_order_relaxed);
  if (end || atomic_load_explicit(&is_none, memory_order_relaxed))
    return end;
  if (deletes_end_in_free()) /* free was called for it: the next one is known */
    end = atomic_load_explicit(&hearth_next.free, memory_order_relaxed);
  atomic_store_explicit(&is_none, !end, memory_order_relaxed);
  atomic_store_explicit(&end_of_deletes, end, memory_order_relaxed);
  return end;
}

void *hearth_hinted_new(size_t bytes, size_t alignment, uint8_t hint) {
  static _Atomic bool warned;
  unsigned pool = hearth_hinted_pool(hint);
  if (pool == HEARTH_POOL_NONE)
    return NULL;
  if (pool == HEARTH_POOL_VERIFIED || deletes_are_ours())
    return hearth_hinted_alloc(bytes, alignment, hint);
  if (!atomic_exchange_explicit(&warned, true, memory_order_relaxed))
    hearth_hotcold_warn("hints of operator new are ignored: another operator delete comes before the adapter's", "");
  atomic_fetch_add_explicit(&hearth_ranges.fallbacks[hearth_range_of_pool(pool)], 1, memory_order_relaxed);
  return NULL;
}

void *hearth_plain_new_or_null(size_t bytes, size_t alignment) {
  void *block;
  if (alignment <= HEARTH_QUANTUM_BYTES)
    return malloc(bytes);
  return posix_memalign(&block, alignment, bytes) ? NULL : block;
}

void *hearth_plain_new(size_t bytes, size_t alignment) {
  void *block = hearth_plain_new_or_null(bytes, alignment);
  if (block)
    return block;
  if (_ZSt17__throw_bad_allocv)
    _ZSt17__throw_bad_allocv();
  hearth_hotcold_fatal("out of memory in operator new", "");
}

/* Most requests are passed on, or served by what the thread has at hand, and need no call. */
static inline void *new_in_range(size_t bytes, size_t alignment, uint8_t hint) {
  unsigned pool = hearth_pool_of_hint(hint);
  if (pool < HEARTH_POOL_NONE && alignment <= HEARTH_QUANTUM_BYTES &&
      atomic_load_explicit(&deletes_known_to_be_ours, memory_order_relaxed) == YES) {
    struct hearth_thread_pools *thread = hearth_thread_pools;
    size_t quanta = hearth_quick_quanta(thread, bytes);
    bool zeroed;
    void *block =
        quanta ? hearth_pool_take_small(&thread->pool[pool], hearth_bin_at(thread, pool, quanta), quanta, &zeroed)
               : NULL;
    if (block)
      return block;
  }
  return hearth_hint_is_passed_on(hint) ? NULL : hearth_hinted_new(bytes, alignment, hint);
}

#define HEARTH_NEW(plain)                                                                                              \
  HEARTH_INTERPOSE void *plain##12__hot_cold_t(size_t bytes, uint8_t hint) {                                           \
    void *block = new_in_range(bytes, 1, hint);                                                                        \
    if (block)                                                                                                         \
      return block;                                                                                                    \
    return plain ? plain(bytes) : hearth_plain_new(bytes, 1);                                                          \
  }                                                                                                                    \
  HEARTH_INTERPOSE void *plain##RKSt9nothrow_t12__hot_cold_t(size_t bytes, const void *nothrow, uint8_t hint) {        \
    void *block = new_in_range(bytes, 1, hint);                                                                        \
    if (block)                                                                                                         \
      return block;                                                                                                    \
    return plain##RKSt9nothrow_t ? plain##RKSt9nothrow_t(bytes, nothrow) : hearth_plain_new_or_null(bytes, 1);         \
  }                                                                                                                    \
  HEARTH_INTERPOSE void *plain##St11align_val_t12__hot_cold_t(size_t bytes, size_t alignment, uint8_t hint) {          \
    void *block = new_in_range(bytes, alignment, hint);                                                                \
    if (block)                                                                                                         \
      return block;                                                                                                    \
    return plain##St11align_val_t ? plain##St11align_val_t(bytes, alignment) : hearth_plain_new(bytes, alignment);     \
  }                                                                                                                    \
  HEARTH_INTERPOSE void *plain##St11align_val_tRKSt9nothrow_t12__hot_cold_t(size_t bytes, size_t alignment,            \
                                                                            const void *nothrow, uint8_t hint) {       \
    void *block = new_in_range(bytes, alignment, hint);                                                                \
    if (block)                                                                                                         \
      return block;                                                                                                    \
    return plain##St11align_val_tRKSt9nothrow_t ? plain##St11align_val_tRKSt9nothrow_t(bytes, alignment, nothrow)      \
                                                : hearth_plain_new_or_null(bytes, alignment);                          \
  }
HEARTH_NEW(_Znwm)
HEARTH_NEW(_Znam)

/* Sized delete may be told anything from the requested to the returned size, so the room of a block may be told to the
 * program; for a foreign block, only the requested size is known to be right. */

static struct sized_block with_room(void *block) { return (struct sized_block){block, hearth_range_usable(block)}; }

HEARTH_INTERPOSE struct sized_block __size_returning_new_hot_cold(size_t bytes, uint8_t hint) {
  void *block = hearth_hinted_new(bytes, 1, hint);
  if (block)
    return with_room(block);
  if (__size_returning_new)
    return __size_returning_new(bytes);
  return (struct sized_block){_Znwm ? _Znwm(bytes) : hearth_plain_new(bytes, 1), bytes};
}

HEARTH_INTERPOSE struct sized_block __size_returning_new_aligned_hot_cold(size_t bytes, size_t alignment,
                                                                          uint8_t hint) {
  void *block = hearth_hinted_new(bytes, alignment, hint);
  if (block)
    return with_room(block);
  if (__size_returning_new_aligned)
    return __size_returning_new_aligned(bytes, alignment);
  block = _ZnwmSt11align_val_t ? _ZnwmSt11align_val_t(bytes, alignment) : hearth_plain_new(bytes, alignment);
  return (struct sized_block){block, bytes};
}
