/* The consistency check of a region, for tests: walks all runs from page to page and compares with lists and counts. */
#include "region_check.h"

struct totals {
  uint64_t clean_pages, dirty_pages, large_pages, large_blocks;
  uint64_t blocks[HEARTH_SIZE_CLASSES];
  uint64_t open_spans[HEARTH_SIZE_CLASSES]; /* those with a free block */
  uint64_t free_runs;
};

static unsigned bits_set(const struct hearth_region *region, uint32_t first, uint32_t pages) {
  unsigned set = 0;
  for (size_t i = 0; i < (size_t)pages * HEARTH_BIT_WORDS_PER_PAGE; i++)
    set += (unsigned)__builtin_popcountll(region->bits[(size_t)first * HEARTH_BIT_WORDS_PER_PAGE + i]);
  return set;
}

static bool span_is_valid(const struct hearth_region *region, uint32_t first, struct totals *totals) {
  const struct hearth_page *span = &region->page[first];
  if (span->size_class >= HEARTH_SIZE_CLASSES)
    return false;
  const struct hearth_size_class *sizes = &hearth_size_class_table[span->size_class];
  totals->blocks[span->size_class] += span->used;
  totals->open_spans[span->size_class] += span->used < sizes->blocks;
  for (uint32_t i = 0; i < span->pages; i++) {
    const struct hearth_page *page = &region->page[first + i];
    if (page->first != first || page->state != HEARTH_PAGE_SPAN || page->size_class != span->size_class)
      return false;
  }
  return span->pages == sizes->span_pages && span->used <= sizes->blocks &&
         span->used == bits_set(region, first, span->pages);
}

static bool run_is_valid(const struct hearth_region *region, uint32_t first, struct totals *totals) {
  const struct hearth_page *head = &region->page[first];
  if (head->first != first || !head->pages || head->pages > region->pages - first)
    return false;
  const struct hearth_page *tail = &region->page[first + head->pages - 1];
  if (tail->first != first || tail->state != head->state)
    return false;
  switch (head->state) {
  case HEARTH_PAGE_SPAN:
    return span_is_valid(region, first, totals);
  case HEARTH_PAGE_LARGE:
    totals->large_blocks++;
    totals->large_pages += head->pages;
    return tail->pages == head->pages;
  case HEARTH_PAGE_CLEAN:
    totals->clean_pages += head->pages;
    break;
  case HEARTH_PAGE_DIRTY:
    totals->dirty_pages += head->pages;
    break;
  default:
    return false;
  }
  totals->free_runs++;
  return tail->pages == head->pages && !bits_set(region, first, head->pages) &&
         (first == 0 || region->page[first - 1].state != head->state);
}

static uint64_t list_length(const struct hearth_region *region, uint32_t head) {
  uint64_t length = 0;
  for (uint32_t prev = HEARTH_NO_PAGE; head != HEARTH_NO_PAGE; prev = head, head = region->page[head].next, length++)
    if (region->page[head].prev != prev || region->page[head].first != head)
      return UINT64_MAX;
  return length;
}

static uint64_t runs_in_list(const struct hearth_region *region, const struct hearth_page_run_list *list) {
  uint64_t runs = 0;
  for (unsigned bin = 0; bin < HEARTH_PAGE_RUN_BINS; bin++) {
    bool is_marked = list->filled[bin / 64] >> (bin % 64) & 1;
    if (is_marked != (list->bins[bin] != HEARTH_NO_PAGE))
      return UINT64_MAX;
    runs += list_length(region, list->bins[bin]);
  }
  return runs;
}

static bool is_valid_locked(const struct hearth_region *region) {
  struct totals totals = {0};
  for (uint32_t page = 0; page < region->pages; page += region->page[page].pages)
    if (!run_is_valid(region, page, &totals))
      return false;
  for (unsigned i = 0; i < HEARTH_SIZE_CLASSES; i++)
    if (totals.blocks[i] != region->bins[i].blocks ||
        totals.open_spans[i] != list_length(region, region->bins[i].spans))
      return false;
  return totals.clean_pages == region->clean_pages && totals.dirty_pages == region->dirty_pages &&
         totals.large_pages == region->large_pages && totals.large_blocks == region->large_blocks &&
         totals.free_runs == runs_in_list(region, &region->clean) + runs_in_list(region, &region->dirty);
}

bool hearth_region_is_valid(struct hearth_region *region) {
  hearth_region_lock(region);
  bool is_valid = is_valid_locked(region);
  hearth_region_unlock(region);
  return is_valid;
}
