/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program's own allocator behind the functions that the adapter interposes, and the proof that it does interpose
 * them. */
#ifndef HEARTH_HOTCOLD_NEXT_H
#define HEARTH_HOTCOLD_NEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Never __libc_free and the like: the next allocator need not be libc's. Each pointer starts as a function that looks
 * the real one up, so that callers need no test. */
struct hearth_next {
  void (*_Atomic free)(void *block);
  void *(*_Atomic realloc)(void *block, size_t bytes);
  size_t (*_Atomic malloc_usable_size)(void *block);
};

extern struct hearth_next hearth_next;

/* The adapter's own free and realloc (entry.c), whatever their public names lead to. */
void hearth_own_free(void *block);
void *hearth_own_realloc(void *block, size_t bytes);

/* dlsym(RTLD_NEXT, name); NULL if there is none, and while a lookup is under way in this thread. */
void *hearth_next_lookup(const char *name);

/* The same, kept in *slot, which begins as NULL. */
void *hearth_next_optional(_Atomic(void *) *slot, const char *name);

/* The same of a function that every allocator has: without it the program ends. */
void *hearth_next_function(_Atomic(void *) *slot, const char *name);

/* Is there no next definition, or is it the one of libstdc++ or libc++? */
bool hearth_next_is_absent_or_cxx(const char *name);

static inline void hearth_next_free(void *block) {
  atomic_load_explicit(&hearth_next.free, memory_order_relaxed)(block);
}

static inline void *hearth_next_realloc(void *block, size_t bytes) {
  return atomic_load_explicit(&hearth_next.realloc, memory_order_relaxed)(block, bytes);
}

static inline size_t hearth_next_usable(void *block) {
  return atomic_load_explicit(&hearth_next.malloc_usable_size, memory_order_relaxed)(block);
}

/* The functions a block of ours may be handed to. When another definition comes first in the program's symbol order
 * (an allocator preloaded before the adapter's shared object, or linked into the program), a block of ours would end
 * in a foreign free: then no such block may be made. So each is called once with NULL through the ordinary symbol,
 * and our definition reports that it was reached. */
enum hearth_probe {
  HEARTH_PROBE_FREE = 1 << 0,
  HEARTH_PROBE_REALLOC = 1 << 1,
  HEARTH_PROBE_REALLOCARRAY = 1 << 2,
  HEARTH_PROBE_USABLE_SIZE = 1 << 3,
  HEARTH_PROBE_ALL = (1 << 4) - 1,
  HEARTH_PROBE_DELETE = 1 << 4, /* and the bits above, one per form of operator delete */
};

/* Set by the probing thread only; the functions that report are called by it too. */
extern _Thread_local unsigned *hearth_probe_seen __attribute__((tls_model("initial-exec")));

/* Called where an interposed function got NULL. */
static inline void hearth_probe_report(unsigned probe) {
  if (hearth_probe_seen)
    *hearth_probe_seen |= probe;
}

/* True if all of them are ours. */
bool hearth_next_is_interposed(void);

#endif
