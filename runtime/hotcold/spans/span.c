/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Spans of a region: blocks of one size class, one bit each.
 *
 * A bit map instead of a list through the free blocks: the list would write to pages that hold nothing but cold data,
 * and the map gives the lowest free block first, which keeps spans dense. */
#include "fatal.h"
#include "page_run.h"
#include "region.h"

static uint64_t *bits_of(const struct hearth_region *region, uint32_t first) {
  return region->bits + (size_t)first * HEARTH_BIT_WORDS_PER_PAGE;
}

static void list_push(struct hearth_region *region, struct hearth_class_bin *bin, uint32_t first) {
  struct hearth_page *span = &region->page[first];
  span->prev = HEARTH_NO_PAGE;
  span->next = bin->spans;
  if (bin->spans != HEARTH_NO_PAGE)
    region->page[bin->spans].prev = first;
  bin->spans = first;
}

static void list_remove(struct hearth_region *region, struct hearth_class_bin *bin, uint32_t first) {
  struct hearth_page *span = &region->page[first];
  if (span->prev != HEARTH_NO_PAGE)
    region->page[span->prev].next = span->next;
  else
    bin->spans = span->next;
  if (span->next != HEARTH_NO_PAGE)
    region->page[span->next].prev = span->prev;
}

/* A new span for the class, or HEARTH_NO_PAGE. Its bits are zero: those of free page runs always are. */
static uint32_t span_create(struct hearth_region *region, unsigned size_class) {
  uint32_t pages = hearth_size_class_table[size_class].span_pages;
  bool clean;
  hearth_futex_lock_acquire(&region->page_run_lock);
  uint32_t first = hearth_page_run_take(region, pages, 1, &clean);
  if (first != HEARTH_NO_PAGE)
    for (uint32_t i = 0; i < pages; i++) {
      struct hearth_page *page = &region->page[first + i];
      page->first = first;
      page->state = HEARTH_PAGE_SPAN;
      page->size_class = (uint8_t)size_class;
    }
  hearth_futex_lock_release(&region->page_run_lock);
  if (first == HEARTH_NO_PAGE)
    return HEARTH_NO_PAGE;
  struct hearth_page *span = &region->page[first];
  span->pages = pages;
  span->used = span->first_word = 0;
  return first;
}

static void span_destroy(struct hearth_region *region, uint32_t first) {
  hearth_futex_lock_acquire(&region->page_run_lock);
  hearth_page_run_give(region, first, region->page[first].pages);
  hearth_futex_lock_release(&region->page_run_lock);
}

/* Up to `count` free blocks of one span, lowest first. */
static unsigned span_take(struct hearth_region *region, uint32_t first, void **ret_blocks, unsigned count) {
  struct hearth_page *span = &region->page[first];
  const struct hearth_size_class *sizes = &hearth_size_class_table[span->size_class];
  uint64_t *bits = bits_of(region, first);
  char *start = hearth_region_address(region, first);
  unsigned word = span->first_word, taken = 0;
  /* Bits past the last block are never reached: while used < blocks a lower bit is free. */
  while (taken < count && span->used < sizes->blocks) {
    uint64_t free_bits = ~bits[word];
    if (!free_bits) {
      word++;
      continue;
    }
    unsigned bit = (unsigned)__builtin_ctzll(free_bits);
    bits[word] |= UINT64_C(1) << bit;
    span->used++;
    ret_blocks[taken++] = start + (size_t)(word * 64 + bit) * sizes->bytes;
  }
  span->first_word = (uint16_t)word;
  return taken;
}

unsigned hearth_region_take(struct hearth_region *region, unsigned size_class, void **ret_blocks, unsigned count) {
  struct hearth_class_bin *bin = &region->bins[size_class];
  unsigned taken = 0;
  hearth_futex_lock_acquire(&bin->lock);
  while (taken < count) {
    uint32_t first = bin->spans;
    if (first == HEARTH_NO_PAGE) {
      first = span_create(region, size_class);
      if (first == HEARTH_NO_PAGE)
        break;
      list_push(region, bin, first);
    }
    taken += span_take(region, first, ret_blocks + taken, count - taken);
    if (region->page[first].used == hearth_size_class_table[size_class].blocks)
      list_remove(region, bin, first);
  }
  bin->blocks += taken;
  hearth_futex_lock_release(&bin->lock);
  return taken;
}

static void span_put(struct hearth_region *region, struct hearth_class_bin *bin, void *block) {
  size_t offset = (size_t)((char *)block - region->base);
  uint32_t first = region->page[offset >> HEARTH_PAGE_SHIFT].first;
  struct hearth_page *span = &region->page[first];
  const struct hearth_size_class *sizes = &hearth_size_class_table[span->size_class];
  offset -= (size_t)first << HEARTH_PAGE_SHIFT;
  unsigned index = (unsigned)(offset * sizes->reciprocal >> HEARTH_DIVIDE_SHIFT);
  uint64_t *word = bits_of(region, first) + index / 64, mask = UINT64_C(1) << (index % 64);
  if (!(*word & mask))
    hearth_hotcold_fatal("a block was freed twice", "");
  *word &= ~mask;
  if (index / 64 < span->first_word)
    span->first_word = (uint16_t)(index / 64);
  /* A span that was full has one free block now: fill it up before emptier ones, which may become empty meanwhile. */
  if (span->used-- == sizes->blocks)
    list_push(region, bin, first);
  bool is_kept = !region->limits.return_empty_spans && bin->spans == first && span->next == HEARTH_NO_PAGE;
  if (span->used == 0 && !is_kept) {
    list_remove(region, bin, first);
    span_destroy(region, first);
  }
}

void hearth_region_put(struct hearth_region *region, unsigned size_class, void *const *blocks, unsigned count) {
  struct hearth_class_bin *bin = &region->bins[size_class];
  hearth_futex_lock_acquire(&bin->lock);
  for (unsigned i = 0; i < count; i++)
    span_put(region, bin, blocks[i]);
  bin->blocks -= count;
  hearth_futex_lock_release(&bin->lock);
}
