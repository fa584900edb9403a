/* The consistency check of a region, for tests: walks all runs from page to page and compares with lists and counts. */
#include "region_check.h"

struct totals {
  uint64_t clean_pages, dirty_pages, free_runs;
  struct hearth_hotcold_large_counts large[HEARTH_POOLS];
};

static bool run_is_valid(const struct hearth_region *region, uint32_t first, struct totals *totals) {
  const struct hearth_page *head = &region->page[first];
  if (head->first != first || !head->pages || head->pages > region->pages - first)
    return false;
  const struct hearth_page *tail = &region->page[first + head->pages - 1];
  if (tail->first != first || tail->state != head->state)
    return false;
  switch (head->state) {
  case HEARTH_PAGE_PARCEL:
    return tail->pages == head->pages;
  case HEARTH_PAGE_LARGE:
    if (head->pool >= HEARTH_POOLS)
      return false;
    totals->large[head->pool].blocks++;
    totals->large[head->pool].pages += head->pages;
    return tail->pages == head->pages;
  case HEARTH_PAGE_ROOM:
    totals->clean_pages += head->pages;
    return tail->pages == head->pages && first > 0 && region->page[first - 1].state == HEARTH_PAGE_LARGE;
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
  return tail->pages == head->pages && (first == 0 || region->page[first - 1].state != head->state);
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
  for (unsigned i = 0; i < HEARTH_POOLS; i++)
    if (totals.large[i].blocks != region->large[i].blocks || totals.large[i].pages != region->large[i].pages)
      return false;
  return totals.clean_pages == region->clean_pages && totals.dirty_pages == region->dirty_pages &&
         totals.free_runs == runs_in_list(region, &region->clean) + runs_in_list(region, &region->dirty);
}

bool hearth_region_is_valid(struct hearth_region *region) {
  hearth_futex_lock_acquire(&region->page_run_lock);
  bool is_valid = is_valid_locked(region);
  hearth_futex_lock_release(&region->page_run_lock);
  return is_valid;
}
