/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs of pages: best fit by bins, coalesced at once, as blocks of this size are rare beside the work that is done
 * with them.
 *
 * A free run is dirty, which means that it is in memory, or clean: the next access of each page is a page fault.
 * Requests take dirty runs first. Dirty runs go back to the system when they are more than an eighth of the live
 * pages. A program that asks for them again soon after pays for that with page faults; then it may keep twice as
 * much each time, up to most_kept. But live and dirty pages and segments stay within the most that was in use at
 * once: so small and large blocks grow into the memory of dirty runs, and near that peak a block of clean pages
 * takes the place of unused slots of its thread. */
#include "heap_memory.h"

#include <string.h>

enum {
  BINS = 4 * 36,
  TRIED = 16, /* runs of the bin in which the request itself would wait */
  AREA_BYTES = HEARTH_SEGMENT_BYTES,
  ORDINARY_BYTES = 8 << 20, /* of areas, before they are huge pages */
  LIVE_SHARE = 8,
  PEAK_SHARE = 10,
  MOST_KEPT = 32 << 20,
  MOVED_BYTES = 1 << 20, /* blocks whose pages are moved, not copied */
};
static const size_t most_bytes = (size_t)1 << 47; /* of a block and of its alignment: there are no more addresses */

typedef enum run_state { INNER, LIVE, CLEAN, DIRTY } run_state; /* free runs are clean or dirty */

typedef struct area area;
typedef struct page {
  size_t pages; /* of the run; in its first and last entry */
  run_state state;
  area *area;                   /* from here on in the first entry alone */
  struct page *next, *previous; /* in the bin */
} page;

struct area {
  char *start;
  size_t pages;
  bool is_huge;
  page entry[]; /* one more than pages: a border that is never free */
};

hearth_lock hearth_large_lock;

/* Ordinary memory, and cold memory: areas of their own. */
typedef struct space {
  area **area; /* by address */
  size_t areas, room;
  struct bins {
    page *first[BINS];
    uint64_t filled[(BINS + 63) / 64];
  } clean, dirty;
  size_t area_pages, live, live_pages, dirty_pages;
  size_t segment_pages;  /* of the small blocks beside them */
  size_t most_pages;     /* that were live or in segments at once */
  size_t kept_pages;     /* that may stay whatever is live */
  size_t returned_pages; /* since the limit was last raised */
} space;
static space spaces[2];

static bool is_cold(const space *large) { return large == &spaces[1]; }
static space *space_of(const void *block) { return &spaces[hearth_is_cold(hearth_kind_of(block))]; }

/* Areas. */

static size_t area_behind(space *large, const char *address) { /* the first that begins behind the address */
  size_t low = 0, high = large->areas;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (large->area[middle]->start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Ends the program without the lock: a handler of SIGABRT may allocate. */
static _Noreturn void fail_on_area(const char *what, const void *block) {
  hearth_lock_give(&hearth_large_lock);
  hearth_fatal(what, block);
}

static page *first_page_of(space *large, const void *block) {
  size_t at = area_behind(large, block);
  if (at) {
    area *area = large->area[at - 1];
    size_t offset = (size_t)((const char *)block - area->start);
    if (offset % HEARTH_PAGE_BYTES == 0 && offset / HEARTH_PAGE_BYTES < area->pages) {
      page *first = &area->entry[offset / HEARTH_PAGE_BYTES];
      if (first->state == LIVE && first->area)
        return first;
      if (first->state != INNER && first->area)
        fail_on_area("double free, or realloc of a freed block: ", block);
    }
  }
  fail_on_area("free or realloc of a pointer that is no block's: ", block);
}

static char *address_of_area(const page *first) {
  return first->area->start + (size_t)(first - first->area->entry) * HEARTH_PAGE_BYTES;
}

/* Runs. */

static unsigned area_bin_of(size_t pages) {
  if (pages < 4)
    return (unsigned)pages;
  unsigned doubling = 63 - (unsigned)__builtin_clzll(pages);
  return 4 * (doubling - 1) + (unsigned)(pages >> (doubling - 2) & 3);
}

static void set_run(area *area, size_t at, size_t pages, run_state state) {
  page *first = &area->entry[at], *last = &area->entry[at + pages - 1];
  hearth_expect(pages > 0 && at + pages <= area->pages);
  last->pages = pages;
  last->state = state;
  if (last != first)
    last->area = NULL;
  first->pages = pages;
  first->state = state;
  first->area = area;
}

static void clear_run(page *first) {
  page *last = first + first->pages - 1;
  hearth_expect(first->area && last->pages == first->pages && last->state == first->state);
  last->state = INNER;
  first->state = INNER;
  first->area = NULL;
}

static struct bins *bins_of(space *large, run_state state) { return state == DIRTY ? &large->dirty : &large->clean; }

static void link_run(space *large, page *first) {
  struct bins *bins = bins_of(large, first->state);
  unsigned bin = area_bin_of(first->pages);
  hearth_expect(first->state == CLEAN || first->state == DIRTY);
  first->previous = NULL;
  first->next = bins->first[bin];
  if (first->next)
    first->next->previous = first;
  bins->first[bin] = first;
  bins->filled[bin / 64] |= (uint64_t)1 << bin % 64;
  if (first->state == DIRTY)
    large->dirty_pages += first->pages;
}

static page *set_free(space *large, area *area, size_t at, size_t pages, run_state state) {
  set_run(area, at, pages, state);
  link_run(large, &area->entry[at]);
  return &area->entry[at];
}

static void unlink_run(space *large, page *first) {
  struct bins *bins = bins_of(large, first->state);
  unsigned bin = area_bin_of(first->pages);
  *(first->previous ? &first->previous->next : &bins->first[bin]) = first->next;
  if (first->next)
    first->next->previous = first->previous;
  if (!bins->first[bin])
    bins->filled[bin / 64] &= ~((uint64_t)1 << bin % 64);
  hearth_expect(first->state != DIRTY || large->dirty_pages >= first->pages);
  if (first->state == DIRTY)
    large->dirty_pages -= first->pages;
}

static bool is_free(const page *entry) { return entry->state == CLEAN || entry->state == DIRTY; }

/* A run becomes free, with the free ones before and behind it. Returns the whole. */
static page *add_free(space *large, area *area, size_t at, size_t pages, run_state state) {
  page *behind = &area->entry[at + pages];
  if (is_free(behind)) {
    unlink_run(large, behind);
    state = state == DIRTY ? DIRTY : behind->state;
    pages += behind->pages;
    clear_run(behind);
  }
  if (at && is_free(&area->entry[at - 1])) {
    page *before = &area->entry[at - area->entry[at - 1].pages];
    unlink_run(large, before);
    state = state == DIRTY ? DIRTY : before->state;
    at -= before->pages;
    pages += before->pages;
    clear_run(before);
  }
  return set_free(large, area, at, pages, state);
}

static bool add_area_entry(space *large, area *added) {
  area **array = hearth_array_grow(large->area, large->areas, &large->room, sizeof *array);
  if (!array)
    return false;
  large->area = array;
  size_t at = area_behind(large, added->start);
  memmove(large->area + at + 1, large->area + at, (large->areas - at) * sizeof *large->area);
  large->area[at] = added;
  large->areas++;
  large->area_pages += added->pages;
  return true;
}

static size_t head_bytes(size_t pages) {
  size_t bytes = sizeof(area) + (pages + 1) * sizeof(page);
  return (bytes + HEARTH_PAGE_BYTES - 1) & -(size_t)HEARTH_PAGE_BYTES;
}

static void release_area(space *large, area *old) {
  size_t bytes = old->pages * HEARTH_PAGE_BYTES;
  hearth_kind_set(old->start, bytes, HEARTH_KIND_NONE);
  hearth_memory_release(is_cold(large), old->start, bytes);
  hearth_system_release(old, head_bytes(old->pages));
}

/* The area's one run, which begins as aligned as is asked for. NULL: no memory. */
static page *make_area(space *large, size_t bytes, size_t alignment) {
  alignment = alignment > AREA_BYTES ? alignment : AREA_BYTES;
  char *start = hearth_system_reserve(bytes, alignment);
  if (!start)
    return NULL;
  size_t pages = bytes / HEARTH_PAGE_BYTES;
  area *made = hearth_system_reserve(head_bytes(pages), HEARTH_PAGE_BYTES);
  if (!made || !hearth_system_open(made, head_bytes(pages))) {
    hearth_system_release(start, bytes);
    return NULL;
  }
  *made = (area){.start = start, .pages = pages, .is_huge = large->area_pages >= ORDINARY_BYTES / HEARTH_PAGE_BYTES};
  if (!hearth_memory_open(is_cold(large), start, bytes) ||
      !hearth_kind_set(start, bytes, is_cold(large) ? HEARTH_KIND_LARGE_COLD : HEARTH_KIND_LARGE) ||
      !add_area_entry(large, made)) {
    release_area(large, made);
    return NULL;
  }
  if (made->is_huge)
    hearth_system_make_huge(start, bytes);
  made->entry[pages].state = LIVE;
  return add_free(large, made, 0, pages, CLEAN);
}

/* At least for the request, and an eighth of all areas, but room for whole requests; less where the system has no more. */
static page *grow(space *large, size_t pages, size_t alignment) {
  size_t least = pages * HEARTH_PAGE_BYTES, bytes = large->area_pages * HEARTH_PAGE_BYTES / 8;
  least = (least + AREA_BYTES - 1) & -(size_t)AREA_BYTES;
  page *run = NULL;
  for (bytes = bytes / least * least; !run && bytes > least; bytes = bytes / least / 2 * least)
    run = make_area(large, bytes, alignment);
  return run ? run : make_area(large, least, alignment);
}

static page *find_free(const struct bins *bins, size_t pages) {
  unsigned bin = area_bin_of(pages);
  page *run = bins->first[bin];
  for (unsigned tried = 0; run && tried < TRIED; tried++, run = run->next)
    if (run->pages >= pages)
      return run;
  for (bin++; bin < BINS; bin = (bin | 63) + 1) {
    uint64_t filled = bins->filled[bin / 64] >> bin % 64;
    if (filled)
      return bins->first[bin + (unsigned)__builtin_ctzll(filled)];
  }
  return NULL;
}

/* Giving back. */

static size_t min(size_t one, size_t other) { return one < other ? one : other; }
static size_t max(size_t one, size_t other) { return one > other ? one : other; }

static size_t used_pages(const space *large) { return large->live_pages + large->segment_pages; }

static void note_peak(space *large) { large->most_pages = max(large->most_pages, used_pages(large)); }

/* A heap that never was larger than what may stay anyway does not save memory: going back and forth would cost it more. */
static bool has_small_peak(const space *large) { return large->most_pages <= MOST_KEPT / HEARTH_PAGE_BYTES; }

static size_t most_kept(const space *large) {
  return max(max(large->live_pages / 2, large->most_pages / PEAK_SHARE), MOST_KEPT / HEARTH_PAGE_BYTES);
}

/* No dirty run serves a request. */
static void count_miss(space *large, size_t pages) {
  if (large->returned_pages < pages)
    return;
  large->kept_pages = min(2 * max(large->kept_pages, pages), most_kept(large));
  large->returned_pages = 0;
}

static void return_run(space *large, page *run) {
  large->returned_pages += run->pages;
  unlink_run(large, run);
  run->state = run[run->pages - 1].state = CLEAN;
  area *area = run->area;
  if (run->pages == area->pages) {
    size_t at = area_behind(large, area->start) - 1;
    memmove(large->area + at, large->area + at + 1, (large->areas - at - 1) * sizeof *large->area);
    large->areas--;
    large->area_pages -= area->pages;
    release_area(large, area);
    return;
  }
  hearth_memory_discard(is_cold(large), address_of_area(run), run->pages * HEARTH_PAGE_BYTES);
  link_run(large, run);
}

/* The largest ones first, until at most so many pages are dirty. */
static void return_runs(space *large, size_t most_dirty) {
  for (unsigned bin = BINS; bin-- > 0 && large->dirty_pages > most_dirty;)
    for (page *run; (run = large->dirty.first[bin]) && large->dirty_pages > most_dirty;)
      return_run(large, run);
}

static void return_too_many(space *large) {
  size_t most = large->live_pages / LIVE_SHARE + min(large->kept_pages, most_kept(large));
  if (large->dirty_pages > most)
    return_runs(large, most / 2);
  if (!has_small_peak(large))
    return_runs(large, large->most_pages - used_pages(large));
}

void hearth_large_count_segments(bool is_cold, int change) {
  space *large = &spaces[is_cold];
  hearth_lock_take(&hearth_large_lock);
  large->segment_pages += (size_t)(ptrdiff_t)change * (HEARTH_SEGMENT_BYTES / HEARTH_PAGE_BYTES);
  note_peak(large);
  return_too_many(large);
  hearth_lock_give(&hearth_large_lock);
}

/* Blocks. */

static size_t pages_for(size_t bytes) { return (bytes + !bytes + HEARTH_PAGE_BYTES - 1) / HEARTH_PAGE_BYTES; }

/* Takes [at, at + pages) out of a free run; the rest stays free. Returns the state that the run had. */
static run_state cut(space *large, page *run, size_t skipped, size_t pages) {
  area *area = run->area;
  size_t start = (size_t)(run - area->entry), whole = run->pages;
  run_state state = run->state;
  unlink_run(large, run);
  clear_run(run);
  set_run(area, start + skipped, pages, LIVE);
  if (skipped)
    set_free(large, area, start, skipped, state);
  size_t rest = whole - skipped - pages;
  if (rest)
    set_free(large, area, start + skipped + pages, rest, state);
  return state;
}

static void count_live(space *large, size_t pages, bool is_new) {
  large->live += is_new;
  large->live_pages += pages;
  note_peak(large);
}

void *hearth_large_alloc(bool is_cold, size_t bytes, size_t alignment, bool *ret_zero) {
  space *large = &spaces[is_cold];
  if (bytes > most_bytes || alignment > most_bytes)
    return NULL;
  size_t pages = pages_for(bytes), unaligned = alignment > HEARTH_PAGE_BYTES ? alignment / HEARTH_PAGE_BYTES - 1 : 0;
  char *block = NULL;
  bool is_near_peak = false;
  hearth_lock_take(&hearth_large_lock);
  page *run = find_free(&large->dirty, pages + unaligned);
  if (!run) {
    count_miss(large, pages);
    run = find_free(&large->clean, pages + unaligned);
  }
  if (!run)
    run = grow(large, pages, alignment);
  if (run) {
    char *start = address_of_area(run);
    block = (char *)(((uintptr_t)start + alignment - 1) & -alignment);
    *ret_zero = cut(large, run, (size_t)(block - start) / HEARTH_PAGE_BYTES, pages) == CLEAN;
    size_t peak = large->most_pages;
    count_live(large, pages, true);
    is_near_peak = !has_small_peak(large) &&
                   (large->most_pages > peak || (*ret_zero && used_pages(large) >= peak - peak / PEAK_SHARE));
    if (*ret_zero)
      return_too_many(large);
  }
  hearth_lock_give(&hearth_large_lock);
  if (is_near_peak && !is_cold && hearth_main_pool->heap)
    hearth_pool_discard_slots(hearth_main_pool, pages * HEARTH_PAGE_BYTES / HEARTH_SLOT_BYTES + 1);
  return block;
}

void hearth_large_free(void *block) {
  space *large = space_of(block);
  hearth_lock_take(&hearth_large_lock);
  page *first = first_page_of(large, block);
  area *area = first->area;
  size_t at = (size_t)(first - area->entry), pages = first->pages;
  clear_run(first);
  large->live--;
  large->live_pages -= pages;
  add_free(large, area, at, pages, DIRTY);
  return_too_many(large);
  hearth_lock_give(&hearth_large_lock);
}

size_t hearth_large_usable(const void *block) {
  space *large = space_of(block);
  hearth_lock_take(&hearth_large_lock);
  size_t bytes = first_page_of(large, block)->pages * HEARTH_PAGE_BYTES;
  hearth_lock_give(&hearth_large_lock);
  return bytes;
}

/* The run's end moves, if what is behind it is free. */
static bool resize_in_place(space *large, page *first, size_t pages) {
  area *area = first->area;
  size_t at = (size_t)(first - area->entry), old = first->pages;
  if (pages > old) {
    page *behind = &area->entry[at + old];
    if (!is_free(behind) || behind->pages < pages - old)
      return false;
    run_state state = cut(large, behind, 0, pages - old);
    clear_run(behind);
    count_live(large, pages - old, false);
    if (state == CLEAN)
      return_too_many(large);
  }
  clear_run(first);
  set_run(area, at, pages, LIVE);
  if (pages < old) {
    large->live_pages -= old - pages;
    add_free(large, area, at + pages, old - pages, DIRTY);
    return_too_many(large);
  }
  return true;
}

void *hearth_large_resize(void *block, size_t bytes) {
  space *large = space_of(block);
  if (bytes > most_bytes)
    return NULL;
  hearth_lock_take(&hearth_large_lock);
  page *first = first_page_of(large, block);
  size_t old = first->pages, pages = pages_for(bytes);
  bool is_huge = first->area->is_huge, is_resized = pages == old || resize_in_place(large, first, pages);
  hearth_lock_give(&hearth_large_lock);
  if (is_resized)
    return block;
  bool is_zero;
  void *moved = hearth_large_alloc(is_cold(large), bytes, 1, &is_zero);
  if (!moved)
    return NULL;
  size_t kept = (old < pages ? old : pages) * HEARTH_PAGE_BYTES;
  if (kept < MOVED_BYTES || is_cold(large) || !hearth_system_move(block, moved, kept))
    memcpy(moved, block, kept);
  else if (is_huge)
    hearth_system_make_huge(block, kept);
  hearth_large_free(block);
  return moved;
}

void hearth_large_count(bool is_cold, hearth_large_stats *sum) {
  const space *large = &spaces[is_cold];
  hearth_lock_take(&hearth_large_lock);
  sum->area_bytes += large->area_pages * HEARTH_PAGE_BYTES;
  sum->live += large->live;
  sum->live_bytes += large->live_pages * HEARTH_PAGE_BYTES;
  sum->dirty_bytes += large->dirty_pages * HEARTH_PAGE_BYTES;
  hearth_lock_give(&hearth_large_lock);
}

const size_t *hearth_large_live(bool is_cold) { return &spaces[is_cold].live; }

bool hearth_large_trim(void) {
  hearth_lock_take(&hearth_large_lock);
  bool any = spaces[0].dirty_pages || spaces[1].dirty_pages;
  return_runs(&spaces[0], 0);
  return_runs(&spaces[1], 0);
  hearth_lock_give(&hearth_large_lock);
  return any;
}
