/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Size classes with free lists, as in heap.c. A mark in a free chunk tells that it is free; the table of sectors tells
 * the class of a live one.
 *
 * The lists are not those of heap.c, though they look alike. A chunk with a header has its link in the second word,
 * where the header has the time, as the first one may be a redirect's distance, which is read after the chunk was
 * freed. A chunk of 16 bytes without header has its link in the first word. Its second word holds the mark, which each
 * push sets and each take clears. A common list would need the link's place, the mark, the batch and the way to fresh
 * chunks at each of its calls, and these are the fast paths. */
#include "headerless.h"

#include "lock.h"
#include "reentry.h"
#include "tracts.h"

#define FREE_MARK              UINT64_C(0xb49a3c5ed7126f81)
#define HEADERLESS_BATCH_BYTES ((size_t)8192) /* moved at once between a class and a thread's cache */
#define HEADERLESS_BATCH_MOST  ((size_t)32)   /* chunks */

/* One line of cache each: classes are locked independently. A signal handler that frees a block while the lock is taken
 * sets it aside: it pushes the block without lock, and the holder of the lock takes all such blocks back at once. */
static struct headerless_class {
  hearth_lock lock;
  hearth_class_tracts tracts; /* one sector each */
  hearth_headerless_chunk *aside;
  char *fresh, *fresh_end; /* of the class's newest tract: chunks never handed out */
} __attribute__((aligned(64))) headerless_classes[HEARTH_HEADERLESS_CLASSES];

/* Facts about a class that are known from the beginning. */
static struct headerless_facts {
  uint32_t batch;      /* chunks that are moved at once */
  uint32_t chunks;     /* of a tract */
  uint32_t reciprocal; /* 2^32 / steps of a chunk, rounded up; 0, which is 2^32, for one step */
} headerless_facts[HEARTH_HEADERLESS_CLASSES];

static inline size_t headerless_size(unsigned number) { return (number + 1) * HEARTH_HEADERLESS_STEP; }

static inline void mark_free(hearth_headerless_chunk *chunk) {
  uint64_t mark = (uintptr_t)chunk ^ FREE_MARK;

  chunk->mark[0] = (uint32_t)mark;
  chunk->mark[1] = (uint32_t)(mark >> 32);
}

static inline bool is_free(const hearth_headerless_chunk *chunk) {
  uint64_t mark = (uintptr_t)chunk ^ FREE_MARK;

  return __builtin_expect(chunk->mark[0] == (uint32_t)mark, false) && chunk->mark[1] == (uint32_t)(mark >> 32);
}

void hearth_headerless_create(void) {
  for (unsigned number = 0; number < HEARTH_HEADERLESS_CLASSES; ++number) {
    size_t batch = HEADERLESS_BATCH_BYTES / headerless_size(number);
    headerless_facts[number].batch = (uint32_t)(batch < HEADERLESS_BATCH_MOST ? batch : HEADERLESS_BATCH_MOST);
    headerless_facts[number].chunks = (uint32_t)(HEARTH_SECTOR / headerless_size(number));
    headerless_facts[number].reciprocal = UINT32_MAX / (number + 1) + 1;
  }
}

static inline void push_headerless(hearth_headerless_chunk **list, hearth_headerless_chunk *chunk) {
  chunk->next = *list;
  mark_free(chunk);
  *list = chunk;
}

static inline hearth_headerless_chunk *pop_headerless(hearth_headerless_chunk **list) {
  hearth_headerless_chunk *chunk = *list;

  hearth_expect(chunk);
  *list = chunk->next;
  return chunk;
}

/* --- Shared by threads: classes, locked --------------------------------------------------------------------------- */

static hearth_headerless_chunk *take_fresh_headerless(unsigned number) {
  struct headerless_class *class = &headerless_classes[number];
  size_t size = headerless_size(number);

  if ((size_t)(class->fresh_end - class->fresh) < size) {
    char *tract = hearth_tract_take(HEARTH_TRACT_HEADERLESS, (uint8_t)number, HEARTH_SECTOR);
    if (!tract)
      return NULL;
    hearth_class_tracts_note_new(&class->tracts, hearth_sector_of(tract));
    class->fresh = tract;
    class->fresh_end = tract + HEARTH_SECTOR;
  }
  char *chunk = class->fresh;
  class->fresh += size;
  hearth_expect(class->fresh <= class->fresh_end);
  return (hearth_headerless_chunk *)chunk;
}

static hearth_headerless_chunk *take_headerless_shared(unsigned number) {
  struct headerless_class *class = &headerless_classes[number];
  hearth_sector *tract = hearth_class_tracts_first(&class->tracts);

  if (!tract)
    return take_fresh_headerless(number);
  hearth_headerless_chunk *chunk = tract->free_chunks;
  tract->free_chunks = chunk->next;
  hearth_class_tracts_note_taken(&class->tracts, tract, headerless_facts[number].chunks);
  return chunk;
}

static void give_headerless_shared(unsigned number, hearth_headerless_chunk *chunk) {
  hearth_sector *tract = hearth_sector_of(chunk);

  hearth_expect(tract->kind == HEARTH_TRACT_HEADERLESS && tract->size_class == number);
  chunk->next = tract->free_chunks;
  mark_free(chunk);
  tract->free_chunks = chunk;
  hearth_class_tracts_note_given(&headerless_classes[number].tracts, tract, headerless_facts[number].chunks);
}

static void take_aside_back(unsigned number) {
  hearth_headerless_chunk *list = __atomic_exchange_n(&headerless_classes[number].aside, NULL, __ATOMIC_ACQUIRE);

  while (list)
    give_headerless_shared(number, pop_headerless(&list));
}

static void spill_headerless(hearth_headerless_cache *cache, unsigned number, uint32_t keep) {
  struct headerless_class *class = &headerless_classes[number];

  if (cache->classes[number].count <= keep || !hearth_reentry_take(&class->lock))
    return;
  for (; cache->classes[number].count > keep; --cache->classes[number].count)
    give_headerless_shared(number, pop_headerless(&cache->classes[number].free));
  hearth_class_tracts_unlock(&class->tracts, &class->lock);
}

/* As the heap's. */
static void spill_idle_headerless(hearth_headerless_cache *cache) {
  unsigned number = cache->turn++ % HEARTH_HEADERLESS_CLASSES;

  if (cache->classes[number].seen == cache->classes[number].count)
    spill_headerless(cache, number, 0);
  cache->classes[number].seen = cache->classes[number].count;
}

static __attribute__((noinline)) void spill_full_headerless(hearth_headerless_cache *cache, unsigned number) {
  spill_headerless(cache, number, headerless_facts[number].batch);
  spill_idle_headerless(cache);
}

/* In the order of addresses where the chunks are fresh, as the heap's. */
static __attribute__((noinline)) void fill_headerless(hearth_headerless_cache *cache, unsigned number) {
  struct headerless_class *class = &headerless_classes[number];
  hearth_headerless_chunk **end = &cache->classes[number].free;

  spill_idle_headerless(cache);
  if (!hearth_reentry_take(&class->lock))
    return;
  take_aside_back(number);
  for (uint32_t wanted = headerless_facts[number].batch; wanted > 0; --wanted) {
    hearth_headerless_chunk *chunk = take_headerless_shared(number);
    if (!chunk)
      break;
    chunk->next = NULL;
    mark_free(chunk);
    *end = chunk;
    end = &chunk->next;
    ++cache->classes[number].count;
  }
  hearth_class_tracts_unlock(&class->tracts, &class->lock);
}

void hearth_headerless_cache_flush(hearth_headerless_cache *cache) {
  for (unsigned number = 0; number < HEARTH_HEADERLESS_CLASSES; ++number)
    spill_headerless(cache, number, 0);
}

static void put_headerless_aside(struct headerless_class *class, hearth_headerless_chunk *chunk) {
  mark_free(chunk);
  chunk->next = __atomic_load_n(&class->aside, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&class->aside, &chunk->next, chunk, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
}

static __attribute__((noinline)) void give_headerless_uncached(unsigned number, hearth_headerless_chunk *chunk) {
  struct headerless_class *class = &headerless_classes[number];

  if (!hearth_reentry_take(&class->lock)) {
    put_headerless_aside(class, chunk);
    return;
  }
  give_headerless_shared(number, chunk);
  hearth_class_tracts_unlock(&class->tracts, &class->lock);
}

/* --- Operations ----------------------------------------------------------------------------------------------------- */

inline void *hearth_headerless_take(size_t size, hearth_headerless_cache *cache) {
  if (size > HEARTH_HEADERLESS_MOST)
    return NULL;
  unsigned number = (unsigned)((size - (size != 0)) / HEARTH_HEADERLESS_STEP);
  if (__builtin_expect(!cache->classes[number].free, false)) {
    fill_headerless(cache, number);
    if (!cache->classes[number].free)
      return NULL;
  }
  hearth_headerless_chunk *chunk = pop_headerless(&cache->classes[number].free);
  --cache->classes[number].count;
  chunk->mark[0] = chunk->mark[1] = 0; /* both: a program may write one half, and leave a gap where the other is */
  return chunk;
}

/* Whether an offset in a sector is a multiple of the class's size: Lemire, Kaser and Kurz, "Faster remainder by direct
 * computation" (2019). */
static inline bool begins_chunk(uint32_t offset, unsigned number) {
  uint32_t reciprocal = headerless_facts[number].reciprocal;

  return offset % HEARTH_HEADERLESS_STEP == 0 &&
         (uint32_t)(offset / HEARTH_HEADERLESS_STEP) * reciprocal <= reciprocal - 1;
}

/* ret_number  class of the chunk; set unless it is OTHER */
static inline hearth_headerless_kind find_headerless(const void *pointer, unsigned *ret_number) {
  const hearth_sector *sector = hearth_sector_of(pointer);

  if (!sector || sector->kind != HEARTH_TRACT_HEADERLESS)
    return HEARTH_HEADERLESS_OTHER;
  unsigned number = *ret_number = sector->size_class;
  if (__builtin_expect(!begins_chunk((uint32_t)((uintptr_t)pointer % HEARTH_SECTOR), number), false))
    return HEARTH_HEADERLESS_INSIDE;
  return is_free(pointer) ? HEARTH_HEADERLESS_FREED : HEARTH_HEADERLESS_LIVE;
}

hearth_headerless_kind hearth_headerless_find(const void *pointer, size_t *ret_size) {
  unsigned number;
  hearth_headerless_kind kind = find_headerless(pointer, &number);

  if (kind == HEARTH_HEADERLESS_LIVE)
    *ret_size = headerless_size(number);
  return kind;
}

inline bool hearth_headerless_give(void *pointer, hearth_headerless_cache *cache) {
  unsigned number;

  if (find_headerless(pointer, &number) != HEARTH_HEADERLESS_LIVE)
    return false;
  if (__builtin_expect(!cache, false)) {
    give_headerless_uncached(number, pointer);
    return true;
  }
  push_headerless(&cache->classes[number].free, pointer);
  if (__builtin_expect(++cache->classes[number].count >= 2 * headerless_facts[number].batch, false))
    spill_full_headerless(cache, number);
  return true;
}

/* --- For the thread that stopped all others ----------------------------------------------------------------------- */

void hearth_headerless_count(const hearth_tract *tract, size_t *bytes, size_t *blocks) {
  const struct headerless_class *class = &headerless_classes[tract->size_class];
  size_t size = headerless_size(tract->size_class);

  for (char *chunk = tract->start; chunk + size <= tract->start + tract->size; chunk += size) {
    bool is_fresh = chunk >= class->fresh && chunk < class->fresh_end;
    if (is_fresh || is_free((hearth_headerless_chunk *)chunk))
      continue;
    *bytes += size;
    ++*blocks;
  }
}

unsigned hearth_headerless_lock(void) {
  unsigned missed = 0;

  for (unsigned number = 0; number < HEARTH_HEADERLESS_CLASSES; ++number)
    missed += !hearth_lock_take_or_keep(&headerless_classes[number].lock);
  return missed;
}

void hearth_headerless_unlock(void) {
  for (unsigned number = HEARTH_HEADERLESS_CLASSES; number-- > 0;)
    hearth_lock_give_or_keep(&headerless_classes[number].lock);
}
