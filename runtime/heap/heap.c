/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Size classes with free lists: each thread keeps some chunks of each class, and moves them in batches from and to the
 * class's spans, which are locked. Larger blocks have a span of their own. A block is found by its span and a division. */
#include "heap.h"

#include "os.h"
#include "output.h"
#include "running_profile.h"
#include "shadow.h"
#include "thread_state.h"

#define CHUNK_SMALL_MOST   ((size_t)32768) /* largest chunk of a size class; larger blocks have a span of their own */
#define CHUNK_FINE_CLASSES HEARTH_SMALL_CLASSES /* up to here one class for each multiple of 16 */
#define CHUNK_FIRST        ((size_t)8)          /* from the start of a span to its first header */
#define CHUNK_CLASSES      HEARTH_HEAP_CLASSES

/* One line of cache each: classes are locked independently. */
static struct size_class {
  hearth_lock lock;
  hearth_class_spans spans;
  char *fresh, *fresh_end; /* of the class's newest span: chunks never handed out */
  char *ready;             /* pages of it before this are there, so far as this is above `fresh` */
  bool is_common;          /* it is not the class's first */
} __attribute__((aligned(64))) size_classes[CHUNK_CLASSES];

/* Facts about a class that are known from the beginning. */
static struct class_facts {
  uint32_t size;     /* of its chunks */
  uint32_t capacity; /* of these, for the user's bytes */
  uint32_t batch;    /* chunks that are moved at once; 0: threads keep none */
  uint32_t chunks;   /* of a span */
  uint64_t
      reciprocal; /* 2^32 / granules of a chunk, rounded up: multiplying by it divides offsets in small spans exactly */
} class_facts[CHUNK_CLASSES];

/* Do the chunks of a class have far headers? */
static inline bool chunk_is_far(unsigned class) { return class >= CHUNK_FINE_CLASSES; }

/* Small, so that they get empty; with room for some chunks. */
static inline size_t span_size(unsigned class) { return chunk_is_far(class) ? 4 * HEARTH_SLICE : HEARTH_SLICE; }

/* Bytes from a span's start that its chunks may take, the first CHUNK_FIRST bytes included. */
static inline size_t span_end(unsigned class) {
  return span_size(class) + (chunk_is_far(class) ? CHUNK_FIRST : 0); /* the last word is for no next one */
}

/* The least class whose chunks have `size` bytes; size in [1, CHUNK_SMALL_MOST]. Classes are those of
 * size_classes.h, from 0. */
static inline unsigned chunk_class_of(size_t size) { return (unsigned)hearth_class_of(size) - 1; }

static inline hearth_header *chunk_follow(hearth_header *first) {
  uint64_t word = hearth_header_load(first);

  return (word & HEARTH_STATE_MASK) == HEARTH_BLOCK_REDIRECT
             ? (hearth_header *)((char *)first + (word >> HEARTH_STATE_BITS))
             : first;
}

/* Bytes from the first header of a chunk to its end, for the user of the chunk. */
static inline size_t chunk_room_of(const hearth_span *span) {
  return span->kind == HEARTH_SPAN_LARGE ? span->size - CHUNK_FIRST
                                         : class_facts[span->size_class].capacity + sizeof(hearth_header);
}

/* The slack of a header that does not begin its chunk is always far. */
static inline size_t chunk_capacity_of(const hearth_span *span) {
  return span->kind == HEARTH_SPAN_SMALL ? class_facts[span->size_class].capacity : 0;
}

#define LEAST       ((size_t)32)    /* a chunk has room for what is noted of blocks that wait for their end */
#define READY_BYTES ((size_t)65536) /* that are made ready at once */
#define BATCH_BYTES ((size_t)8192)  /* moved at once between a class and a thread's cache */
#define BATCH_MOST  32              /* chunks */

_Static_assert(CHUNK_CLASSES == CHUNK_FINE_CLASSES + 8 * 5, "five doublings lead to CHUNK_SMALL_MOST");

bool hearth_heap_create(void) {
  for (unsigned i = 0; i < CHUNK_CLASSES; ++i) {
    size_t size = hearth_class_granules(i + 1) * HEARTH_GRANULE, batch = BATCH_BYTES / size;
    class_facts[i] = (struct class_facts){
        .size = (uint32_t)size,
        .capacity = (uint32_t)(size - sizeof(hearth_header) - (chunk_is_far(i) ? sizeof(hearth_header) : 0)),
        .batch = batch < 2            ? 0
                 : batch < BATCH_MOST ? (uint32_t)batch
                                      : BATCH_MOST,
        .chunks = (uint32_t)((span_end(i) - CHUNK_FIRST) / size),
        .reciprocal = (UINT64_C(1) << 32) / (size / HEARTH_GRANULE) + 1,
    };
  }
  return hearth_spans_create();
}

void hearth_ensure_heap(void) {
  static bool ready;

  if (__builtin_expect(ready, true))
    return;
  if (!hearth_heap_create()) {
    if (hearth_recorder)
      hearth_recorder->give_up();
    hearth_message("cannot reserve address space for the heap (see ulimit -v)");
    hearth_os_exit(1);
  }
  ready = true;
}

/* Bytes of a chunk that has a block of `size` bytes. Empty blocks have a byte, so that their address lies in their
 * chunk. False: there are no such chunks. */
static inline bool need_for(size_t size, size_t alignment, size_t *ret) {
  size_t extra = sizeof(hearth_header);

  if (__builtin_expect(alignment > HEARTH_MALLOC_ALIGNMENT, false))
    extra += 2 * sizeof(hearth_header) + alignment;
  if (__builtin_add_overflow(size ? size : 1, extra, ret))
    return false;
  if (__builtin_expect(*ret > HEARTH_SMALL_BYTES || hearth_shadow_is_coarse, false)) {
    size_t step = hearth_shadow_is_coarse ? HEARTH_LINE : 1;
    if (*ret > SIZE_MAX / 2)
      return false;
    *ret = (*ret + sizeof(hearth_header) + step - 1) & ~(step - 1);
  }
  *ret = *ret < LEAST ? LEAST : *ret;
  return true;
}

static inline void set_raw(hearth_header *header, uint64_t slack) {
  __atomic_store_n(header, slack << HEARTH_STATE_BITS | HEARTH_BLOCK_RAW, __ATOMIC_RELEASE);
}

static inline void set_far(hearth_header *header, size_t size) {
  header[-1] = size;
  set_raw(header, HEARTH_SLACK_FAR);
}

/* A block with a redirect: the user's bytes of an earlier block may look like anything, so its header comes first. */
static hearth_header *lay_out_aligned(hearth_header *first, size_t size, size_t alignment) {
  uintptr_t user = ((uintptr_t)(first + 3) + alignment - 1) & ~(uintptr_t)(alignment - 1);
  hearth_header *header = (hearth_header *)user - 1;

  set_raw(first, 0);
  set_far(header, size);
  __atomic_store_n(first, (uint64_t)((char *)header - (char *)first) << HEARTH_STATE_BITS | HEARTH_BLOCK_REDIRECT,
                   __ATOMIC_RELEASE);
  return header;
}

/* Lay out header and, if needed, redirect, in a chunk with that capacity. For a reused chunk this is done under the
 * lock of its class, or of the cache that it was in: its old headers must not be misread while blocks are
 * enumerated. */
static inline hearth_header *lay_out(hearth_header *first, size_t capacity, bool far, size_t size, size_t alignment) {
  if (__builtin_expect(alignment > HEARTH_MALLOC_ALIGNMENT, false))
    return lay_out_aligned(first, size, alignment);
  hearth_expect(far || (size <= capacity && capacity - size < HEARTH_SLACK_FAR));
  if (__builtin_expect(far, false))
    set_far(first, size);
  else
    set_raw(first, capacity - size);
  return first;
}

/* A class that has filled a span soon uses the next pages, too. */
static void make_ready(struct size_class *class) {
  size_t left = (size_t)(class->fresh_end - class->ready) & ~(HEARTH_PAGE_BYTES - 1);

  hearth_system_populate(class->ready, READY_BYTES < left ? READY_BYTES : left);
  class->ready += READY_BYTES < left ? READY_BYTES : left;
}

/* Never used chunk of a class; NULL: no memory. The class is locked. */
static hearth_header *take_fresh(unsigned number) {
  struct size_class *class = &size_classes[number];
  size_t size = class_facts[number].size;

  if ((size_t)(class->fresh_end - class->fresh) < size) {
    char *span = hearth_span_take(HEARTH_SPAN_SMALL, (uint8_t)number, span_size(number));
    if (!span)
      return NULL;
    class->is_common = class->fresh != NULL;
    class->fresh = span + CHUNK_FIRST;
    class->ready = span;
    class->fresh_end = span + span_end(number);
    hearth_class_spans_note_new(&class->spans, hearth_slice_of(span));
  }
  hearth_header *first = (hearth_header *)class->fresh;
  class->fresh += size;
  hearth_expect(class->fresh <= class->fresh_end);
  while (class->is_common && class->ready < class->fresh && class->ready + HEARTH_PAGE_BYTES <= class->fresh_end)
    make_ready(class);
  return first;
}

static hearth_header *chunk_take_large(size_t need, size_t size, size_t alignment, size_t spare, bool *ret_zeroed) {
  size_t least = need + CHUNK_FIRST;
  char *span = spare ? hearth_span_take(HEARTH_SPAN_LARGE, HEARTH_NO_CLASS, least + spare) : NULL;

  if (!span)
    span = hearth_span_take(HEARTH_SPAN_LARGE, HEARTH_NO_CLASS, least);
  *ret_zeroed = true;
  return span ? lay_out((hearth_header *)(span + CHUNK_FIRST), 0, true, size, alignment) : NULL;
}

/* The link of a free chunk is behind its header, which stays, so that freeing the same pointer again is recognised. */
static inline hearth_header **link_of(hearth_header *first) { return (hearth_header **)(first + 1); }

static inline void push_chunk(hearth_header **list, hearth_header *first) {
  *link_of(first) = *list;
  *list = first;
}

static inline hearth_header *pop_chunk(hearth_header **list) {
  hearth_header *first = *list;

  hearth_expect(first);
  *list = *link_of(first);
  return first;
}

/* A free chunk of a class, which is locked; NULL: one is to be taken fresh. */
static hearth_header *take_free_chunk(unsigned number) {
  hearth_slice *span = hearth_class_spans_first(&size_classes[number].spans);

  if (!span)
    return NULL;
  hearth_header *first = span->free_chunks;
  hearth_expect(hearth_span_first_slice(first) == span && span->size_class == number);
  span->free_chunks = *link_of(first);
  hearth_class_spans_note_taken(&size_classes[number].spans, span, class_facts[number].chunks);
  return first;
}

static void give_free_chunk(unsigned number, hearth_header *first) {
  hearth_slice *span = hearth_span_first_slice(first);

  hearth_expect(span->kind == HEARTH_SPAN_SMALL && span->size_class == number);
  hearth_expect(((uintptr_t)first - (uintptr_t)hearth_span_start(span) - CHUNK_FIRST) % class_facts[number].size == 0);
  *link_of(first) = span->free_chunks;
  span->free_chunks = first;
  hearth_class_spans_note_given(&size_classes[number].spans, span, class_facts[number].chunks);
}

/* Move chunks from a thread's list to the class's until `keep` are left. */
static void spill_chunks(hearth_heap_cache *cache, unsigned number, uint32_t keep) {
  struct size_class *class = &size_classes[number];

  if (cache->classes[number].count <= keep || !hearth_reentry_take(&class->lock))
    return;
  for (; cache->classes[number].count > keep; --cache->classes[number].count)
    give_free_chunk(number, pop_chunk(&cache->classes[number].free));
  hearth_class_spans_unlock(&class->spans, &class->lock);
}

/* Of one class at a time, chunks that the thread did not need since its last turn: a thread that is done with a size
 * would keep a span for each of them. */
static void spill_idle(hearth_heap_cache *cache) {
  unsigned number = cache->turn++ % CHUNK_CLASSES;

  if (cache->classes[number].seen == cache->classes[number].count)
    spill_chunks(cache, number, 0);
  cache->classes[number].seen = cache->classes[number].count;
}

static __attribute__((noinline)) void spill_full(hearth_heap_cache *cache, unsigned number) {
  spill_chunks(cache, number, class_facts[number].batch);
  spill_idle(cache);
}

/* Fill a thread's empty list, in the order of addresses where the chunks are fresh: programs often use what they
 * allocate one after the other in the same order, and processors fetch ahead upwards. */
static __attribute__((noinline)) void fill_cache(hearth_heap_cache *cache, unsigned number) {
  struct size_class *class = &size_classes[number];
  hearth_header **end = &cache->classes[number].free;

  spill_idle(cache);
  if (!hearth_reentry_take(&class->lock))
    return;
  for (uint32_t wanted = class_facts[number].batch; wanted > 0; --wanted) {
    hearth_header *first = take_free_chunk(number);
    if (!first && !(first = take_fresh(number)))
      break;
    *end = first;
    end = link_of(first);
    *end = NULL;
    ++cache->classes[number].count;
  }
  hearth_lock_give(&class->lock);
}

void hearth_heap_cache_flush(hearth_heap_cache *cache) {
  for (unsigned number = 0; number < CHUNK_CLASSES; ++number)
    spill_chunks(cache, number, 0);
}

static inline hearth_header *take_cached(hearth_heap_cache *cache, unsigned number) {
  if (!cache->classes[number].free)
    fill_cache(cache, number);
  if (!cache->classes[number].free)
    return NULL;
  hearth_expect(cache->classes[number].count > 0);
  --cache->classes[number].count;
  return pop_chunk(&cache->classes[number].free);
}

/* A signal handler that would have to wait for the class takes a span of its own. */
static __attribute__((noinline)) hearth_header *take_shared(unsigned number, size_t need, size_t size, size_t alignment,
                                                            bool *ret_zeroed) {
  struct size_class *class = &size_classes[number];

  if (!hearth_reentry_take(&class->lock))
    return chunk_take_large(need, size, alignment, 0, ret_zeroed);
  hearth_header *first = take_free_chunk(number);
  *ret_zeroed = !first;
  if (!first)
    first = take_fresh(number);
  hearth_header *header =
      first ? lay_out(first, class_facts[number].capacity, chunk_is_far(number), size, alignment) : NULL;
  hearth_lock_give(&class->lock);
  return header;
}

inline hearth_header *hearth_heap_take(size_t size, size_t alignment, size_t spare, hearth_heap_cache *cache,
                                       bool *ret_zeroed) {
  size_t need;

  if (!need_for(size, alignment, &need))
    return NULL;
  if (need > CHUNK_SMALL_MOST)
    return chunk_take_large(need, size, alignment, spare, ret_zeroed);
  unsigned number = chunk_class_of(need);
  hearth_header *cached = cache && class_facts[number].batch ? take_cached(cache, number) : NULL;
  if (!cached)
    return take_shared(number, need, size, alignment, ret_zeroed);
  *ret_zeroed = false;
  return lay_out(cached, class_facts[number].capacity, chunk_is_far(number), size, alignment);
}

inline hearth_header *hearth_heap_take_cached(size_t size, hearth_heap_cache *cache) {
  size_t need;

  if (!need_for(size, HEARTH_MALLOC_ALIGNMENT, &need) || need > CHUNK_SMALL_MOST)
    return NULL;
  unsigned number = chunk_class_of(need);
  if (__builtin_expect(!cache->classes[number].free, false))
    return NULL;
  --cache->classes[number].count;
  return lay_out(pop_chunk(&cache->classes[number].free), class_facts[number].capacity, chunk_is_far(number), size,
                 HEARTH_MALLOC_ALIGNMENT);
}

/* The chunk that `address` lies in, which is in `span` and behind its first header. */
static inline hearth_chunk chunk_of(const hearth_span *span, const void *address) {
  if (span->kind == HEARTH_SPAN_LARGE)
    return (hearth_chunk){(hearth_header *)(span->start + CHUNK_FIRST), HEARTH_NO_CLASS};
  const struct class_facts *class = &class_facts[span->size_class];
  uint64_t granule = (uint64_t)((const char *)address - span->start - CHUNK_FIRST) / HEARTH_GRANULE;
  return (hearth_chunk){
      (hearth_header *)(span->start + CHUNK_FIRST + (granule * class->reciprocal >> 32) * class->size),
      span->size_class};
}

static __attribute__((noinline)) hearth_pointer_kind find_outside(const void *pointer, hearth_block *ret_block,
                                                                  hearth_chunk *ret_chunk) {
  if (hearth_slice_of(pointer)) /* freed large blocks are in our range */
    return HEARTH_POINTER_BAD;
  if (!hearth_watched_contains(pointer))
    return HEARTH_POINTER_FOREIGN;
  hearth_header *header = hearth_watched_find(pointer);
  if (!header)
    return HEARTH_POINTER_BAD;
  *ret_block = hearth_header_read(header, 0);
  *ret_chunk = (hearth_chunk){header, HEARTH_NO_CLASS};
  return hearth_header_state(header) == HEARTH_BLOCK_LIVE ? HEARTH_POINTER_LIVE : HEARTH_POINTER_FREED;
}

inline hearth_pointer_kind hearth_heap_find_chunk(const void *pointer, hearth_block *ret_block,
                                                  hearth_chunk *ret_chunk) {
  hearth_header *header = (hearth_header *)pointer - 1;
  hearth_span span;

  if (__builtin_expect(!hearth_span_peek(pointer, &span), false))
    return find_outside(pointer, ret_block, ret_chunk);
  if (__builtin_expect((uintptr_t)pointer % HEARTH_GRANULE != 0 || (const char *)header < span.start, false))
    return HEARTH_POINTER_BAD;
  *ret_chunk = chunk_of(&span, header);
  if (__builtin_expect(header != ret_chunk->first, false) && header != chunk_follow(ret_chunk->first))
    return HEARTH_POINTER_BAD;
  hearth_block_state state = hearth_header_state(header);
  *ret_block = hearth_header_read(header, chunk_capacity_of(&span));
  if (__builtin_expect(state == HEARTH_BLOCK_LIVE, true))
    return HEARTH_POINTER_LIVE;
  return state == HEARTH_BLOCK_FREE || state == HEARTH_BLOCK_ENDING ? HEARTH_POINTER_FREED : HEARTH_POINTER_BAD;
}

hearth_pointer_kind hearth_heap_find(const void *pointer, hearth_block *ret_block) {
  hearth_chunk chunk;

  return hearth_heap_find_chunk(pointer, ret_block, &chunk);
}

inline hearth_pointer_kind hearth_heap_claim(void *pointer, hearth_block *ret_block, hearth_chunk *ret_chunk) {
  hearth_pointer_kind kind = hearth_heap_find_chunk(pointer, ret_block, ret_chunk);

  if (kind == HEARTH_POINTER_LIVE)
    hearth_header_set_state(ret_block->header, HEARTH_BLOCK_ENDING);
  return kind;
}

/* Not to a thread's cache. */
static __attribute__((noinline)) bool give_shared(hearth_chunk chunk) {
  if (chunk.size_class == HEARTH_NO_CLASS) {
    if (hearth_watched_contains(chunk.first))
      hearth_watched_give(chunk.first);
    else
      hearth_span_give((char *)chunk.first - CHUNK_FIRST);
    return true;
  }
  struct size_class *class = &size_classes[chunk.size_class];
  if (!hearth_reentry_take(&class->lock))
    return false;
  give_free_chunk(chunk.size_class, chunk.first);
  hearth_class_spans_unlock(&class->spans, &class->lock);
  return true;
}

inline bool hearth_heap_give(hearth_chunk chunk, hearth_heap_cache *cache) {
  if (!cache || chunk.size_class == HEARTH_NO_CLASS || !class_facts[chunk.size_class].batch)
    return give_shared(chunk);
  uint32_t batch = class_facts[chunk.size_class].batch;
  push_chunk(&cache->classes[chunk.size_class].free, chunk.first);
  if (__builtin_expect(++cache->classes[chunk.size_class].count >= 2 * batch, false))
    spill_full(cache, chunk.size_class);
  return true;
}

/* The table of slices tells the class, and whether a chunk begins there. Inlined, as each caller needs other facts
 * of the block. */
inline __attribute__((always_inline)) unsigned
hearth_heap_find_fast(const void *pointer, const hearth_heap_cache *cache, hearth_block *ret_block) {
  hearth_header *header = (hearth_header *)pointer - 1;
  unsigned number;
  uint32_t offset;

  if (!hearth_span_find_small(pointer, &number, &offset))
    return HEARTH_NO_CLASS;
  const struct class_facts *class = &class_facts[number];
  uint32_t chunk = (uint32_t)((offset - 2 * CHUNK_FIRST) / HEARTH_GRANULE * class->reciprocal >> 32);
  if (offset - 2 * CHUNK_FIRST != chunk * class->size || hearth_header_state(header) != HEARTH_BLOCK_LIVE ||
      cache->classes[number].count + 1 >= 2 * class->batch)
    return HEARTH_NO_CLASS;
  *ret_block = hearth_header_read(header, class->capacity);
  return number;
}

inline void hearth_heap_give_fast(hearth_header *header, unsigned size_class, hearth_heap_cache *cache) {
  push_chunk(&cache->classes[size_class].free, header);
  ++cache->classes[size_class].count;
}

/* Bytes that the chunk of a block has for its user; 0: it is watched, and one that changes its size moves. */
static size_t find_capacity(const hearth_header *header) {
  if (__builtin_expect(hearth_watched_contains(header), false))
    return 0;
  hearth_span span = hearth_span_of(header);
  return (size_t)((char *)chunk_of(&span, header).first + chunk_room_of(&span) - (const char *)(header + 1));
}

static bool has_size_before(const hearth_header *header) {
  return (*header >> HEARTH_STATE_BITS & HEARTH_SLACK_FAR) == HEARTH_SLACK_FAR;
}

bool hearth_heap_can_resize(const hearth_header *header, size_t size) {
  size_t capacity = find_capacity(header), spare = hearth_shadow_is_coarse ? sizeof *header : 0;

  return capacity > spare && size <= capacity - spare && size >= (capacity - spare) / 2 &&
         (has_size_before(header) || capacity - size < HEARTH_SLACK_FAR);
}

bool hearth_heap_resize(hearth_header *header, size_t size) {
  if (!hearth_heap_can_resize(header, size))
    return false;
  uint64_t slack = has_size_before(header) ? HEARTH_SLACK_FAR : find_capacity(header) - size;
  if (slack == HEARTH_SLACK_FAR)
    header[-1] = size;
  __atomic_store_n(header, (*header & ~(HEARTH_SLACK_FAR << HEARTH_STATE_BITS)) | slack << HEARTH_STATE_BITS,
                   __ATOMIC_RELEASE);
  return true;
}

unsigned hearth_heap_lock(void) {
  unsigned missed = 0;

  for (unsigned i = 0; i < CHUNK_CLASSES; ++i)
    missed += !hearth_lock_take_or_keep(&size_classes[i].lock);
  missed += !hearth_lock_take_or_keep(&hearth_watched_lock);
  hearth_spans_lock();
  return missed;
}

void hearth_heap_unlock(void) {
  hearth_spans_unlock();
  hearth_lock_give_or_keep(&hearth_watched_lock);
  for (unsigned i = CHUNK_CLASSES; i-- > 0;)
    hearth_lock_give_or_keep(&size_classes[i].lock);
}

/* -- looking at blocks: at all of them while they stand still, and at one while other threads go on ------------------------- */

/* The header of a chunk that other threads may be changing; NULL: there is none. */
static hearth_header *peek_header(hearth_header *first, size_t room) {
  uint64_t word = hearth_header_load(first), distance = word >> HEARTH_STATE_BITS;

  if ((word & HEARTH_STATE_MASK) != HEARTH_BLOCK_REDIRECT)
    return first;
  return distance <= room - sizeof *first && distance % sizeof *first == 0 ? (hearth_header *)((char *)first + distance)
                                                                           : NULL;
}

/* What of the chunk's block lies in the page, if anything does. */
static bool see_chunk(const char *page, hearth_header *first, const hearth_span *span, hearth_seen_block *ret) {
  size_t room = chunk_room_of(span);
  hearth_header *header = peek_header(first, room);
  uint64_t word = header ? hearth_header_load(header) : HEARTH_BLOCK_RAW;
  hearth_block_state state = (hearth_block_state)(word & HEARTH_STATE_MASK);
  if (state != HEARTH_BLOCK_LIVE && state != HEARTH_BLOCK_ENDING && state != HEARTH_BLOCK_FREE)
    return false;
  uint64_t slack = word >> HEARTH_STATE_BITS & HEARTH_SLACK_FAR;
  const char *memory = (const char *)(header + 1), *end = (const char *)first + room;
  uint64_t bytes =
      slack == HEARTH_SLACK_FAR ? __atomic_load_n(header - 1, __ATOMIC_RELAXED) : (uint64_t)(end - memory) - slack;
  if (bytes < (uint64_t)(end - memory))
    end = memory + bytes + (bytes == 0);
  ret->end = end < page + HEARTH_PAGE_BYTES ? end : page + HEARTH_PAGE_BYTES;
  ret->begin = memory < page ? page : memory < ret->end ? memory : ret->end;
  ret->alloc_ns = hearth_header_time(word);
  ret->context = hearth_header_context(word);
  ret->is_live = state == HEARTH_BLOCK_LIVE;
  return true;
}

/* From the header of one chunk to the next. */
static size_t chunk_step_of(const hearth_span *span) {
  return span->kind == HEARTH_SPAN_LARGE ? span->size : class_facts[span->size_class].size;
}

/* Is there a whole chunk? */
static bool is_chunk(const hearth_span *span, const char *first) {
  return (size_t)(first - span->start) + chunk_room_of(span) <= span->size;
}

/* Of the span that its class takes fresh chunks from, the first that was never handed out; of others NULL. The class
 * is locked. */
static const char *first_fresh(const hearth_span *span) {
  if (span->kind != HEARTH_SPAN_SMALL)
    return NULL;
  const struct size_class *class = &size_classes[span->size_class];
  return span->start + span_end(span->size_class) == class->fresh_end ? class->fresh : NULL;
}

/* Was the chunk ever handed out? Those behind it are not read: that would cost page faults. */
static bool is_chunk_used(const hearth_span *span, const char *first) {
  const char *fresh = first_fresh(span);

  return is_chunk(span, first) && (!fresh || first < fresh);
}

/* As hearth_span_peek, of a span in which chunks can be found. */
static bool peek_span(const char *address, hearth_span *ret) {
  return hearth_span_peek(address, ret) && (ret->kind != HEARTH_SPAN_SMALL || ret->size_class < CHUNK_CLASSES);
}

/* The first header of the chunk that the address lies in; of the span's first chunk for the word before that. */
static char *first_header(const hearth_span *span, const char *address) {
  size_t step = chunk_step_of(span), offset = (size_t)(address - span->start);

  return span->start + CHUNK_FIRST + (offset > CHUNK_FIRST ? (offset - CHUNK_FIRST) / step * step : 0);
}

bool hearth_heap_see_byte(const char *byte, hearth_seen_block *ret) {
  const char *page = byte - (uintptr_t)byte % HEARTH_PAGE_BYTES;
  hearth_span span;

  if (!peek_span(byte, &span))
    return false;
  char *first = first_header(&span, byte);
  return is_chunk(&span, first) && see_chunk(page, (hearth_header *)first, &span, ret) && ret->begin <= byte &&
         byte < ret->end;
}

typedef struct watched_visit {
  void (*visit)(const hearth_block *block, void *closure);
  void *closure;
} watched_visit;

static void visit_watched(hearth_header *header, void *closure) {
  const watched_visit *inner = closure;
  hearth_block_state state = hearth_header_state(header);
  hearth_block block = hearth_header_read(header, 0);

  if (state == HEARTH_BLOCK_LIVE || state == HEARTH_BLOCK_ENDING)
    inner->visit(&block, inner->closure);
}

void hearth_heap_each(void (*visit)(const hearth_block *block, void *closure), void *closure) {
  hearth_span span;

  for (uint32_t slice = 0; hearth_span_next(&slice, &span);)
    for (char *first = span.start + CHUNK_FIRST; is_chunk_used(&span, first); first += chunk_step_of(&span)) {
      hearth_header *header = chunk_follow((hearth_header *)first);
      hearth_block_state state = hearth_header_state(header);
      if (state != HEARTH_BLOCK_LIVE && state != HEARTH_BLOCK_ENDING)
        continue;
      hearth_block block = hearth_header_read(header, chunk_capacity_of(&span));
      /* A program that writes past its blocks must not make the runtime read past the heap. */
      if (block.size <= (size_t)(first + chunk_room_of(&span) - (char *)hearth_header_memory(header)))
        visit(&block, closure);
    }
  hearth_watched_each(visit_watched, &(watched_visit){visit, closure});
}

static void count_span(hearth_heap_usage *usage, const hearth_span *span) {
  size_t size = chunk_step_of(span);
  *(span->kind == HEARTH_SPAN_LARGE ? &usage->large_span_bytes : &usage->small_span_bytes) += span->size;
  for (char *first = span->start + CHUNK_FIRST; is_chunk_used(span, first); first += size)
    if (hearth_header_state(chunk_follow((hearth_header *)first)) == HEARTH_BLOCK_LIVE) {
      usage->chunk_bytes += size;
      ++usage->blocks;
      usage->large_blocks += span->kind == HEARTH_SPAN_LARGE;
    }
}

hearth_heap_usage hearth_heap_get_usage(void) {
  hearth_heap_usage usage = {0};
  hearth_span span;

  for (uint32_t slice = 0; hearth_span_next(&slice, &span);)
    count_span(&usage, &span);
  return usage;
}
