/* The hinted forms of operator new, under tcmalloc's names, and the forms of operator delete.
 *
 * In C by mangled name: hint and alignment are plain integers to the ABI, and a C program that links the shared object
 * must not need libstdc++. What belongs to the C++ library is therefore weak and may be absent. Exceptions that the
 * plain operators throw pass through these frames. */
#define _GNU_SOURCE
#include "cxx_entry.h"

#include "entry.h"
#include "fatal.h"
#include "next.h"

#include <stdlib.h>

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
 * which an allocator or the program may have replaced, or to free where there is none (static C++ library). */

static const char no_throw; /* what stands for std::nothrow */

/* True if the block (or NULL) is dealt with. */
static bool deleted(void *block, unsigned form) {
  enum hearth_range range = hearth_range_of(block);
  if (range != HEARTH_RANGE_NONE)
    hearth_range_free(range, block);
  else if (!block)
    hearth_probe_report((unsigned)HEARTH_PROBE_DELETE << form);
  return range != HEARTH_RANGE_NONE || !block;
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
  HEARTH_INTERPOSE void name parameters {                                                                              \
    static _Atomic(void *) slot;                                                                                       \
    if (deleted(block, form))                                                                                          \
      return;                                                                                                          \
    void(*next) parameters = (void(*) parameters)hearth_next_optional(&slot, #name);                                   \
    if (next)                                                                                                          \
      next arguments;                                                                                                  \
    else                                                                                                               \
      free(block);                                                                                                     \
  }
HEARTH_DELETES(HEARTH_DEFINE)
#undef HEARTH_DEFINE

/* Whether every form of delete is ours, as hearth_next_is_interposed tells for the C functions. Kept after the first
 * time; several threads may find out at once. */
static bool deletes_are_ours(void) {
  enum { UNKNOWN, YES, NO };
  static _Atomic int known;
  int answer = atomic_load_explicit(&known, memory_order_relaxed);
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
    if (atomic_exchange_explicit(&known, answer, memory_order_relaxed) == UNKNOWN && answer == NO)
      hearth_hotcold_warn("hints of operator new are ignored: another operator delete comes before the adapter's", "");
  }
  return answer == YES;
}

void *hearth_hinted_new(size_t bytes, size_t alignment, uint8_t hint) {
  enum hearth_range range = hearth_hinted_range(hint);
  if (range == HEARTH_RANGE_NONE)
    return NULL;
  if (deletes_are_ours())
    return hearth_hinted_alloc(bytes, alignment, hint);
  atomic_fetch_add_explicit(&hearth_ranges.fallbacks[range], 1, memory_order_relaxed);
  return NULL;
}

void *hearth_plain_new_or_null(size_t bytes, size_t alignment) {
  void *block;
  if (alignment <= HEARTH_GRANULE_BYTES)
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

#define HEARTH_NEW(plain)                                                                                              \
  HEARTH_INTERPOSE void *plain##12__hot_cold_t(size_t bytes, uint8_t hint) {                                           \
    void *block = hearth_hinted_new(bytes, 1, hint);                                                                   \
    if (block)                                                                                                         \
      return block;                                                                                                    \
    return plain ? plain(bytes) : hearth_plain_new(bytes, 1);                                                          \
  }                                                                                                                    \
  HEARTH_INTERPOSE void *plain##RKSt9nothrow_t12__hot_cold_t(size_t bytes, const void *nothrow, uint8_t hint) {        \
    void *block = hearth_hinted_new(bytes, 1, hint);                                                                   \
    if (block)                                                                                                         \
      return block;                                                                                                    \
    return plain##RKSt9nothrow_t ? plain##RKSt9nothrow_t(bytes, nothrow) : hearth_plain_new_or_null(bytes, 1);         \
  }                                                                                                                    \
  HEARTH_INTERPOSE void *plain##St11align_val_t12__hot_cold_t(size_t bytes, size_t alignment, uint8_t hint) {          \
    void *block = hearth_hinted_new(bytes, alignment, hint);                                                           \
    if (block)                                                                                                         \
      return block;                                                                                                    \
    return plain##St11align_val_t ? plain##St11align_val_t(bytes, alignment) : hearth_plain_new(bytes, alignment);     \
  }                                                                                                                    \
  HEARTH_INTERPOSE void *plain##St11align_val_tRKSt9nothrow_t12__hot_cold_t(size_t bytes, size_t alignment,            \
                                                                            const void *nothrow, uint8_t hint) {       \
    void *block = hearth_hinted_new(bytes, alignment, hint);                                                           \
    if (block)                                                                                                         \
      return block;                                                                                                    \
    return plain##St11align_val_tRKSt9nothrow_t ? plain##St11align_val_tRKSt9nothrow_t(bytes, alignment, nothrow)      \
                                                : hearth_plain_new_or_null(bytes, alignment);                          \
  }
HEARTH_NEW(_Znwm)
HEARTH_NEW(_Znam)

/* Sized delete may be told anything from the requested to the returned size, so the room of a block may be told to the
 * program; of a foreign block only the requested size is known to be right. */

static struct sized_block with_room(void *block) {
  return (struct sized_block){block, hearth_region_usable(&hearth_ranges.region[hearth_range_of(block)], block)};
}

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
