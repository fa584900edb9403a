/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A jemalloc arena whose extents come from the range. CACHE says what threads keep of it: OWN, a cache made for the arena;
 * NONE; AUTOMATIC, the thread's usual cache, which knows no arenas. */
#include "engine.h"

#include <jemalloc/jemalloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define OWN       1
#define NONE      2
#define AUTOMATIC 3

static char *range, *range_next;
static pthread_mutex_t range_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned arena;
static _Thread_local int flags, cache_flag;

static void *extent_alloc(extent_hooks_t *hooks, void *wanted, size_t bytes, size_t alignment, bool *zero, bool *commit,
                          unsigned of_arena) {
  (void)hooks, (void)of_arena;
  if (wanted)
    return NULL;
  pthread_mutex_lock(&range_lock);
  char *start = (char *)(((uintptr_t)range_next + alignment - 1) & -(uintptr_t)alignment);
  bool fits = bytes <= (size_t)(range + RANGE_BYTES - start);
  range_next = fits ? start + bytes : range_next;
  pthread_mutex_unlock(&range_lock);
  *zero = *commit = true;
  return fits ? start : NULL;
}

/* true: not done; the arena keeps the addresses. */
static bool extent_dalloc(extent_hooks_t *hooks, void *start, size_t bytes, bool committed, unsigned of_arena) {
  (void)hooks, (void)start, (void)bytes, (void)committed, (void)of_arena;
  return true;
}
static bool extent_purge(extent_hooks_t *hooks, void *start, size_t bytes, size_t offset, size_t length,
                         unsigned of_arena) {
  (void)hooks, (void)bytes, (void)of_arena;
  return madvise((char *)start + offset, length, MADV_DONTNEED);
}
static bool extent_split(extent_hooks_t *hooks, void *start, size_t bytes, size_t a, size_t b, bool committed,
                         unsigned of_arena) {
  (void)hooks, (void)start, (void)bytes, (void)a, (void)b, (void)committed, (void)of_arena;
  return false;
}
static bool extent_merge(extent_hooks_t *hooks, void *a, size_t a_bytes, void *b, size_t b_bytes, bool committed,
                         unsigned of_arena) {
  (void)hooks, (void)a, (void)a_bytes, (void)b, (void)b_bytes, (void)committed, (void)of_arena;
  return false;
}
static extent_hooks_t hooks = {.alloc = extent_alloc,
                               .dalloc = extent_dalloc,
                               .purge_lazy = extent_purge,
                               .purge_forced = extent_purge,
                               .split = extent_split,
                               .merge = extent_merge};

static void set_decay(const char *what) {
  char name[64];
  ssize_t at_once = 0;
  snprintf(name, sizeof name, "arena.%u.%s", arena, what);
  if (mallctl(name, NULL, NULL, &at_once, sizeof at_once))
    exit(3);
}

char *engine_open(void) {
  size_t bytes = sizeof arena;
  extent_hooks_t *own = &hooks;
  range = range_next = reserve_range();
  if (mallctl("arenas.create", &arena, &bytes, &own, sizeof own))
    exit(3);
  set_decay("dirty_decay_ms"); /* the cold range gives back early */
  set_decay("muzzy_decay_ms");
  return range;
}

void engine_thread_begin(void) {
  unsigned cache;
  size_t bytes = sizeof cache;
  if (CACHE == OWN && mallctl("tcache.create", &cache, &bytes, NULL, 0))
    exit(3);
  cache_flag = CACHE == OWN ? (int)MALLOCX_TCACHE(cache) : CACHE == NONE ? MALLOCX_TCACHE_NONE : 0;
  flags = (int)MALLOCX_ARENA(arena) | cache_flag;
  if (CACHE == OWN)
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
}

void engine_thread_end(void) {
  unsigned cache = (unsigned)(cache_flag >> 8) - 2; /* as MALLOCX_TCACHE made it */
  if (CACHE == OWN && mallctl("tcache.destroy", NULL, NULL, &cache, sizeof cache))
    exit(3);
}

void *engine_take(size_t bytes) { return mallocx(bytes, flags); }

/* As the adapter's free would. */
void engine_give(void *block) {
  if (block && (size_t)((char *)block - range) < RANGE_BYTES)
    dallocx(block, cache_flag);
  else
    free(block);
}
