#include "heap.h"

#include "lock.h"
#include "runs.h"
#include "section.h"

#define SMALL_MOST   ((size_t)32768) /* largest chunk of a size class; larger blocks have a run of their own */
#define SMALL_RUN    (4 * HEARTH_UNIT)
#define FINE_MOST    ((size_t)1024) /* up to here one class for each multiple of 64, then four for each doubling */
#define FINE_CLASSES (FINE_MOST / HEARTH_GRANULE)
#define CLASSES      HEARTH_HEAP_CLASSES
#define BATCH_BYTES  ((size_t)8192) /* moved at once between a class and a thread's cache */
#define BATCH_MOST   32             /* chunks */

_Static_assert(CLASSES == FINE_CLASSES + 4 * 5, "five doublings lead to SMALL_MOST");

/* One line of cache each: classes are locked independently. */
static struct size_class {
  hearth_lock lock;
  hearth_block *free;
  char *fresh, *fresh_end; /* of the class's newest run: chunks never handed out */
} __attribute__((aligned(64))) classes[CLASSES];

/* 2^32 / granules of a class's chunks, rounded up: multiplying by it divides, exactly for offsets in a small run. */
static uint64_t reciprocals[CLASSES];

/* Chunks of a class that are moved at once; 0: threads keep none. */
static uint32_t batches[CLASSES];

static size_t class_size(unsigned class) {
  if (class < FINE_CLASSES)
    return (class + 1) * HEARTH_GRANULE;
  unsigned coarse = class - FINE_CLASSES;
  return (FINE_MOST + (coarse % 4 + 1) * (FINE_MOST / 4)) << (coarse / 4);
}

/* The least class whose chunks have `size` bytes; size in [1, SMALL_MOST]. */
static unsigned class_of(size_t size) {
  if (size <= FINE_MOST)
    return (unsigned)((size - 1) / HEARTH_GRANULE);
  unsigned doubling = 63u - (unsigned)__builtin_clzll((size - 1) / FINE_MOST);
  return (unsigned)(FINE_CLASSES + 4 * doubling + ((size - 1) >> doubling) / (FINE_MOST / 4) - 4);
}

bool hearth_heap_create(void) {
  for (unsigned i = 0; i < CLASSES; ++i) {
    size_t size = class_size(i), batch = BATCH_BYTES / size;
    reciprocals[i] = (UINT64_C(1) << 32) / (size / HEARTH_GRANULE) + 1;
    batches[i] = batch < 2 ? 0 : batch < BATCH_MOST ? (uint32_t)batch : BATCH_MOST;
  }
  return hearth_runs_create();
}

/* Bytes from the chunk's start to the user's bytes. For alignments above 32 the redirect and the header need 64 bytes,
 * which the first aligned address behind the chunk's start leaves. */
static size_t user_offset(const char *chunk, size_t alignment) {
  if (alignment <= HEARTH_ALIGNMENT)
    return sizeof(hearth_block);
  return (((uintptr_t)chunk + alignment) & ~(alignment - 1)) - (uintptr_t)chunk;
}

/* Lay out header and, if needed, redirect. For a reused chunk this is done under the lock of its class, or of the cache
 * that it was in: its old headers must not be misread while blocks are enumerated. */
static hearth_block *lay_out(char *chunk, size_t size, size_t alignment) {
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
  return block;
}

/* Never used chunk of a class; NULL: no memory. The class is locked. */
static char *take_fresh(unsigned number) {
  struct size_class *class = &classes[number];
  size_t size = class_size(number);

  if ((size_t)(class->fresh_end - class->fresh) < size) {
    char *run = hearth_run_take(HEARTH_RUN_SMALL, (uint8_t)number, SMALL_RUN);
    if (!run)
      return NULL;
    class->fresh = run;
    class->fresh_end = run + SMALL_RUN;
  }
  char *chunk = class->fresh;
  class->fresh += size;
  return chunk;
}

static hearth_block *take_large(size_t need, size_t size, size_t alignment, bool *ret_zeroed) {
  char *run = hearth_run_take(HEARTH_RUN_LARGE, 0, need);

  *ret_zeroed = true;
  return run ? lay_out(run, size, alignment) : NULL;
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

/* Fill a thread's empty list. */
static void fill(hearth_heap_cache *cache, unsigned number) {
  struct size_class *class = &classes[number];

  if (!hearth_section_take(&class->lock))
    return;
  for (uint32_t wanted = batches[number]; wanted > 0; --wanted) {
    hearth_block *chunk = class->free ? pop(&class->free) : (hearth_block *)take_fresh(number);
    if (!chunk)
      break;
    push(&cache->classes[number].free, chunk);
    ++cache->classes[number].count;
  }
  hearth_lock_give(&class->lock);
}

/* Move chunks from a thread's list to the class's until `keep` are left. */
static void spill(hearth_heap_cache *cache, unsigned number, uint32_t keep) {
  struct size_class *class = &classes[number];

  if (cache->classes[number].count <= keep || !hearth_section_take(&class->lock))
    return;
  for (; cache->classes[number].count > keep; --cache->classes[number].count)
    push(&class->free, pop(&cache->classes[number].free));
  hearth_lock_give(&class->lock);
}

void hearth_heap_cache_flush(hearth_heap_cache *cache) {
  for (unsigned number = 0; number < CLASSES; ++number)
    spill(cache, number, 0);
}

static hearth_block *take_cached(hearth_heap_cache *cache, unsigned number) {
  if (!cache->classes[number].free)
    fill(cache, number);
  if (!cache->classes[number].free)
    return NULL;
  --cache->classes[number].count;
  return pop(&cache->classes[number].free);
}

static hearth_block *take_small(size_t need, size_t size, size_t alignment, hearth_heap_cache *cache,
                                bool *ret_zeroed) {
  unsigned number = class_of(need);

  *ret_zeroed = false;
  hearth_block *cached = cache && batches[number] ? take_cached(cache, number) : NULL;
  if (cached)
    return lay_out((char *)cached, size, alignment);

  /* A signal handler takes from the least class that is not locked. */
  while (number < CLASSES && !hearth_section_take(&classes[number].lock))
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
  hearth_block *block = chunk ? lay_out(chunk, size, alignment) : NULL;
  hearth_lock_give(&class->lock);
  return block;
}

hearth_block *hearth_heap_take(size_t size, size_t alignment, hearth_heap_cache *cache, bool *ret_zeroed) {
  size_t extra = alignment <= HEARTH_ALIGNMENT ? sizeof(hearth_block) : alignment;
  size_t need;

  /* Empty blocks have a byte, so that their address lies in their chunk. */
  if (__builtin_add_overflow(size ? size : 1, extra, &need))
    return NULL;
  if (need <= SMALL_MOST)
    return take_small(need, size, alignment, cache, ret_zeroed);
  return take_large(need, size, alignment, ret_zeroed);
}

/* The chunk that `address` lies in, which is in `run`. */
static char *chunk_of(const hearth_run *run, const void *address) {
  if (run->kind == HEARTH_RUN_LARGE)
    return run->start;
  uint64_t granule = (uint64_t)((const char *)address - run->start) / HEARTH_GRANULE;
  return run->start + (granule * reciprocals[run->size_class] >> 32) * class_size(run->size_class);
}

static hearth_block *follow(char *chunk) {
  hearth_block *block = (hearth_block *)chunk;

  return hearth_block_state_of(block) == HEARTH_BLOCK_REDIRECT ? (hearth_block *)(chunk + block->size) : block;
}

hearth_pointer_kind hearth_heap_find(const void *pointer, hearth_block **ret_block) {
  hearth_run run;

  if (!hearth_runs_contain(pointer))
    return HEARTH_POINTER_FOREIGN;
  if (!hearth_run_find(pointer, &run))
    return HEARTH_POINTER_BAD; /* among them freed large blocks */
  hearth_block *block = follow(chunk_of(&run, pointer));
  if (hearth_block_memory(block) != pointer)
    return HEARTH_POINTER_BAD;
  uint8_t state = hearth_block_state_of(block);
  if (state == HEARTH_BLOCK_FREE || state == HEARTH_BLOCK_ENDING)
    return HEARTH_POINTER_FREED;
  if (state == HEARTH_BLOCK_LIVE) {
    *ret_block = block;
    return HEARTH_POINTER_LIVE;
  }
  return HEARTH_POINTER_BAD;
}

hearth_pointer_kind hearth_heap_claim(void *pointer, hearth_block **ret_block) {
  hearth_pointer_kind kind = hearth_heap_find(pointer, ret_block);
  uint8_t live = HEARTH_BLOCK_LIVE;

  if (kind == HEARTH_POINTER_LIVE &&
      !__atomic_compare_exchange_n(&(*ret_block)->state, &live, (uint8_t)HEARTH_BLOCK_ENDING, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE))
    return HEARTH_POINTER_FREED;
  return kind;
}

bool hearth_heap_give(hearth_block *block, hearth_heap_cache *cache) {
  hearth_run run;

  hearth_run_find(block, &run); /* cannot fail: the block was claimed */
  if (run.kind == HEARTH_RUN_LARGE) {
    hearth_run_give(run.start);
    return true;
  }
  /* A redirect stays, so that freeing the same pointer again is recognised; its second word is unused. */
  hearth_block *chunk = (hearth_block *)chunk_of(&run, block);
  uint32_t batch = batches[run.size_class];
  if (cache && batch) {
    push(&cache->classes[run.size_class].free, chunk);
    if (++cache->classes[run.size_class].count >= 2 * batch)
      spill(cache, run.size_class, batch);
    return true;
  }
  struct size_class *class = &classes[run.size_class];
  if (!hearth_section_take(&class->lock))
    return false;
  push(&class->free, chunk);
  hearth_lock_give(&class->lock);
  return true;
}

static size_t chunk_size(const hearth_run *run) {
  return run->kind == HEARTH_RUN_LARGE ? run->size : class_size(run->size_class);
}

size_t hearth_heap_capacity(hearth_block *block) {
  hearth_run run;

  hearth_run_find(block, &run); /* cannot fail: the block is live */
  return (size_t)(chunk_of(&run, block) + chunk_size(&run) - (char *)hearth_block_memory(block));
}

void hearth_heap_each(void (*visit)(hearth_block *block, void *closure), void *closure) {
  hearth_run run;

  for (uint32_t unit = 0; hearth_run_next(&unit, &run);) {
    size_t size = chunk_size(&run);
    for (char *chunk = run.start; chunk + size <= run.start + run.size; chunk += size) {
      hearth_block *block = follow(chunk);
      uint8_t state = hearth_block_state_of(block);
      if (state != HEARTH_BLOCK_LIVE && state != HEARTH_BLOCK_ENDING)
        continue;
      /* A program that writes past its blocks must not make the runtime read past the heap. */
      if (block->size <= (size_t)(chunk + size - (char *)hearth_block_memory(block)))
        visit(block, closure);
    }
  }
}

static void count_run(hearth_heap_usage *usage, const hearth_run *run) {
  size_t size = chunk_size(run);

  *(run->kind == HEARTH_RUN_LARGE ? &usage->large_run_bytes : &usage->small_run_bytes) += run->size;
  for (char *chunk = run->start; chunk + size <= run->start + run->size; chunk += size)
    if (hearth_block_state_of(follow(chunk)) == HEARTH_BLOCK_LIVE) {
      usage->chunk_bytes += size;
      ++usage->blocks;
      usage->large_blocks += run->kind == HEARTH_RUN_LARGE;
    }
}

hearth_heap_usage hearth_heap_get_usage(void) {
  hearth_heap_usage usage = {0};
  hearth_run run;

  for (uint32_t unit = 0; hearth_run_next(&unit, &run);)
    count_run(&usage, &run);
  return usage;
}

unsigned hearth_heap_lock(void) {
  unsigned missed = 0;

  for (unsigned i = 0; i < CLASSES; ++i)
    missed += !hearth_lock_take_or_keep(&classes[i].lock);
  hearth_runs_lock();
  return missed;
}

void hearth_heap_unlock(void) {
  hearth_runs_unlock();
  for (unsigned i = CLASSES; i-- > 0;)
    hearth_lock_give_or_keep(&classes[i].lock);
}
