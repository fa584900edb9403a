/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* madvise makes the first pieces huge one by one, dense ones as mincore tells, and the whole range as soon as more than these
 * are in use. */
#define _GNU_SOURCE
#include "hot_pages.h"

#include <sys/mman.h>

/* Linux 6.1; older kernels refuse it, and collapse later by themselves. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

enum {
  ORDINARY_PIECES = 8,
  PAGES_OF_PIECE = (int)(HEARTH_HUGE_PAGE_BYTES / HEARTH_PAGE_BYTES),
  DENSE_PAGES = PAGES_OF_PIECE / 8 * 7,
};

static char *range_start, *range_end;
static bool is_huge[ORDINARY_PIECES]; /* that is, advised so */
static bool all_huge;

void hearth_hot_pages_open(char *start, size_t bytes) {
  range_start = start;
  range_end = start + bytes;
  madvise(start, bytes, MADV_NOHUGEPAGE); /* where the system's default is huge pages everywhere */
}

static bool is_dense(char *piece) {
  unsigned char in_memory[PAGES_OF_PIECE];
  int pages = 0;
  if (mincore(piece, HEARTH_HUGE_PAGE_BYTES, in_memory))
    return false;
  for (int i = 0; i < PAGES_OF_PIECE; i++)
    pages += in_memory[i] & 1;
  return pages >= DENSE_PAGES;
}

static void make_all_huge(void) {
  madvise(range_start, (size_t)(range_end - range_start), MADV_HUGEPAGE);
  all_huge = true;
}

/* Each of the first pieces that is dense, or that these pages fill, becomes huge. */
static bool commit(char *start, size_t bytes, size_t free_bytes) {
  char *end = start + bytes;
  (void)free_bytes;
  if (all_huge)
    return true;
  if ((size_t)(end - range_start) > ORDINARY_PIECES * HEARTH_HUGE_PAGE_BYTES)
    make_all_huge();
  char *piece = range_start;
  for (int i = 0; i < ORDINARY_PIECES && piece < end; i++, piece += HEARTH_HUGE_PAGE_BYTES) {
    bool is_filled = start <= piece && piece + HEARTH_HUGE_PAGE_BYTES <= end;
    if (is_huge[i] || (!is_filled && !is_dense(piece)))
      continue;
    madvise(piece, HEARTH_HUGE_PAGE_BYTES, MADV_HUGEPAGE);
    if (!is_filled)
      madvise(piece, HEARTH_HUGE_PAGE_BYTES, MADV_COLLAPSE);
    is_huge[i] = true;
  }
  return true;
}

const struct hearth_region_backing hearth_hot_pages_backing = {.commit = commit};
