/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts blocks by a walk over the maps, and pages by the system's list of them. */
#define _GNU_SOURCE
#include "hearth/malloc.h"
#include "hints.h"
#include "large_block.h"
#include "segments.h"
#include "system_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PIECE_PAGES = HEARTH_SEGMENT_BYTES / HEARTH_PAGE_BYTES };

static void count_segment(hearth_segment *segment, struct hearth_malloc_part_stats *part) {
  hearth_live live = hearth_segment_count(segment);
  part->live_blocks += live.blocks;
  part->live_bytes += live.bytes;
}

/* Of the memory that is readable and writable. */
static void count_pages(int pages, const char *piece, struct hearth_malloc_part_stats *part) {
  uint64_t entries[PIECE_PAGES];
  part->committed_bytes += HEARTH_SEGMENT_BYTES;
  off_t offset = (off_t)((uintptr_t)piece / HEARTH_PAGE_BYTES * sizeof *entries);
  if (pages < 0 || syscall(SYS_pread64, pages, entries, sizeof entries, offset) != sizeof entries)
    return;
  for (size_t i = 0; i < PIECE_PAGES; i++) {
    part->resident_bytes += entries[i] >> 63 ? HEARTH_PAGE_BYTES : 0;
    part->swap_bytes += entries[i] >> 62 == 1 ? HEARTH_PAGE_BYTES : 0;
  }
}

static struct hearth_malloc_part_stats *part_of(hearth_kind kind, struct hearth_malloc_stats *stats) {
  return hearth_is_cold(kind)                                ? &stats->cold
         : hearth_is_large(kind) || kind < HEARTH_POOL_FIRST ? &stats->main
                                                             : &stats->hot;
}

static void count_hinted(struct hearth_malloc_stats *stats) {
  for (hearth_heap *heap = *hearth_heaps_head(); heap; heap = heap->next_of_all) {
    stats->passed_on += heap->hinted[HEARTH_POOL_NONE];
    for (unsigned placement = HEARTH_POOL_MAIN; placement < HEARTH_POOLS; placement++)
      part_of((hearth_kind)placement, stats)->placed += heap->hinted[placement];
  }
}

static void count_large(bool is_cold, struct hearth_malloc_part_stats *part) {
  hearth_large_stats large;
  hearth_large_count(is_cold, &large);
  part->live_blocks += large.live;
  part->live_bytes += large.live_bytes;
}

/* Segments may be given back meanwhile: they are looked at under the lock of segments. */
HEARTH_EXPORT void hearth_malloc_stats(struct hearth_malloc_stats *ret_stats) {
  hearth_kind kind;
  int saved_errno = errno, pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  *ret_stats = (struct hearth_malloc_stats){
      .passed_on = atomic_load_explicit(&hearth_hints_of_process.passed_on, memory_order_relaxed)};
  ret_stats->cold.fallbacks = atomic_load_explicit(&hearth_hints_of_process.fallbacks, memory_order_relaxed);
  count_large(false, &ret_stats->main);
  count_large(true, &ret_stats->cold);
  count_hinted(ret_stats);
  hearth_futex_lock_acquire(&hearth_segments_lock);
  for (char *piece = NULL; (piece = hearth_kind_next(piece, &kind)); piece += HEARTH_SEGMENT_BYTES) {
    if (hearth_is_segment(kind))
      count_segment((hearth_segment *)piece, part_of(kind, ret_stats));
    if (kind != HEARTH_KIND_KEPT)
      count_pages(pages, piece, part_of(kind, ret_stats));
  }
  hearth_futex_lock_release(&hearth_segments_lock);
  if (pages >= 0)
    close(pages);
  errno = saved_errno;
}

HEARTH_EXPORT void hearth_malloc_pool_stats(int pool, struct hearth_malloc_part_stats *ret_stats) {
  hearth_kind kind, wanted = (hearth_kind)(HEARTH_POOL_FIRST + pool);
  *ret_stats = (struct hearth_malloc_part_stats){0};
  if (pool < 0 || pool > HEARTH_POOL_HOT - HEARTH_POOL_FIRST)
    return;
  for (hearth_heap *heap = *hearth_heaps_head(); heap; heap = heap->next_of_all)
    ret_stats->placed += heap->hinted[wanted];
  hearth_futex_lock_acquire(&hearth_segments_lock);
  for (char *piece = NULL; (piece = hearth_kind_next(piece, &kind)); piece += HEARTH_SEGMENT_BYTES)
    if (kind == wanted)
      count_segment((hearth_segment *)piece, ret_stats);
  hearth_futex_lock_release(&hearth_segments_lock);
}
