/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Best fit over bins of free page runs, clean and dirty ones apart; a bit per bin tells which are not empty. */
#define _GNU_SOURCE
#include "page_run.h"

#include "coarse_clock.h"

#include <errno.h>
#include <sys/mman.h>

enum {
  /* A block that grows gets room for so many times its size, up to this share of the pages that were never used. */
  ROOM_FACTOR = 15,
  ROOM_SHARE = 16,
  /* A look at a run takes up to 0.3 us: so it takes a tenth of the time at most, however many there are. */
  LOOKS_A_MS = 256,
};

static unsigned bin_of(uint32_t pages) {
  if (pages <= HEARTH_PAGE_RUN_EXACT_BINS)
    return pages - 1;
  return HEARTH_PAGE_RUN_EXACT_BINS + (31 - (unsigned)__builtin_clz(pages)) - 6;
}

/* The first bin at or above `bin` that holds a run, or HEARTH_PAGE_RUN_BINS. */
static unsigned filled_bin(const struct hearth_page_run_list *list, unsigned bin) {
  for (unsigned word = bin / 64; word < 2; word++) {
    uint64_t filled = list->filled[word];
    if (word == bin / 64)
      filled &= ~UINT64_C(0) << (bin % 64);
    if (filled)
      return word * 64 + (unsigned)__builtin_ctzll(filled);
  }
  return HEARTH_PAGE_RUN_BINS;
}

static bool is_free(const struct hearth_page *page) {
  return page->state == HEARTH_PAGE_CLEAN || page->state == HEARTH_PAGE_DIRTY;
}

static struct hearth_page_run_list *list_of(struct hearth_region *region, uint8_t state) {
  return state == HEARTH_PAGE_CLEAN ? &region->clean : &region->dirty;
}

static void count_free(struct hearth_region *region, uint8_t state, int64_t pages) {
  if (state == HEARTH_PAGE_CLEAN)
    region->clean_pages += (uint64_t)pages;
  else
    region->dirty_pages += (uint32_t)pages;
}

void hearth_page_run_set(struct hearth_region *region, uint32_t first, uint32_t pages, uint8_t state) {
  struct hearth_page *head = &region->page[first], *tail = &region->page[first + pages - 1];
  tail->first = head->first = first;
  tail->pages = head->pages = pages;
  tail->state = head->state = state;
}

/* Write the entries of a free run and put it into its bin. */
static void link_run(struct hearth_region *region, uint32_t first, uint32_t pages, uint8_t state) {
  struct hearth_page_run_list *list = list_of(region, state);
  unsigned bin = bin_of(pages);
  struct hearth_page *head = &region->page[first];
  hearth_page_run_set(region, first, pages, state);
  head->prev = HEARTH_NO_PAGE;
  head->next = list->bins[bin];
  if (head->next != HEARTH_NO_PAGE)
    region->page[head->next].prev = first;
  list->bins[bin] = first;
  list->filled[bin / 64] |= UINT64_C(1) << (bin % 64);
  count_free(region, state, pages);
}

static void unlink_run(struct hearth_region *region, uint32_t first) {
  struct hearth_page *head = &region->page[first];
  struct hearth_page_run_list *list = list_of(region, head->state);
  unsigned bin = bin_of(head->pages);
  if (head->prev != HEARTH_NO_PAGE)
    region->page[head->prev].next = head->next;
  else
    list->bins[bin] = head->next;
  if (head->next != HEARTH_NO_PAGE)
    region->page[head->next].prev = head->prev;
  if (list->bins[bin] == HEARTH_NO_PAGE)
    list->filled[bin / 64] &= ~(UINT64_C(1) << (bin % 64));
  count_free(region, head->state, -(int64_t)head->pages);
}

/* Put a free run into its list, joined with free neighbours of the same state. Runs of different states stay apart:
 * one entry could not say which part of them is clean. */
static void insert_joined(struct hearth_region *region, uint32_t first, uint32_t pages, uint8_t state) {
  if (first > 0 && region->page[first - 1].state == state) {
    uint32_t left = region->page[first - 1].first;
    unlink_run(region, left);
    pages += first - left;
    first = left;
  }
  uint32_t right = first + pages;
  if (right < region->pages && region->page[right].state == state) {
    unlink_run(region, right);
    pages += region->page[right].pages;
  }
  link_run(region, first, pages, state);
}

/* Dirty pages that may stay: a 16th of those in use, within the limits. */
static uint32_t kept_pages(const struct hearth_region *region) {
  uint64_t share = (region->pages - region->clean_pages - region->dirty_pages) / 16;
  if (share < region->limits.least_keep_pages)
    share = region->limits.least_keep_pages;
  return share < region->limits.keep_pages ? (uint32_t)share : region->limits.keep_pages;
}

void hearth_page_run_init(struct hearth_region *region) {
  for (unsigned bin = 0; bin < HEARTH_PAGE_RUN_BINS; bin++)
    region->clean.bins[bin] = region->dirty.bins[bin] = HEARTH_NO_PAGE;
  region->release_at = region->limits.least_keep_pages;
  region->next_release_ms = hearth_coarse_ms() + region->limits.keep_ms;
  link_run(region, 0, region->pages, HEARTH_PAGE_CLEAN);
}

/* Cut `pages` pages at `first` out of the free run that begins at `run`; the rest on either side stays free. */
static void carve(struct hearth_region *region, uint32_t run, uint32_t first, uint32_t pages) {
  uint32_t run_end = run + region->page[run].pages;
  uint8_t state = region->page[run].state;
  unlink_run(region, run);
  if (first > run)
    link_run(region, run, first - run, state);
  if (run_end > first + pages)
    link_run(region, first + pages, run_end - (first + pages), state);
  uint32_t keep = kept_pages(region);
  if (state == HEARTH_PAGE_DIRTY && region->release_at > region->dirty_pages + keep)
    region->release_at = region->dirty_pages + keep;
}

/* Whether pages of the free run that begins at `run` can be handed out. */
static bool commit(struct hearth_region *region, uint32_t run, uint32_t first, uint32_t pages) {
  if (region->page[run].state == HEARTH_PAGE_DIRTY || !region->backing.commit)
    return true;
  uint32_t run_end = run + region->page[run].pages;
  int saved_errno = errno;
  bool committed = region->backing.commit(hearth_region_address(region, first), (size_t)pages << HEARTH_PAGE_SHIFT,
                                          (size_t)(run_end - first) << HEARTH_PAGE_SHIFT);
  errno = saved_errno;
  return committed;
}

static uint32_t align_up(const struct hearth_region *region, uint32_t page, uint32_t align_pages) {
  uintptr_t base_page = (uintptr_t)region->base >> HEARTH_PAGE_SHIFT;
  uintptr_t aligned = (base_page + page + align_pages - 1) & ~(uintptr_t)(align_pages - 1);
  return (uint32_t)(aligned - base_page);
}

static uint32_t align_down(const struct hearth_region *region, uint32_t page, uint32_t align_pages) {
  uint32_t over = (uint32_t)((((uintptr_t)region->base >> HEARTH_PAGE_SHIFT) + page) & (align_pages - 1));
  return page > over ? page - over : 0;
}

/* Whether the run has room for `pages` pages aligned to `align_pages`. */
static bool holds(const struct hearth_region *region, uint32_t run, uint32_t pages, uint32_t align_pages) {
  uint32_t before = align_up(region, run, align_pages) - run;
  return region->page[run].pages >= before && region->page[run].pages - before >= pages;
}

/* The smallest run of a bin that holds the pages, or HEARTH_NO_PAGE. A bin of one doubling is searched to its end: these
 * runs exceed 256 KiB, so there are few, and taking a larger one would break up the best ones. In an exact bin all are
 * alike; where some are too short for the alignment, the first ones are looked at. */
static uint32_t best_of_bin(const struct hearth_region *region, unsigned bin, uint32_t run, uint32_t pages,
                            uint32_t align_pages) {
  enum { LOOKS = 16 };
  uint32_t best = HEARTH_NO_PAGE;
  bool is_exact = bin < HEARTH_PAGE_RUN_EXACT_BINS;
  for (unsigned looks = 0; run != HEARTH_NO_PAGE && (!is_exact || looks < LOOKS);
       run = region->page[run].next, looks++) {
    if (!holds(region, run, pages, align_pages))
      continue;
    if (is_exact)
      return run;
    if (best == HEARTH_NO_PAGE || region->page[run].pages < region->page[best].pages)
      best = run;
  }
  return best;
}

static uint32_t best_fit(const struct hearth_region *region, const struct hearth_page_run_list *list, uint32_t pages,
                         uint32_t align_pages) {
  for (unsigned bin = filled_bin(list, bin_of(pages)); bin < HEARTH_PAGE_RUN_BINS; bin = filled_bin(list, bin + 1)) {
    uint32_t run = best_of_bin(region, bin, list->bins[bin], pages, align_pages);
    if (run != HEARTH_NO_PAGE)
      return run;
  }
  return HEARTH_NO_PAGE;
}

/* Make [first, first + pages) of a dirty run clean. False if the system refused (locked memory). */
static bool release_run(struct hearth_region *region, uint32_t run, uint32_t first, uint32_t pages) {
  char *start = hearth_region_address(region, first);
  size_t bytes = (size_t)pages << HEARTH_PAGE_SHIFT;
  int saved_errno = errno;
  bool released =
      region->backing.release ? region->backing.release(start, bytes) : !madvise(start, bytes, MADV_DONTNEED);
  errno = saved_errno;
  if (!released)
    return false;
  carve(region, run, first, pages);
  insert_joined(region, first, pages, HEARTH_PAGE_CLEAN);
  return true;
}

/* Give the part of some dirty run back that consists of whole pieces, at most `most` pages. Larger runs first: fewer system
 * calls. */
static bool release_some(struct hearth_region *region, uint32_t piece, uint32_t most) {
  for (unsigned bin = HEARTH_PAGE_RUN_BINS; bin-- > bin_of(piece);)
    for (uint32_t run = region->dirty.bins[bin]; run != HEARTH_NO_PAGE; run = region->page[run].next) {
      uint32_t first = align_up(region, run, piece);
      uint32_t end = run + region->page[run].pages;
      if (end < first + piece)
        continue;
      uint32_t whole = (end - first < most ? end - first : most) / piece * piece;
      return release_run(region, run, first, whole);
    }
  return false;
}

static bool is_clean(const struct hearth_region *region, uint32_t page) {
  return page < region->pages && region->page[page].state == HEARTH_PAGE_CLEAN;
}

/* Give back whole pieces, and the dirty pages of pieces that are partly clean, which have no huge page left to break up: otherwise the
 * rests of runs would become more for as long as the program runs. One pass, from the largest runs on, until so many dirty pages are
 * left. Returns how many runs it looked at. */
static uint32_t release_down_to(struct hearth_region *region, uint32_t piece, uint32_t keep) {
  uint32_t looks = 0;
  for (unsigned bin = HEARTH_PAGE_RUN_BINS; bin-- > 0;)
    for (uint32_t run = region->dirty.bins[bin], next; run != HEARTH_NO_PAGE; run = next, looks++) {
      uint32_t behind = run + region->page[run].pages;
      uint32_t first = run > 0 && is_clean(region, run - 1) ? run : align_up(region, run, piece);
      uint32_t end = is_clean(region, behind) ? behind : align_down(region, behind, piece);
      next = region->page[run].next;
      if (region->dirty_pages <= keep)
        return looks;
      if (first < end)
        release_run(region, run, first, end - first);
    }
  return looks;
}

/* Release down to half of the bytes that may be kept, so that the next free does not start over. When too little can be
 * given back (the dirty runs are smaller than a release piece), wait for as much again before trying again. Returns as above. */
static uint32_t release_excess(struct hearth_region *region) {
  uint32_t keep = kept_pages(region), half = keep / 2;
  while (region->dirty_pages > half && release_some(region, region->limits.release_pages, UINT32_MAX))
    ;
  uint32_t looks = release_down_to(region, region->limits.small_release_pages, keep);
  uint32_t next = region->dirty_pages + half;
  region->release_at = next > keep ? next : keep;
  return looks;
}

/* Programs that free and allocate in turn take the same memory again: giving it back meanwhile would break up huge pages, and
 * cost faults. */
static void release_aged(struct hearth_region *region) {
  uint64_t now = hearth_coarse_ms();
  if (now < region->next_release_ms) {
    region->release_at = region->dirty_pages + kept_pages(region);
    return;
  }
  uint32_t looks = release_excess(region);
  region->next_release_ms = now + region->limits.keep_ms + looks / LOOKS_A_MS;
}

void hearth_page_run_release_for(struct hearth_region *region, uint32_t pages) {
  uint32_t keep = region->limits.least_keep_pages;
  uint64_t owed = (uint64_t)region->owed_pages + pages, most = region->dirty_pages;
  region->owed_pages = (uint32_t)(most <= keep ? 0 : owed < most ? owed : most);
  const uint32_t pieces[] = {region->limits.release_pages, region->limits.small_release_pages};
  for (unsigned i = 0; i < 2; i++)
    while (region->owed_pages >= pieces[i] && region->dirty_pages > keep) {
      uint32_t before = region->dirty_pages;
      if (!release_some(region, pieces[i], region->owed_pages))
        break;
      region->owed_pages -= before - region->dirty_pages;
    }
}

uint32_t hearth_page_run_take(struct hearth_region *region, uint32_t pages, uint32_t align_pages, bool *ret_clean) {
  if (pages > region->pages || align_pages > region->pages)
    return HEARTH_NO_PAGE;
  uint32_t run = best_fit(region, &region->dirty, pages, align_pages);
  if (run == HEARTH_NO_PAGE)
    run = best_fit(region, &region->clean, pages, align_pages);
  if (run == HEARTH_NO_PAGE) {
    /* Room may be cut up by the border between dirty and clean runs only. */
    while (release_some(region, region->limits.release_pages, UINT32_MAX))
      ;
    run = best_fit(region, &region->clean, pages, align_pages);
  }
  if (run == HEARTH_NO_PAGE)
    return HEARTH_NO_PAGE;
  *ret_clean = region->page[run].state == HEARTH_PAGE_CLEAN;
  uint32_t first = align_up(region, run, align_pages);
  if (!commit(region, run, first, pages))
    return HEARTH_NO_PAGE;
  carve(region, run, first, pages);
  return first;
}

uint32_t hearth_page_run_take_dirty(struct hearth_region *region, uint32_t pages, uint32_t align_pages) {
  uint32_t run = best_fit(region, &region->dirty, pages, align_pages);
  if (run == HEARTH_NO_PAGE)
    return HEARTH_NO_PAGE;
  uint32_t first = align_up(region, run, align_pages);
  carve(region, run, first, pages);
  return first;
}

void hearth_page_run_give(struct hearth_region *region, uint32_t first, uint32_t pages) {
  /* Joined to the run before it, the entry would go on saying that a block begins here. */
  region->page[first].state = HEARTH_PAGE_DIRTY;
  insert_joined(region, first, pages, HEARTH_PAGE_DIRTY);
  if (region->dirty_pages > region->release_at)
    release_aged(region);
}

uint32_t hearth_page_run_take_with_room(struct hearth_region *region, uint32_t pages) {
  uint64_t room = (uint64_t)pages * ROOM_FACTOR, most = region->clean_pages / ROOM_SHARE;
  if (room > most)
    return HEARTH_NO_PAGE;
  uint32_t all = pages + (uint32_t)room, align_pages = region->limits.release_pages;
  uint32_t run = best_fit(region, &region->clean, all, align_pages);
  if (run == HEARTH_NO_PAGE)
    return HEARTH_NO_PAGE;
  uint32_t first = align_up(region, run, align_pages);
  if (!commit(region, run, first, pages))
    return HEARTH_NO_PAGE;
  carve(region, run, first, all);
  hearth_page_run_set(region, first + pages, (uint32_t)room, HEARTH_PAGE_ROOM);
  region->clean_pages += room;
  return first;
}

void hearth_page_run_give_room(struct hearth_region *region, uint32_t first) {
  if (first >= region->pages || region->page[first].state != HEARTH_PAGE_ROOM)
    return;
  uint32_t pages = region->page[first].pages;
  region->clean_pages -= pages;
  insert_joined(region, first, pages, HEARTH_PAGE_CLEAN);
}

/* The pages' commit sees all that is free behind them. */
static bool take_room(struct hearth_region *region, uint32_t first, uint32_t pages) {
  uint32_t room = region->page[first].pages;
  if (room < pages || !commit(region, first, first, pages))
    return false;
  if (pages < room)
    hearth_page_run_set(region, first + pages, room - pages, HEARTH_PAGE_ROOM);
  region->clean_pages -= pages;
  return true;
}

bool hearth_page_run_take_at(struct hearth_region *region, uint32_t first, uint32_t pages, bool *ret_clean) {
  *ret_clean = true;
  if (first < region->pages && region->page[first].state == HEARTH_PAGE_ROOM)
    return take_room(region, first, pages);
  if (first >= region->pages || !is_free(&region->page[first]) || region->page[first].pages < pages ||
      !commit(region, first, first, pages))
    return false;
  *ret_clean = region->page[first].state == HEARTH_PAGE_CLEAN;
  carve(region, first, first, pages);
  return true;
}
