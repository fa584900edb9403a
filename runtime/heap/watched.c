/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Slots are in one table: the small ones, then those of each class of larger blocks; addresses follow from their
 * numbers. The more of the room is taken, the fewer blocks of the sample are watched, so that some is left for those
 * to come. */
#include "heap.h"

#include "os.h"
#include "running_profile.h"

#include "hearth/expect.h"

#define SMALL_STRIDE  ((HEARTH_WATCHED_SMALL_PAGES + 1) * HEARTH_PAGE_BYTES)
#define SMALL_AREA    (HEARTH_WATCHED_SMALL_SLOTS * SMALL_STRIDE)
#define LEAST_PAGES   256u   /* for small blocks: 1 MiB, or ... */
#define HEAP_PART     50u    /* this part of the heap, if that is more, ... */
#define MOST_PAGES    8192u  /* but no more */
#define MOST_LARGE    16384u /* pages of larger blocks: they take the memory that they would take anyway */
#define NOT_SAMPLED   4u /* without a sample, one in so many of the blocks that a thread's cache has no memory for */
#define BEFORE        (2 * sizeof(hearth_header)) /* bytes of a block's header and size */
#define LARGEST_CLASS (HEARTH_WATCHED_CLASSES - 1)

/* Low addresses are listed first, and programs rarely have anything there. */
static const uintptr_t bases[] = {UINT64_C(4) << 30, UINT64_C(64) << 30, UINT64_C(1) << 40};

hearth_lock hearth_watched_lock;

static struct {
  char *base; /* NULL: not created */
  size_t size;
  hearth_watched_slot *slots;
  bool on;
  uint32_t small_pages, large_pages;      /* resident at most; of larger blocks */
  uint32_t taken[HEARTH_WATCHED_CLASSES]; /* slots of each class */
  uint32_t turn;                          /* counts blocks that might be watched */
} watched;

static size_t class_pages(unsigned class) { return (size_t)2 << class; }
static size_t class_stride(unsigned class) { return (class_pages(class) + 1) * HEARTH_PAGE_BYTES; }

/* The areas of classes before this one. */
static size_t class_area(unsigned class) {
  size_t offset = SMALL_AREA;

  for (unsigned before = 0; before < class; ++before)
    offset += HEARTH_WATCHED_CLASS_SLOTS * class_stride(before);
  return offset;
}

static unsigned class_of_pages(size_t pages) {
  unsigned class = 0;

  while (class_pages(class) < pages)
    ++class;
  return class;
}

static hearth_watched_slot *class_slot(unsigned class, uint32_t number) {
  return &watched.slots[HEARTH_WATCHED_SMALL_SLOTS + class * HEARTH_WATCHED_CLASS_SLOTS + number];
}

bool hearth_watched_is_small(const hearth_watched_slot *slot) {
  return slot < watched.slots + HEARTH_WATCHED_SMALL_SLOTS;
}

static char *watched_address_of(const hearth_watched_slot *slot) {
  uint32_t number = (uint32_t)(slot - watched.slots);
  if (hearth_watched_is_small(slot))
    return watched.base + number * SMALL_STRIDE;
  number -= HEARTH_WATCHED_SMALL_SLOTS;
  unsigned class = number / HEARTH_WATCHED_CLASS_SLOTS;
  return watched.base + class_area(class) + number % HEARTH_WATCHED_CLASS_SLOTS * class_stride(class);
}

/* Is the first slot's place free? Whatever comes later is refused by itself. */
static bool can_begin_at(uintptr_t base) {
  void *page = hearth_system_map_at((void *)base, HEARTH_PAGE_BYTES);

  if (page)
    hearth_system_unmap(page, HEARTH_PAGE_BYTES);
  return page != NULL;
}

bool hearth_watched_create(void) {
  size_t table = HEARTH_WHOLE_PAGES(HEARTH_WATCHED_SLOTS * sizeof *watched.slots);
  unsigned i = 0;

  while (i < sizeof bases / sizeof bases[0] && !can_begin_at(bases[i]))
    ++i;
  if (i == sizeof bases / sizeof bases[0] || !(watched.slots = hearth_system_map(table)))
    return false;
  for (unsigned k = 0; k < HEARTH_WATCHED_SLOTS; ++k)
    watched.slots[k].context = HEARTH_NO_CONTEXT;
  watched.size = class_area(HEARTH_WATCHED_CLASSES);
  watched.base = (char *)bases[i];
  return true;
}

void hearth_watched_switch(bool on) { __atomic_store_n(&watched.on, on, __ATOMIC_RELEASE); }

bool hearth_watched_contains(const void *address) {
  return watched.base && (uintptr_t)address - (uintptr_t)watched.base < watched.size;
}

hearth_watched_slot *hearth_watched_slot_of(const void *address) {
  size_t offset = (size_t)((const char *)address - watched.base);
  unsigned class = 0;

  if (!hearth_watched_contains(address))
    return NULL;
  if (offset < SMALL_AREA)
    return &watched.slots[offset / SMALL_STRIDE];
  for (offset -= SMALL_AREA; offset >= HEARTH_WATCHED_CLASS_SLOTS * class_stride(class); ++class)
    offset -= HEARTH_WATCHED_CLASS_SLOTS * class_stride(class);
  return class_slot(class, (uint32_t)(offset / class_stride(class)));
}

/* -------------------------------------------------- taking -------------------------------------------------- */

/* With 1/2, 3/4, 7/8 ... of the room taken, one block in 2, 4, 8 ... is watched; none if all is. */
static bool is_due(uint32_t taken, uint32_t room) {
  return taken < room && watched.turn % (room / (room - taken)) == 0;
}

static bool watched_map(hearth_watched_slot *slot, size_t pages) {
  char *at = watched_address_of(slot);

  if (!hearth_system_map_at(at, pages * HEARTH_PAGE_BYTES))
    return false;
  hearth_system_keep_small(at, pages * HEARTH_PAGE_BYTES);
  slot->start = at;
  slot->pages = (uint32_t)pages;
  return true;
}

/* With the size before it; the user's bytes begin BEFORE bytes behind a line's start. */
static hearth_header *header_at(const hearth_watched_slot *slot, uint32_t page, size_t offset) {
  return (hearth_header *)(slot->start + page * HEARTH_PAGE_BYTES + offset * HEARTH_LINE + BEFORE) - 1;
}

static hearth_header *watched_begin(hearth_watched_slot *slot, uint32_t page, size_t size, size_t offset) {
  hearth_header *block = header_at(slot, page, offset);

  hearth_expect(page < slot->pages && !(slot->used >> page & 1) && !(slot->ended >> page & 1));
  block[-1] = size;
  __atomic_store_n(block, HEARTH_SLACK_FAR << HEARTH_STATE_BITS | HEARTH_BLOCK_RAW, __ATOMIC_RELEASE);
  slot->offsets[page] = (uint8_t)offset;
  slot->sizes[page] = size < HEARTH_PAGE_BYTES ? (uint16_t)size : HEARTH_PAGE_BYTES;
  slot->used |= UINT64_C(1) << page;
  slot->fresh |= UINT64_C(1) << page;
  return block;
}

/* The context's slot, or a free one. */
static hearth_watched_slot *small_slot(uint32_t context) {
  hearth_watched_slot *free = NULL;

  for (uint32_t i = 0; i < HEARTH_WATCHED_SMALL_SLOTS; ++i) {
    hearth_watched_slot *slot = &watched.slots[i];
    if (slot->context == context)
      return slot;
    if (!free && slot->context == HEARTH_NO_CONTEXT)
      free = slot;
  }
  return free;
}

static uint32_t room_for_small(void) {
  char *unused;
  size_t part = hearth_spans_extent(&unused) / HEARTH_PAGE_BYTES / HEAP_PART;

  return part < LEAST_PAGES ? LEAST_PAGES : part > MOST_PAGES ? MOST_PAGES : (uint32_t)part;
}

/* Blocks begin at different lines of their pages: else all would compete for the same few of a cache. */
static hearth_header *take_small(size_t size, uint32_t context) {
  if (!is_due(watched.small_pages, room_for_small()))
    return NULL;
  hearth_watched_slot *slot = small_slot(context);
  if (!slot || (!slot->start && !watched_map(slot, HEARTH_WATCHED_SMALL_PAGES)))
    return NULL;
  uint64_t free = ~slot->used & ((UINT64_C(1) << HEARTH_WATCHED_SMALL_PAGES) - 1);
  if (!free)
    return NULL;
  uint32_t page = (uint32_t)__builtin_ctzll(free);
  slot->context = context;
  size_t room = (HEARTH_PAGE_BYTES - BEFORE - size) / HEARTH_LINE;
  hearth_header *block = watched_begin(slot, page, size, watched.turn * 29u % (room + 1));
  if (page >= slot->high_pages) {
    watched.small_pages += page + 1 - slot->high_pages;
    slot->high_pages = page + 1;
    /* The system has some new pages of each processor wait before it lists them, and clears no bits of theirs: this
     * call lists those of this processor. */
    hearth_system_forget_accesses(slot->start + page * HEARTH_PAGE_BYTES, HEARTH_PAGE_BYTES);
  }
  return block;
}

static hearth_header *watched_take_large(size_t size, size_t pages, uint32_t context) {
  unsigned class = class_of_pages(pages);

  if (!is_due(watched.taken[class], HEARTH_WATCHED_CLASS_SLOTS) || watched.large_pages + pages > MOST_LARGE)
    return NULL;
  hearth_watched_slot *slot = class_slot(class, 0);
  for (uint32_t i = 0; i < HEARTH_WATCHED_CLASS_SLOTS && slot->start; ++i)
    slot = class_slot(class, i);
  if (slot->start || !watched_map(slot, pages))
    return NULL;
  slot->context = context;
  ++watched.taken[class];
  watched.large_pages += (uint32_t)pages;
  return watched_begin(slot, 0, size, 0);
}

static hearth_header *watched_take(size_t size, uint32_t context, bool *ret_zeroed) {
  size_t pages = (BEFORE + (size ? size : 1) + HEARTH_PAGE_BYTES - 1) / HEARTH_PAGE_BYTES;

  ++watched.turn;
  if (hearth_rt.options.sample == 0 && watched.turn % NOT_SAMPLED != 0)
    return NULL;
  *ret_zeroed = pages > 1;
  return pages == 1 ? take_small(size, context) : watched_take_large(size, pages, context);
}

hearth_header *hearth_watched_take(size_t size, size_t alignment, uint32_t context, bool *ret_zeroed) {
  if (!__atomic_load_n(&watched.on, __ATOMIC_ACQUIRE) || alignment > HEARTH_MALLOC_ALIGNMENT ||
      size > class_pages(LARGEST_CLASS) * HEARTH_PAGE_BYTES - BEFORE || !hearth_lock_try(&hearth_watched_lock))
    return NULL;
  hearth_header *block = watched_take(size, context, ret_zeroed);
  hearth_lock_give(&hearth_watched_lock);
  return block;
}

/* -------------------------------------------------- blocks -------------------------------------------------- */

static uint32_t page_in(const hearth_watched_slot *slot, const void *address) {
  return (uint32_t)((size_t)((const char *)address - slot->start) / HEARTH_PAGE_BYTES);
}

hearth_header *hearth_watched_find(const void *pointer) {
  const hearth_watched_slot *slot = hearth_watched_slot_of(pointer);
  const char *memory = pointer;

  if (!slot || !slot->start || page_in(slot, memory) >= (hearth_watched_is_small(slot) ? slot->pages : 1u))
    return NULL;
  uint32_t page = page_in(slot, memory);
  hearth_header *header = header_at(slot, page, slot->offsets[page]);
  return slot->used >> page & 1 && memory == (char *)hearth_header_memory(header) ? header : NULL;
}

/* The pages of a larger block go back at once, its mapping at the next look. */
void hearth_watched_give(hearth_header *block) {
  hearth_watched_slot *slot = hearth_watched_slot_of(block);
  uint32_t page = page_in(slot, block);

  if (!hearth_watched_is_small(slot) && slot->pages > 1) {
    __atomic_fetch_or(&slot->ended, HEARTH_WATCHED_ENDING, __ATOMIC_RELEASE);
    hearth_system_discard(slot->start + HEARTH_PAGE_BYTES, (slot->pages - 1) * HEARTH_PAGE_BYTES);
  }
  __atomic_fetch_or(&slot->ended, UINT64_C(1) << page, __ATOMIC_RELEASE);
}

void hearth_watched_each(void (*visit)(hearth_header *block, void *closure), void *closure) {
  for (unsigned i = 0; watched.slots && i < HEARTH_WATCHED_SLOTS; ++i) {
    const hearth_watched_slot *slot = &watched.slots[i];
    for (uint64_t left = slot->used; left; left &= left - 1) {
      uint32_t page = (uint32_t)__builtin_ctzll(left);
      visit(header_at(slot, page, slot->offsets[page]), closure);
    }
  }
}

/* -------------------------------------------------- looks -------------------------------------------------- */

hearth_watched_slot *hearth_watched_slots(void) { return watched.slots; }

void hearth_watched_range(char **ret_start, char **ret_end) {
  *ret_start = watched.base;
  *ret_end = watched.base + watched.size;
}

static void settle_small(hearth_watched_slot *slot) {
  if (slot->used || slot->context == HEARTH_NO_CONTEXT)
    return;
  hearth_system_discard(slot->start, slot->high_pages * HEARTH_PAGE_BYTES);
  hearth_expect(slot->high_pages <= slot->pages && watched.small_pages >= slot->high_pages);
  watched.small_pages -= slot->high_pages;
  slot->high_pages = 0;
  slot->context = HEARTH_NO_CONTEXT;
}

static void settle_large(hearth_watched_slot *slot) {
  if (slot->used || !slot->start)
    return;
  unsigned class = (unsigned)((slot - watched.slots - HEARTH_WATCHED_SMALL_SLOTS) / HEARTH_WATCHED_CLASS_SLOTS);
  hearth_system_unmap(slot->start, slot->pages * HEARTH_PAGE_BYTES);
  hearth_expect(watched.taken[class] > 0 && watched.large_pages >= slot->pages);
  --watched.taken[class];
  watched.large_pages -= slot->pages;
  slot->start = NULL;
  slot->context = HEARTH_NO_CONTEXT;
}

void hearth_watched_settle(void) {
  for (unsigned i = 0; i < HEARTH_WATCHED_SLOTS; ++i) {
    hearth_watched_slot *slot = &watched.slots[i];
    slot->used &= ~__atomic_exchange_n(&slot->ended, 0, __ATOMIC_ACQUIRE);
    slot->fresh = 0;
    if (hearth_watched_is_small(slot))
      settle_small(slot);
    else
      settle_large(slot);
  }
}
