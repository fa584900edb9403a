/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mallinfo and its like, and malloc_trim. Live blocks are counted by the map, without stopping other threads: the
 * pools' own counters leave out what was in lists that were dropped. */
#define _GNU_SOURCE
#include "malloc_functions.h"

#include "large_block.h"
#include "segments.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct counts {
  hearth_segments_stats segments;
  hearth_large_stats large;
} counts;

static void add_large(bool is_cold, hearth_large_stats *sum) {
  hearth_large_stats large;
  hearth_large_count(is_cold, &large);
  sum->areas += large.areas;
  sum->area_bytes += large.area_bytes;
  sum->live += large.live;
  sum->live_bytes += large.live_bytes;
  sum->dirty_bytes += large.dirty_bytes;
}

static counts count(void) {
  counts counts = {.segments = hearth_segments_count()};
  add_large(false, &counts.large);
  add_large(true, &counts.large);
  return counts;
}

HEARTH_EXPORT struct mallinfo2 mallinfo2(void) {
  counts counts = count();
  size_t free = counts.segments.bytes - counts.segments.live.bytes;
  return (struct mallinfo2){
      .arena = counts.segments.bytes,
      .hblks = counts.large.live,
      .hblkhd = counts.large.live_bytes,
      .uordblks = counts.segments.live.bytes + counts.large.live_bytes,
      .fordblks = free + counts.large.dirty_bytes,
      .keepcost = counts.segments.kept_bytes + counts.large.dirty_bytes,
  };
}

static int clamp(size_t number) { return number > INT_MAX ? INT_MAX : (int)number; }

HEARTH_EXPORT struct mallinfo mallinfo(void) {
  struct mallinfo2 info = mallinfo2();
  return (struct mallinfo){
      .arena = clamp(info.arena),
      .hblks = clamp(info.hblks),
      .hblkhd = clamp(info.hblkhd),
      .uordblks = clamp(info.uordblks),
      .fordblks = clamp(info.fordblks),
      .keepcost = clamp(info.keepcost),
  };
}

/* As in the C library, no thread is cancelled here. */
HEARTH_EXPORT void malloc_stats(void) {
  counts counts = count();
  int state;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  fprintf(stderr,
          "hearth malloc\n"
          "segments:     %12zu bytes, %zu of them kept for reuse\n"
          "in use there: %12zu bytes\n"
          "large blocks: %12zu bytes in %zu blocks, in areas of %zu bytes, %zu of them free and in memory\n",
          counts.segments.bytes, counts.segments.kept_bytes, counts.segments.live.bytes, counts.large.live_bytes,
          counts.large.live, counts.large.area_bytes, counts.large.dirty_bytes);
  pthread_setcancelstate(state, &state);
}

/* As the C library's: what the system gave, less what is free ("rest"), is in use, and large blocks ("mmap") beside it. */
HEARTH_EXPORT int malloc_info(int options, FILE *file) {
  if (options)
    return EINVAL;
  counts counts = count();
  fprintf(file,
          "<malloc version=\"1\">\n<total type=\"rest\" count=\"0\" size=\"%zu\"/>\n"
          "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n"
          "<system type=\"current\" size=\"%zu\"/>\n<aspace type=\"total\" size=\"%zu\"/>\n</malloc>\n",
          counts.segments.bytes - counts.segments.live.bytes, counts.large.live, counts.large.live_bytes,
          counts.segments.bytes, counts.segments.bytes + counts.large.area_bytes);
  return 0;
}

/* 1: memory went back to the system. */
HEARTH_EXPORT int malloc_trim(size_t kept_bytes) {
  (void)kept_bytes;
  hearth_heap *heap = hearth_main_pool->heap;
  if (heap)
    hearth_heap_collect(heap);
  bool any = hearth_segments_trim();
  return hearth_large_trim() || any;
}

/* Its options are of another allocator's design: none changes anything, and that is no error, as with values that the C
 * library ignores. */
HEARTH_EXPORT int mallopt(int option, int value) {
  (void)option;
  (void)value;
  return 1;
}
