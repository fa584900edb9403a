/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A mimalloc heap for each thread, on an exclusive arena over the range. */
#include "engine.h"

#include <mimalloc.h>
#include <stdlib.h>

static char *range;
static mi_arena_id_t arena;
static _Thread_local mi_heap_t *heap;

char *engine_open(void) {
  range = reserve_range();
  mi_option_set(mi_option_decommit_delay, 0); /* the cold range gives back early */
  if (!mi_manage_os_memory_ex(range, RANGE_BYTES, false, false, true, -1, true, &arena))
    exit(3);
  return range;
}

void engine_thread_begin(void) {
  heap = mi_heap_new_in_arena(arena);
  if (!heap)
    exit(3);
}

/* Its blocks live on. */
void engine_thread_end(void) {
  mi_heap_collect(heap, true);
  mi_heap_delete(heap);
}

void *engine_take(size_t bytes) { return mi_heap_malloc(heap, bytes); }
void engine_give(void *block) { mi_free(block); }
