/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a hint asks for: once the allocator is open, the pool of a placement; before, and for a neutral hint, what
 * the plain function does. */
#ifndef HEARTH_MALLOC_HINTS_H
#define HEARTH_MALLOC_HINTS_H

#include "engine.h"

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef struct hearth_hints {
  _Atomic uint8_t placement[UINT8_MAX + 1];        /* of each hint */
  _Atomic uint8_t placement_of_new[UINT8_MAX + 1]; /* for blocks of operator new */
  bool is_foreign_free, is_foreign_delete;         /* why none is heeded, or none of operator new */
  bool are_open;
  unsigned cold_below;        /* 0: none is */
  _Atomic uint64_t plan;      /* whose layout counts; 0: none was announced */
  _Atomic uint64_t passed_on; /* requests that went to the plain function, of threads without a heap */
  _Atomic uint64_t fallbacks; /* that went to the main pool, as there was no cold memory */
} hearth_hints;
extern hearth_hints hearth_hints_of_process;

static inline unsigned hearth_hint_placement(uint8_t hint) {
  return atomic_load_explicit(&hearth_hints_of_process.placement[hint], memory_order_relaxed);
}

/* The thread's; before its first request, one without pools. */
static inline hearth_heap *hearth_hinted_heap(void) { return (hearth_heap *)hearth_main_pool; /* its first member */ }

/* The pool of a placement in the thread's heap; NULL: it is not there yet, or the plain function is to be called. */
static inline hearth_pool *hearth_hinted_pool(const hearth_heap *heap, unsigned placement) {
  return atomic_load_explicit(&heap->pool[placement], memory_order_relaxed);
}

/* A freed block of a placement's pool, of up to 1 KiB; NULL: none waits. */
static inline __attribute__((always_inline)) void *hearth_hinted_pop(hearth_heap *heap, unsigned placement,
                                                                     hearth_pool *pool, size_t bytes) {
  void *block = hearth_pop_small(pool, bytes);
  if (HEARTH_LIKELY(block != NULL))
    heap->hinted[placement]++;
  return block;
}

/* The same at the cursor, when the list is empty. */
static inline void *hearth_hinted_take(unsigned placement, hearth_pool *pool, size_t bytes) {
  void *block = hearth_take_small(pool, hearth_small_class(bytes));
  if (HEARTH_LIKELY(block != NULL))
    hearth_hinted_heap()->hinted[placement]++;
  return block;
}

/* A block of a placement that is not HEARTH_POOL_NONE; as hearth_alloc. */
void *hearth_hinted_alloc(unsigned placement, size_t bytes, size_t alignment, bool *ret_zero);

/* A request goes to the plain function, and is counted; the first one that is not neutral says why, if that is not
 * as it should be. */
void hearth_hint_pass_on(uint8_t hint);

/* HEARTH_MALLOC, the allocator's environment variable: key=value pairs separated by ':'. docs/options.md explains
 * each. */

enum {
  HEARTH_MALLOC_PATH_BYTES = 512, /* with the terminating zero */
  HEARTH_COLD_INTERVAL_MAX = 86400,
  HEARTH_LAYOUT_IDS = 31,
};

/* The treatment of the memory of cold blocks. */
typedef enum hearth_cold_mode {
  HEARTH_COLD_KEEP,    /* nothing */
  HEARTH_COLD_PAGEOUT, /* sent to swap space from time to time */
  HEARTH_COLD_FILE,    /* kept in a file, whose pages are written and dropped from time to time */
  HEARTH_COLD_AUTO,    /* one of these two, whichever there is room for */
  HEARTH_COLD_OFF,     /* cold blocks lie as those without a hint */
} hearth_cold_mode;

typedef struct hearth_malloc_options {
  bool has_layout;
  uint8_t layout
      [HEARTH_LAYOUT_IDS]; /* pool of each id of a plan: 0 is the main one; without has_layout, each has its own */
  hearth_cold_mode cold_mode;
  unsigned interval_s;   /* 0 to HEARTH_COLD_INTERVAL_MAX; 0: never */
  unsigned cost_percent; /* 1 to 100: the share of the time that absent memory may cost; 0: no bound */
  bool is_secure;        /* misuse is made to show (engine.h) */
  bool warns_of_sites;   /* that no decision site is in the program */
  char directory[HEARTH_MALLOC_PATH_BYTES];
  char statistics[HEARTH_MALLOC_PATH_BYTES]; /* a file; empty: none */
} hearth_malloc_options;

/* Defaults changed by `text`, which may be NULL. A key or value that is not understood is skipped, and the first of
 * them named in one warning on standard error. Does not allocate. */
hearth_malloc_options hearth_malloc_options_parse(const char *text);

/* operator_new.c: do all forms of operator delete lead to ours? */
bool hearth_deletes_are_own(void);
/* And those of operator new that throw? */
bool hearth_news_are_own(void);
/* So many calls of free with NULL came to ours, by this thread. */
extern _Thread_local unsigned hearth_frees_of_null;

#pragma GCC visibility pop

#endif
