/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Of a window, the contexts with the most lines are kept in a heap, the least of them on top. Their pairs go to an open
 * hash table, which is doubled up to a limit; further pairs are counted as lost. */
#include "pair_sums.h"

#include "os.h"

#define FIRST_SIZE 4096u
#define MOST_SIZE  (128u * 1024) /* 3 MiB */
#define PAIRS      (HEARTH_PAIR_CONTEXTS * (HEARTH_PAIR_CONTEXTS - 1) / 2)

static size_t bytes_of(uint32_t size) { return hearth_os_whole_pages(size * sizeof(hearth_pair_slot)); }

bool hearth_pair_sums_create(hearth_pair_sums *sums) {
  *sums = (hearth_pair_sums){.slots = hearth_os_map(bytes_of(FIRST_SIZE)), .size = FIRST_SIZE};
  return sums->slots != NULL;
}

void hearth_pair_sums_forget(hearth_pair_sums *sums) {
  hearth_os_discard(sums->slots, bytes_of(sums->size));
  sums->count = 0;
  sums->lost = 0;
}

/* The pair's slot, or the free one where it belongs. */
static hearth_pair_slot *find(const hearth_pair_sums *sums, uint32_t a, uint32_t b) {
  uint64_t hash = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
  for (uint32_t at = (uint32_t)(hash >> 40);; ++at) {
    hearth_pair_slot *slot = &sums->slots[at & (sums->size - 1)];
    if (slot->b == 0 || (slot->a == a && slot->b == b))
      return slot;
  }
}

static uint32_t room(const hearth_pair_sums *sums) { return sums->size / 4 * 3 - sums->count; }

void hearth_pair_sums_reserve(hearth_pair_sums *sums) {
  if (room(sums) >= PAIRS || sums->size == MOST_SIZE)
    return;
  hearth_pair_sums larger = {.slots = hearth_os_map(bytes_of(sums->size * 2)), .size = sums->size * 2};
  if (!larger.slots)
    return;
  for (uint32_t i = 0; i < sums->size; ++i)
    if (sums->slots[i].b)
      *find(&larger, sums->slots[i].a, sums->slots[i].b) = sums->slots[i];
  hearth_pair_slot *old = sums->slots;
  sums->slots = larger.slots;
  sums->size = larger.size;
  hearth_os_unmap(old, bytes_of(larger.size / 2));
}

/* -------------------------------------------------- a window ------------------------------------------------------ */

typedef struct candidate {
  uint32_t context, lines;
} candidate;

typedef struct most_touched {
  candidate top[HEARTH_PAIR_CONTEXTS]; /* a heap: none has fewer lines than the one at half its number */
  uint32_t count;
} most_touched;

static void swap(candidate *a, candidate *b) {
  candidate kept = *a;

  *a = *b;
  *b = kept;
}

static void sink(most_touched *m) {
  for (uint32_t at = 0, child; (child = 2 * at + 1) < m->count; at = child) {
    child += child + 1 < m->count && m->top[child + 1].lines < m->top[child].lines;
    if (m->top[at].lines <= m->top[child].lines)
      return;
    swap(&m->top[at], &m->top[child]);
  }
}

static void offer(most_touched *m, candidate one) {
  if (m->count == HEARTH_PAIR_CONTEXTS) {
    if (one.lines > m->top[0].lines) {
      m->top[0] = one;
      sink(m);
    }
    return;
  }
  m->top[m->count] = one;
  for (uint32_t at = m->count++; at > 0 && m->top[at].lines < m->top[(at - 1) / 2].lines; at = (at - 1) / 2)
    swap(&m->top[at], &m->top[(at - 1) / 2]);
}

static void add(hearth_pair_sums *sums, candidate x, candidate y, uint64_t pages, uint64_t sampled, uint32_t weight) {
  uint32_t a = x.context < y.context ? x.context : y.context, b = x.context < y.context ? y.context : x.context;
  uint64_t lines = x.lines < y.lines ? x.lines : y.lines;
  hearth_pair_slot *slot = find(sums, a, b);
  if (slot->b == 0 && room(sums) == 0) {
    sums->lost += weight;
    return;
  }
  sums->count += slot->b == 0;
  slot->a = a;
  slot->b = b;
  slot->windows += weight;
  slot->lines += hearth_sums_scale(lines, pages * weight, sampled);
}

void hearth_pair_sums_add_window(hearth_pair_sums *sums, const hearth_touched_sums *touched, uint64_t pages,
                                 uint64_t sampled, uint32_t weight) {
  most_touched most = {.count = 0};

  for (uint32_t i = 0; i < touched->seen_count; ++i) {
    uint32_t context = touched->seen[i], lines = touched->rows[context].lines;
    if (lines > 0)
      offer(&most, (candidate){context, lines});
  }
  for (uint32_t i = 0; i < most.count; ++i)
    for (uint32_t k = 0; k < i; ++k)
      add(sums, most.top[i], most.top[k], pages, sampled, weight);
}
