/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Size classes with free lists: each thread keeps some chunks of each class, and moves them in batches from and to the
 * class's list, which is locked. Larger blocks have a tract of their own. A block is found by its tract and a division. */
#include "heap.h"

#include "lock.h"
#include "message.h"
#include "os.h"
#include "reentry.h"
#include "tracts.h"
#include "watched.h"

#define SMALL_MOST   ((size_t)32768) /* largest chunk of a size class; larger blocks have a tract of their own */
#define SMALL_TRACT  (4 * HEARTH_SECTOR)
#define FINE_MOST    ((size_t)1024) /* up to here one class for each multiple of 64, then four for each doubling */
#define FINE_CLASSES (FINE_MOST / HEARTH_GRANULE)
#define CLASSES      HEARTH_HEAP_CLASSES
#define READY_BYTES  ((size_t)65536) /* that are made ready at once */
#define BATCH_BYTES  ((size_t)8192)  /* moved at once between a class and a thread's cache */
#define BATCH_MOST   32              /* chunks */

_Static_assert(CLASSES == FINE_CLASSES + 4 * 5, "five doublings lead to SMALL_MOST");

/* One line of cache each: classes are locked independently. */
static struct size_class {
  hearth_lock lock;
  hearth_block *free;
  char *fresh, *fresh_end; /* of the class's newest tract: chunks never handed out */
  char *ready;             /* pages of it before this are there, so far as this is above `fresh` */
  bool is_common;          /* it is not the class's first */
} __attribute__((aligned(64))) classes[CLASSES];

/* Facts about a class that are known from the beginning. */
static struct class_facts {
  uint32_t size;  /* of its chunks */
  uint32_t batch; /* chunks that are moved at once; 0: threads keep none */
  uint64_t
      reciprocal; /* 2^32 / granules of a chunk, rounded up: multiplying by it divides offsets in small tracts exactly */
} facts[CLASSES];

static size_t compute_size(unsigned class) {
  if (class < FINE_CLASSES)
    return (class + 1) * HEARTH_GRANULE;
  unsigned coarse = class - FINE_CLASSES;
  return (FINE_MOST + (coarse % 4 + 1) * (FINE_MOST / 4)) << (coarse / 4);
}

/* The least class whose chunks have `size` bytes; size in [1, SMALL_MOST]. */
static inline unsigned class_of(size_t size) {
  if (size <= FINE_MOST)
    return (unsigned)((size - 1) / HEARTH_GRANULE);
  unsigned doubling = 63u - (unsigned)__builtin_clzll((size - 1) / FINE_MOST);
  return (unsigned)(FINE_CLASSES + 4 * doubling + ((size - 1) >> doubling) / (FINE_MOST / 4) - 4);
}

bool hearth_heap_create(void) {
  for (unsigned i = 0; i < CLASSES; ++i) {
    size_t size = compute_size(i), batch = BATCH_BYTES / size;
    facts[i] = (struct class_facts){
        .size = (uint32_t)size,
        .batch = batch < 2            ? 0
                 : batch < BATCH_MOST ? (uint32_t)batch
                                      : BATCH_MOST,
        .reciprocal = (UINT64_C(1) << 32) / (size / HEARTH_GRANULE) + 1,
    };
  }
  hearth_headerless_create();
  return hearth_tracts_create();
}

void hearth_ensure_heap(void) {
  static bool ready;

  if (__builtin_expect(ready, true))
    return;
  if (!hearth_heap_create()) {
    hearth_message("cannot reserve 32 GiB of address space for the heap (see ulimit -v)");
    hearth_os_exit(1);
  }
  ready = true;
}

/* Bytes from the chunk's start to the user's bytes. For alignments above 32 the redirect and the header need 64 bytes,
 * which the first aligned address behind the chunk's start leaves. */
static size_t user_offset(const char *chunk, size_t alignment) {
  if (alignment <= HEARTH_BLOCK_ALIGNMENT)
    return sizeof(hearth_block);
  return (((uintptr_t)chunk + alignment) & ~(alignment - 1)) - (uintptr_t)chunk;
}

/* Lay out header and, if needed, redirect. For a reused chunk this is done under the lock of its class, or of the cache
 * that it was in: its old headers must not be misread while blocks are enumerated. */
static inline hearth_block *lay_out(char *chunk, uint8_t size_class, size_t size, size_t alignment) {
  size_t offset = user_offset(chunk, alignment);
  hearth_block *first = (hearth_block *)chunk;
  hearth_block *block = (hearth_block *)(chunk + offset) - 1;

  hearth_block_set_state(first, HEARTH_BLOCK_RAW);
  if (block != first) {
    hearth_block_set_state(block, HEARTH_BLOCK_RAW); /* the user's bytes of an earlier block may look like anything */
    first->size = offset - sizeof(hearth_block);
    hearth_block_set_state(first, HEARTH_BLOCK_REDIRECT);
  }
  block->size = size;
  block->size_class = block == first ? size_class : HEARTH_NO_CLASS;
  return block;
}

/* A class that has filled a tract soon uses the next pages, too. */
static void make_ready(struct size_class *class) {
  size_t left = (size_t)(class->fresh_end - class->ready);

  hearth_os_populate(class->ready, READY_BYTES < left ? READY_BYTES : left);
  class->ready += READY_BYTES < left ? READY_BYTES : left;
}

/* Never used chunk of a class; NULL: no memory. The class is locked. */
static char *take_fresh(unsigned number) {
  struct size_class *class = &classes[number];
  size_t size = facts[number].size;

  if ((size_t)(class->fresh_end - class->fresh) < size) {
    char *tract = hearth_tract_take(HEARTH_TRACT_SMALL, (uint8_t)number, SMALL_TRACT);
    if (!tract)
      return NULL;
    class->is_common = class->fresh != NULL;
    class->fresh = class->ready = tract;
    class->fresh_end = tract + SMALL_TRACT;
  }
  char *chunk = class->fresh;
  class->fresh += size;
  while (class->is_common && class->ready < class->fresh)
    make_ready(class);
  return chunk;
}

static hearth_block *take_large(size_t need, size_t size, size_t alignment, bool *ret_zeroed) {
  char *tract = hearth_tract_take(HEARTH_TRACT_LARGE, 0, need);

  *ret_zeroed = true;
  return tract ? lay_out(tract, HEARTH_NO_CLASS, size, alignment) : NULL;
}

static void push(hearth_block **list, hearth_block *chunk) {
  chunk->next_free = *list;
  *list = chunk;
}

static hearth_block *pop(hearth_block **list) {
  hearth_block *chunk = *list;

  *list = chunk->next_free;
  return chunk;
}

/* Fill a thread's empty list, in the order of addresses where the chunks are fresh: programs often use what they allocate
 * one after the other in the same order, and processors fetch ahead upwards. */
static __attribute__((noinline)) void fill(hearth_heap_cache *cache, unsigned number) {
  struct size_class *class = &classes[number];
  hearth_block **end = &cache->classes[number].free;

  if (!hearth_reentry_take(&class->lock))
    return;
  for (uint32_t wanted = facts[number].batch; wanted > 0; --wanted) {
    hearth_block *chunk = class->free ? pop(&class->free) : (hearth_block *)take_fresh(number);
    if (!chunk)
      break;
    chunk->next_free = NULL;
    *end = chunk;
    end = &chunk->next_free;
    ++cache->classes[number].count;
  }
  hearth_lock_give(&class->lock);
}

/* Move chunks from a thread's list to the class's until `keep` are left. */
static __attribute__((noinline)) void spill(hearth_heap_cache *cache, unsigned number, uint32_t keep) {
  struct size_class *class = &classes[number];

  if (cache->classes[number].count <= keep || !hearth_reentry_take(&class->lock))
    return;
  for (; cache->classes[number].count > keep; --cache->classes[number].count)
    push(&class->free, pop(&cache->classes[number].free));
  hearth_lock_give(&class->lock);
}

void hearth_heap_cache_flush(hearth_heap_cache *cache) {
  for (unsigned number = 0; number < CLASSES; ++number)
    spill(cache, number, 0);
  hearth_headerless_cache_flush(&cache->headerless);
}

static inline hearth_block *take_cached(hearth_heap_cache *cache, unsigned number) {
  if (!cache->classes[number].free)
    fill(cache, number);
  if (!cache->classes[number].free)
    return NULL;
  --cache->classes[number].count;
  return pop(&cache->classes[number].free);
}

/* From the given class, or a larger one: a signal handler takes from the least class that is not locked. */
static __attribute__((noinline)) hearth_block *take_shared(unsigned number, size_t need, size_t size, size_t alignment,
                                                           bool *ret_zeroed) {
  while (number < CLASSES && !hearth_reentry_take(&classes[number].lock))
    ++number;
  if (number == CLASSES)
    return take_large(need, size, alignment, ret_zeroed);
  struct size_class *class = &classes[number];
  char *chunk = (char *)class->free;
  *ret_zeroed = !chunk;
  if (chunk)
    pop(&class->free);
  else
    chunk = take_fresh(number);
  hearth_block *block = chunk ? lay_out(chunk, (uint8_t)number, size, alignment) : NULL;
  hearth_lock_give(&class->lock);
  return block;
}

inline hearth_block *hearth_heap_take(size_t size, size_t alignment, hearth_heap_cache *cache, bool *ret_zeroed) {
  size_t extra = alignment <= HEARTH_BLOCK_ALIGNMENT ? sizeof(hearth_block) : alignment;
  size_t need;

  /* Empty blocks have a byte, so that their address lies in their chunk. */
  if (__builtin_add_overflow(size ? size : 1, extra, &need))
    return NULL;
  if (need > SMALL_MOST)
    return take_large(need, size, alignment, ret_zeroed);
  unsigned number = class_of(need);
  hearth_block *cached = cache && facts[number].batch ? take_cached(cache, number) : NULL;
  if (!cached)
    return take_shared(number, need, size, alignment, ret_zeroed);
  *ret_zeroed = false;
  return lay_out((char *)cached, (uint8_t)number, size, alignment);
}

inline hearth_block *hearth_heap_take_cached(size_t size, hearth_heap_cache *cache) {
  if (size > SMALL_MOST - sizeof(hearth_block))
    return NULL;
  unsigned number = class_of(sizeof(hearth_block) + size + (size == 0));
  if (__builtin_expect(!cache->classes[number].free, false))
    return NULL;
  --cache->classes[number].count;
  return lay_out((char *)pop(&cache->classes[number].free), (uint8_t)number, size, HEARTH_BLOCK_ALIGNMENT);
}

/* A thread that stops this one, or a handler that interrupts it, may find the new life with the old size, which does no
 * harm; an old redirect with the new size would lead it astray. */
inline hearth_block *hearth_heap_take_unrecorded(size_t size, hearth_heap_cache *cache) {
  if (size > SMALL_MOST - sizeof(hearth_block))
    return NULL;
  unsigned number = class_of(size + sizeof(hearth_block));
  if (__builtin_expect(!cache->classes[number].free, false))
    return NULL;
  hearth_block *block = pop(&cache->classes[number].free);
  --cache->classes[number].count;
  __atomic_store_n(&block->life, HEARTH_LIFE_UNRECORDED | (uint64_t)number << HEARTH_LIFE_CLASS_BIT, __ATOMIC_RELAXED);
  HEARTH_SIGNAL_FENCE();
  block->size = size;
  return block;
}

/* The chunk that `address` lies in, which is in `tract`. */
static inline hearth_chunk chunk_of(const hearth_tract *tract, const void *address) {
  if (tract->kind == HEARTH_TRACT_LARGE)
    return (hearth_chunk){tract->start, HEARTH_NO_CLASS};
  const struct class_facts *class = &facts[tract->size_class];
  uint64_t granule = (uint64_t)((const char *)address - tract->start) / HEARTH_GRANULE;
  return (hearth_chunk){tract->start + (granule * class->reciprocal >> 32) * class->size, tract->size_class};
}

static inline hearth_block *follow(char *chunk) {
  hearth_block *block = (hearth_block *)chunk;

  return hearth_block_state_of(block) == HEARTH_BLOCK_REDIRECT ? (hearth_block *)(chunk + block->size) : block;
}

static __attribute__((noinline)) bool was_headerless(const void *pointer) {
  size_t size;

  return hearth_headerless_find(pointer, &size) == HEARTH_HEADERLESS_FREED;
}

static __attribute__((noinline)) hearth_pointer_kind find_outside(const void *pointer, hearth_block **ret_block,
                                                                  hearth_chunk *ret_chunk) {
  if (hearth_tracts_contain(pointer)) /* freed large blocks are in our range */
    return was_headerless(pointer) ? HEARTH_POINTER_FREED : HEARTH_POINTER_BAD;
  if (!hearth_watched_contains(pointer))
    return HEARTH_POINTER_FOREIGN;
  hearth_block *block = hearth_watched_find(pointer);
  if (!block)
    return HEARTH_POINTER_BAD;
  *ret_block = block;
  *ret_chunk = (hearth_chunk){(char *)block, HEARTH_NO_CLASS};
  return hearth_block_state_of(block) == HEARTH_BLOCK_LIVE ? HEARTH_POINTER_LIVE : HEARTH_POINTER_FREED;
}

/* Most blocks begin their chunk: then the header is read without waiting for the lookup that tells so. */
static inline hearth_pointer_kind find(const void *pointer, hearth_block **ret_block, hearth_chunk *ret_chunk) {
  hearth_block *block = (hearth_block *)pointer - 1;
  hearth_tract tract;

  if (__builtin_expect(!hearth_tract_find(pointer, &tract), false))
    return find_outside(pointer, ret_block, ret_chunk);
  *ret_chunk = chunk_of(&tract, pointer);
  if (__builtin_expect((char *)block != ret_chunk->start, false) && block != follow(ret_chunk->start))
    return HEARTH_POINTER_BAD;
  uint8_t state = hearth_block_state_of(block);
  *ret_block = block;
  if (__builtin_expect(state == HEARTH_BLOCK_LIVE, true))
    return HEARTH_POINTER_LIVE;
  return state == HEARTH_BLOCK_FREE || state == HEARTH_BLOCK_ENDING ? HEARTH_POINTER_FREED : HEARTH_POINTER_BAD;
}

hearth_pointer_kind hearth_heap_find(const void *pointer, hearth_block **ret_block) {
  hearth_chunk chunk;

  return find(pointer, ret_block, &chunk);
}

inline hearth_pointer_kind hearth_heap_claim(void *pointer, hearth_block **ret_block, hearth_chunk *ret_chunk) {
  hearth_pointer_kind kind = find(pointer, ret_block, ret_chunk);

  if (kind == HEARTH_POINTER_LIVE)
    hearth_block_set_state(*ret_block, HEARTH_BLOCK_ENDING);
  return kind;
}

/* Not to a thread's cache. */
static __attribute__((noinline)) bool give_shared(hearth_chunk chunk) {
  if (chunk.size_class == HEARTH_NO_CLASS) {
    if (hearth_watched_contains(chunk.start))
      hearth_watched_give((hearth_block *)chunk.start);
    else
      hearth_tract_give(chunk.start);
    return true;
  }
  struct size_class *class = &classes[chunk.size_class];
  if (!hearth_reentry_take(&class->lock))
    return false;
  push(&class->free, (hearth_block *)chunk.start);
  hearth_lock_give(&class->lock);
  return true;
}

/* A redirect stays, so that freeing the same pointer again is recognised; its second word is unused. */
inline bool hearth_heap_give(hearth_chunk chunk, hearth_heap_cache *cache) {
  if (!cache || chunk.size_class == HEARTH_NO_CLASS || !facts[chunk.size_class].batch)
    return give_shared(chunk);
  uint32_t batch = facts[chunk.size_class].batch;
  push(&cache->classes[chunk.size_class].free, (hearth_block *)chunk.start);
  if (__builtin_expect(++cache->classes[chunk.size_class].count >= 2 * batch, false))
    spill(cache, chunk.size_class, batch);
  return true;
}

/* The class of a live block without record that begins a chunk of a small tract; at least CLASSES for all other pointers.
 * That a block's bytes look like such a header need not be feared: a program would have to free a pointer into a block,
 * and to have written these 56 bits before it. */
static inline uint64_t unrecorded_class(const void *pointer) {
  if (!hearth_tracts_contain(pointer) || (uintptr_t)pointer % HEARTH_GRANULE != sizeof(hearth_block))
    return CLASSES;
  uint64_t life = __atomic_load_n(&((const hearth_block *)pointer - 1)->life, __ATOMIC_RELAXED);
  uint64_t difference = life ^ HEARTH_LIFE_UNRECORDED;
  return difference << (64 - HEARTH_LIFE_CLASS_BIT) | difference >> HEARTH_LIFE_CLASS_BIT;
}

inline bool hearth_heap_give_unrecorded(void *pointer, hearth_heap_cache *cache) {
  hearth_block *block = (hearth_block *)pointer - 1;
  uint64_t number = unrecorded_class(pointer);

  if (number >= CLASSES || cache->classes[number].count + 1 >= 2 * facts[number].batch)
    return false;
  hearth_block_set_state(block, HEARTH_BLOCK_FREE);
  push(&cache->classes[number].free, block);
  ++cache->classes[number].count;
  return true;
}

inline bool hearth_heap_resize_unrecorded(void *pointer, size_t size) {
  uint64_t number = unrecorded_class(pointer);

  if (number >= CLASSES || !hearth_capacity_suits(facts[number].size - sizeof(hearth_block), size))
    return false;
  ((hearth_block *)pointer - 1)->size = size;
  return true;
}

/* The header is believed, as above: a pointer into a block passes for a block only if the two bytes of a live block's
 * state and class are before it. */
inline bool hearth_heap_has_fast_path(const void *pointer, const hearth_heap_cache *cache) {
  const hearth_block *block = (const hearth_block *)pointer - 1;

  if (!hearth_tracts_contain(pointer) || (uintptr_t)pointer % HEARTH_GRANULE != sizeof *block)
    return false;
  unsigned number = block->size_class;
  return hearth_block_state_of(block) == HEARTH_BLOCK_LIVE && number < CLASSES &&
         cache->classes[number].count + 1 < 2 * facts[number].batch;
}

inline void hearth_heap_give_fast(hearth_block *block, hearth_heap_cache *cache) {
  push(&cache->classes[block->size_class].free, block);
  ++cache->classes[block->size_class].count;
}

hearth_chunk hearth_heap_chunk(hearth_block *block) {
  if (__builtin_expect(hearth_watched_contains(block), false))
    return (hearth_chunk){(char *)block, HEARTH_NO_CLASS};
  hearth_tract tract = hearth_tract_of(block);

  return chunk_of(&tract, block);
}

static size_t chunk_size(const hearth_tract *tract) {
  return tract->kind == HEARTH_TRACT_LARGE ? tract->size : facts[tract->size_class].size;
}

size_t hearth_heap_capacity(hearth_block *block) {
  if (__builtin_expect(hearth_watched_contains(block), false))
    return hearth_watched_capacity(block);
  hearth_tract tract = hearth_tract_of(block);

  return (size_t)(chunk_of(&tract, block).start + chunk_size(&tract) - (char *)hearth_block_memory(block));
}

/* The header of a chunk that other threads may be changing; NULL: there is none. */
static const hearth_block *peek(const char *chunk, size_t size) {
  const hearth_block *first = (const hearth_block *)chunk;
  if (hearth_block_state_of(first) != HEARTH_BLOCK_REDIRECT)
    return first;
  uint64_t distance = __atomic_load_n(&first->size, __ATOMIC_RELAXED);
  return distance <= size - sizeof *first && distance % sizeof *first == 0 ? (const hearth_block *)(chunk + distance)
                                                                           : NULL;
}

/* What of [begin, end) lies in the page, as bits. */
static uint64_t granules_in(const char *page, const char *begin, const char *end) {
  size_t first = begin > page ? (size_t)(begin - page) / HEARTH_GRANULE : 0;
  size_t last = ((size_t)(end - page) - 1) / HEARTH_GRANULE;
  last = last < HEARTH_SEEN_MOST ? last : HEARTH_SEEN_MOST - 1;
  return UINT64_MAX << first & UINT64_MAX >> (HEARTH_SEEN_MOST - 1 - last);
}

static bool see(const char *page, const char *chunk, size_t size, hearth_seen_block *ret) {
  const hearth_block *block = peek(chunk, size);
  uint8_t state = block ? hearth_block_state_of(block) : HEARTH_BLOCK_RAW;
  if (state != HEARTH_BLOCK_LIVE && state != HEARTH_BLOCK_ENDING && state != HEARTH_BLOCK_FREE)
    return false;
  uint64_t bytes = __atomic_load_n(&block->size, __ATOMIC_RELAXED);
  const char *memory = (const char *)(block + 1), *end = chunk + size;
  if (bytes < (uint64_t)(end - memory))
    end = memory + bytes + (bytes == 0);
  if (end <= page)
    return false;
  ret->granules = granules_in(page, chunk, end);
  ret->end = end < page + HEARTH_OS_PAGE ? end : page + HEARTH_OS_PAGE;
  ret->begin = memory < page ? page : memory < ret->end ? memory : ret->end;
  ret->alloc_ns = __atomic_load_n(&block->alloc_ns, __ATOMIC_RELAXED);
  ret->context = __atomic_load_n(&block->context, __ATOMIC_RELAXED);
  ret->pages = (uint32_t)(((uintptr_t)end - 1) / HEARTH_OS_PAGE - (uintptr_t)chunk / HEARTH_OS_PAGE + 1);
  ret->is_live = state == HEARTH_BLOCK_LIVE;
  return true;
}

uint32_t hearth_heap_see(const char *page, uint64_t wanted, hearth_seen_block *ret) {
  hearth_tract tract;
  uint32_t count = 0;

  if (!wanted || !hearth_tract_peek(page, &tract) || tract.size_class >= CLASSES)
    return 0;
  size_t size = chunk_size(&tract);
  const char *end = tract.start + tract.size, *chunk = tract.start + (size_t)(page - tract.start) / size * size;
  for (; chunk < page + HEARTH_OS_PAGE && size <= (size_t)(end - chunk); chunk += size)
    if (granules_in(page, chunk, chunk + size) & wanted && see(page, chunk, size, &ret[count]))
      ++count;
  return count;
}

bool hearth_heap_see_byte(const char *byte, hearth_seen_block *ret) {
  const char *page = byte - (uintptr_t)byte % HEARTH_OS_PAGE;
  hearth_tract tract;

  if (!hearth_tract_peek(byte, &tract) || tract.size_class >= CLASSES)
    return false;
  size_t size = chunk_size(&tract);
  const char *end = tract.start + tract.size, *chunk = tract.start + (size_t)(byte - tract.start) / size * size;
  return size <= (size_t)(end - chunk) && see(page, chunk, size, ret) && ret->begin <= byte && byte < ret->end;
}

typedef struct watched_visit {
  void (*visit)(hearth_block *block, void *closure);
  void *closure;
} watched_visit;

static void visit_watched(hearth_block *block, void *closure) {
  const watched_visit *inner = closure;
  uint8_t state = hearth_block_state_of(block);

  if (state == HEARTH_BLOCK_LIVE || state == HEARTH_BLOCK_ENDING)
    inner->visit(block, inner->closure);
}

void hearth_heap_each(void (*visit)(hearth_block *block, void *closure), void *closure) {
  hearth_tract tract;

  for (uint32_t sector = 0; hearth_tract_next(&sector, &tract);) {
    if (tract.kind == HEARTH_TRACT_HEADERLESS)
      continue;
    size_t size = chunk_size(&tract);
    for (char *chunk = tract.start; chunk + size <= tract.start + tract.size; chunk += size) {
      hearth_block *block = follow(chunk);
      uint8_t state = hearth_block_state_of(block);
      if (state != HEARTH_BLOCK_LIVE && state != HEARTH_BLOCK_ENDING)
        continue;
      /* A program that writes past its blocks must not make the runtime read past the heap. */
      if (block->size <= (size_t)(chunk + size - (char *)hearth_block_memory(block)))
        visit(block, closure);
    }
  }
  hearth_watched_each(visit_watched, &(watched_visit){visit, closure});
}

static void count_tract(hearth_heap_usage *usage, const hearth_tract *tract) {
  if (tract->kind == HEARTH_TRACT_HEADERLESS) {
    usage->small_tract_bytes += tract->size;
    hearth_headerless_count(tract, &usage->chunk_bytes, &usage->blocks);
    return;
  }
  size_t size = chunk_size(tract);
  *(tract->kind == HEARTH_TRACT_LARGE ? &usage->large_tract_bytes : &usage->small_tract_bytes) += tract->size;
  for (char *chunk = tract->start; chunk + size <= tract->start + tract->size; chunk += size)
    if (hearth_block_state_of(follow(chunk)) == HEARTH_BLOCK_LIVE) {
      usage->chunk_bytes += size;
      ++usage->blocks;
      usage->large_blocks += tract->kind == HEARTH_TRACT_LARGE;
    }
}

hearth_heap_usage hearth_heap_get_usage(void) {
  hearth_heap_usage usage = {0};
  hearth_tract tract;

  for (uint32_t sector = 0; hearth_tract_next(&sector, &tract);)
    count_tract(&usage, &tract);
  return usage;
}

unsigned hearth_heap_lock(void) {
  unsigned missed = 0;

  for (unsigned i = 0; i < CLASSES; ++i)
    missed += !hearth_lock_take_or_keep(&classes[i].lock);
  missed += hearth_headerless_lock();
  missed += !hearth_lock_take_or_keep(&hearth_watched_lock);
  hearth_tracts_lock();
  return missed;
}

void hearth_heap_unlock(void) {
  hearth_tracts_unlock();
  hearth_lock_give_or_keep(&hearth_watched_lock);
  hearth_headerless_unlock();
  for (unsigned i = CLASSES; i-- > 0;)
    hearth_lock_give_or_keep(&classes[i].lock);
}
