/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums are kept twice for each context, and one of the two counts (mib_table.h). Arrays are cut from chunks. */
#include "mib_table.h"

#include "message.h"
#include "os.h"
#include "shadow.h"
#include "thread_state.h"

#include "hearth/expect.h"

#define CHUNK_LEAST ((size_t)256 << 10)
#define ROOM_LEAST  8

struct hearth_histogram_chunk {
  hearth_histogram_chunk *next;
  size_t size, used; /* with this header, which has a page of its own */
};

static size_t histogram_table_size(const hearth_histograms *histograms) {
  return HEARTH_WHOLE_PAGES((size_t)histograms->contexts * sizeof *histograms->by_context);
}

bool hearth_histograms_create(hearth_histograms *histograms, uint32_t contexts, uint32_t most) {
  *histograms = (hearth_histograms){.contexts = contexts, .most = most};
  histograms->by_context = hearth_system_map_sparse(histogram_table_size(histograms));
  return histograms->by_context != NULL;
}

static void unmap(hearth_histogram_chunk *chunk) {
  while (chunk) {
    hearth_histogram_chunk *next = chunk->next;
    hearth_system_unmap(chunk, chunk->size);
    chunk = next;
  }
}

void hearth_histograms_destroy(hearth_histograms *histograms) {
  if (!histograms->by_context)
    return;
  unmap(histograms->chunks);
  unmap(histograms->spare);
  hearth_system_unmap(histograms->by_context, histogram_table_size(histograms));
  *histograms = (hearth_histograms){0};
}

/* Chunks stay mapped: a thread that did not stop may be about to write to one. */
void hearth_histograms_forget(hearth_histograms *histograms) {
  hearth_system_discard(histograms->by_context, histogram_table_size(histograms));
  while (histograms->chunks) {
    hearth_histogram_chunk *chunk = histograms->chunks;
    histograms->chunks = chunk->next;
    hearth_system_discard((char *)chunk + HEARTH_PAGE_BYTES, chunk->size - HEARTH_PAGE_BYTES);
    chunk->next = histograms->spare;
    histograms->spare = chunk;
  }
}

/* An empty chunk with room for `size` bytes. */
static hearth_histogram_chunk *take_spare(hearth_histograms *histograms, size_t size) {
  for (hearth_histogram_chunk **link = &histograms->spare; *link; link = &(*link)->next)
    if ((*link)->size >= size) {
      hearth_histogram_chunk *chunk = *link;
      *link = chunk->next;
      return chunk;
    }
  return NULL;
}

static hearth_histogram_chunk *map_chunk(size_t size) {
  hearth_histogram_chunk *chunk = hearth_system_map(size);

  if (chunk)
    chunk->size = size;
  return chunk;
}

static bool add_chunk(hearth_histograms *histograms, size_t needed) {
  static bool told;
  size_t size = HEARTH_PAGE_BYTES + HEARTH_WHOLE_PAGES(needed);
  hearth_histogram_chunk *chunk = take_spare(histograms, size);

  if (!chunk)
    chunk = map_chunk(size > CHUNK_LEAST ? size : CHUNK_LEAST);
  if (!chunk) {
    if (!told)
      hearth_message("no memory for histograms: they are not complete");
    told = true;
    return false;
  }
  chunk->used = HEARTH_PAGE_BYTES;
  chunk->next = histograms->chunks;
  histograms->chunks = chunk;
  return true;
}

/* Zeros; NULL: no memory. */
static uint64_t *histogram_take(hearth_histograms *histograms, size_t count) {
  size_t size = count * sizeof(uint64_t);
  hearth_histogram_chunk *chunk = histograms->chunks;

  if (!chunk || chunk->size - chunk->used < size) {
    if (!add_chunk(histograms, size))
      return NULL;
    chunk = histograms->chunks;
  }
  chunk->used += size;
  hearth_expect(chunk->used <= chunk->size);
  return (uint64_t *)((char *)chunk + chunk->used - size);
}

/* The arrays are replaced one after the other, that which does not count first: there is no moment at which the sums cannot
 * be read. */
static void grow_locked(hearth_histograms *histograms, hearth_histogram_sums *h, uint32_t size) {
  uint32_t room = h->room ? h->room : ROOM_LEAST;

  while (room < size)
    room *= 2;
  uint64_t *larger = histogram_take(histograms, 2 * (size_t)room);
  if (!larger)
    return;
  uint64_t *current = larger + room;
  for (uint32_t i = 0; i < h->room; ++i)
    current[i] = h->sums[h->current][i];
  HEARTH_SIGNAL_FENCE();
  h->sums[1 - h->current] = larger;
  h->sums[h->current] = current;
  HEARTH_SIGNAL_FENCE();
  h->room = room;
}

/* Have room for `size` sums, if there is memory. False: not possible in this signal handler. */
static bool histogram_reserve(hearth_histograms *histograms, hearth_histogram_sums *h, uint32_t size) {
  if (size <= h->room)
    return true;
  if (!hearth_reentry_take(&histograms->lock))
    return false;
  grow_locked(histograms, h, size);
  hearth_lock_give(&histograms->lock);
  return true;
}

/* Up to the last that was accessed; the first one if something before it was. */
static uint32_t count_places(const hearth_histograms *histograms, const hearth_byte_counters *of, bool lead) {
  uint64_t size = of->count < histograms->most ? of->count : histograms->most;

  while (size > lead && of->first[size - 1] == 0)
    --size;
  return (uint32_t)size;
}

bool hearth_histograms_prepare(hearth_histograms *histograms, const hearth_block *block, uint64_t weight,
                               uint64_t *ret_next) {
  hearth_histogram_sums *h = &histograms->by_context[block->context];
  hearth_byte_counters of = hearth_shadow_bytes(hearth_header_memory(block->header), block->size);
  uint64_t lead = 0;

  for (const uint8_t *counter = of.lead; counter < of.first; ++counter)
    lead += *counter;
  uint32_t size = count_places(histograms, &of, lead > 0);

  if (!histogram_reserve(histograms, h, size))
    return false;
  *ret_next = 1 - h->current;
  uint64_t *to = h->sums[1 - h->current];
  const uint64_t *from = h->sums[h->current];
  for (uint32_t i = 0, room = h->room; i < room; ++i)
    to[i] = from[i] + (i < size ? of.first[i] * weight : 0) + (i == 0 ? lead * weight : 0);
  return true;
}

void hearth_histograms_add(hearth_histograms *histograms, const hearth_block *block, uint64_t weight) {
  uint64_t next;

  if (hearth_histograms_prepare(histograms, block, weight, &next))
    histograms->by_context[block->context].current = next;
}

bool hearth_histograms_copy(hearth_histograms *to, const hearth_histograms *from, uint32_t context) {
  hearth_histogram_sums *h = &to->by_context[context];
  uint32_t size;
  const uint64_t *sums = hearth_histograms_get(from, context, &size);

  if (!histogram_reserve(to, h, size) || h->room < size)
    return false;
  for (uint32_t i = 0; i < size; ++i)
    h->sums[h->current][i] = sums[i];
  return true;
}

const uint64_t *hearth_histograms_get(const hearth_histograms *histograms, uint32_t context, uint32_t *ret_size) {
  const hearth_histogram_sums *h = &histograms->by_context[context];
  const uint64_t *sums = h->sums[h->current];

  *ret_size = h->room;
  while (*ret_size > 0 && sums[*ret_size - 1] == 0)
    --*ret_size;
  return sums;
}
