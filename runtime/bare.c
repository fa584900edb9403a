#include "bare.h"

#include "lock.h"
#include "section.h"

#define FREE_MARK        UINT64_C(0xb49a3c5ed7126f81)
#define BARE_BATCH_BYTES ((size_t)8192) /* moved at once between a class and a thread's cache */
#define BARE_BATCH_MOST  ((size_t)32)   /* chunks */

/* One line of cache each: classes are locked independently. What signal handlers free while the lock is taken is set aside:
 * pushed without lock, and taken back all at once by who has it. */
static struct bare_class {
  hearth_lock lock;
  hearth_bare_chunk *free, *aside;
  char *fresh, *fresh_end; /* of the class's newest run: chunks never handed out */
} __attribute__((aligned(64))) bare_classes[HEARTH_BARE_CLASSES];

/* What is known of a class from the beginning. */
static struct bare_facts {
  uint32_t batch;      /* chunks that are moved at once */
  uint32_t reciprocal; /* 2^32 / steps of a chunk, rounded up; 0, which is 2^32, for one step */
} bare_facts[HEARTH_BARE_CLASSES];

static inline size_t bare_size(unsigned number) { return (number + 1) * HEARTH_BARE_STEP; }

static inline void mark_free(hearth_bare_chunk *chunk) {
  uint64_t mark = (uintptr_t)chunk ^ FREE_MARK;

  chunk->mark[0] = (uint32_t)mark;
  chunk->mark[1] = (uint32_t)(mark >> 32);
}

static inline bool is_free(const hearth_bare_chunk *chunk) {
  uint64_t mark = (uintptr_t)chunk ^ FREE_MARK;

  return __builtin_expect(chunk->mark[0] == (uint32_t)mark, false) && chunk->mark[1] == (uint32_t)(mark >> 32);
}

void hearth_bare_create(void) {
  for (unsigned number = 0; number < HEARTH_BARE_CLASSES; ++number) {
    size_t batch = BARE_BATCH_BYTES / bare_size(number);
    bare_facts[number].batch = (uint32_t)(batch < BARE_BATCH_MOST ? batch : BARE_BATCH_MOST);
    bare_facts[number].reciprocal = UINT32_MAX / (number + 1) + 1;
  }
}

static inline void push_bare(hearth_bare_chunk **list, hearth_bare_chunk *chunk) {
  chunk->next = *list;
  mark_free(chunk);
  *list = chunk;
}

static inline hearth_bare_chunk *pop_bare(hearth_bare_chunk **list) {
  hearth_bare_chunk *chunk = *list;

  *list = chunk->next;
  return chunk;
}

/* --- What threads share: classes, locked ---------------------------------------------------------------------------- */

static hearth_bare_chunk *take_fresh_bare(unsigned number) {
  struct bare_class *class = &bare_classes[number];
  size_t size = bare_size(number);

  if ((size_t)(class->fresh_end - class->fresh) < size) {
    char *run = hearth_run_take(HEARTH_RUN_BARE, (uint8_t)number, HEARTH_UNIT);
    if (!run)
      return NULL;
    class->fresh = run;
    class->fresh_end = run + HEARTH_UNIT;
  }
  char *chunk = class->fresh;
  class->fresh += size;
  return (hearth_bare_chunk *)chunk;
}

static void take_aside_back(struct bare_class *class) {
  hearth_bare_chunk *list = __atomic_exchange_n(&class->aside, NULL, __ATOMIC_ACQUIRE);

  while (list)
    push_bare(&class->free, pop_bare(&list));
}

static __attribute__((noinline)) void fill_bare(hearth_bare_cache *cache, unsigned number) {
  struct bare_class *class = &bare_classes[number];

  if (!hearth_section_take(&class->lock))
    return;
  take_aside_back(class);
  for (uint32_t wanted = bare_facts[number].batch; wanted > 0; --wanted) {
    hearth_bare_chunk *chunk = class->free ? pop_bare(&class->free) : take_fresh_bare(number);
    if (!chunk)
      break;
    push_bare(&cache->classes[number].free, chunk);
    ++cache->classes[number].count;
  }
  hearth_lock_give(&class->lock);
}

static __attribute__((noinline)) void spill_bare(hearth_bare_cache *cache, unsigned number, uint32_t keep) {
  struct bare_class *class = &bare_classes[number];

  if (cache->classes[number].count <= keep || !hearth_section_take(&class->lock))
    return;
  for (; cache->classes[number].count > keep; --cache->classes[number].count)
    push_bare(&class->free, pop_bare(&cache->classes[number].free));
  hearth_lock_give(&class->lock);
}

void hearth_bare_cache_flush(hearth_bare_cache *cache) {
  for (unsigned number = 0; number < HEARTH_BARE_CLASSES; ++number)
    spill_bare(cache, number, 0);
}

static void put_bare_aside(struct bare_class *class, hearth_bare_chunk *chunk) {
  mark_free(chunk);
  chunk->next = __atomic_load_n(&class->aside, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&class->aside, &chunk->next, chunk, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
}

static __attribute__((noinline)) void give_bare_shared(unsigned number, hearth_bare_chunk *chunk) {
  struct bare_class *class = &bare_classes[number];

  if (!hearth_section_take(&class->lock)) {
    put_bare_aside(class, chunk);
    return;
  }
  push_bare(&class->free, chunk);
  hearth_lock_give(&class->lock);
}

/* --- Operations ----------------------------------------------------------------------------------------------------- */

inline void *hearth_bare_take(size_t size, hearth_bare_cache *cache) {
  if (size > HEARTH_BARE_MOST)
    return NULL;
  unsigned number = (unsigned)((size - (size != 0)) / HEARTH_BARE_STEP);
  if (__builtin_expect(!cache->classes[number].free, false)) {
    fill_bare(cache, number);
    if (!cache->classes[number].free)
      return NULL;
  }
  hearth_bare_chunk *chunk = pop_bare(&cache->classes[number].free);
  --cache->classes[number].count;
  chunk->mark[0] = 0;
  return chunk;
}

/* Whether an offset in a unit is a multiple of the class's size: Lemire, Kaser and Kurz, "Faster remainder by direct
 * computation" (2019). */
static inline bool begins_chunk(uint32_t offset, unsigned number) {
  uint32_t reciprocal = bare_facts[number].reciprocal;

  return offset % HEARTH_BARE_STEP == 0 && (uint32_t)(offset / HEARTH_BARE_STEP) * reciprocal <= reciprocal - 1;
}

/* ret_number  class of the chunk; set unless it is OTHER */
static inline hearth_bare_kind find_bare(const void *pointer, unsigned *ret_number) {
  const hearth_unit *unit = hearth_unit_of(pointer);

  if (!unit || unit->kind != HEARTH_RUN_BARE)
    return HEARTH_BARE_OTHER;
  unsigned number = *ret_number = unit->size_class;
  if (__builtin_expect(!begins_chunk((uint32_t)((uintptr_t)pointer % HEARTH_UNIT), number), false))
    return HEARTH_BARE_INSIDE;
  return is_free(pointer) ? HEARTH_BARE_FREED : HEARTH_BARE_LIVE;
}

hearth_bare_kind hearth_bare_find(const void *pointer, size_t *ret_size) {
  unsigned number;
  hearth_bare_kind kind = find_bare(pointer, &number);

  if (kind == HEARTH_BARE_LIVE)
    *ret_size = bare_size(number);
  return kind;
}

inline bool hearth_bare_give(void *pointer, hearth_bare_cache *cache) {
  unsigned number;

  if (find_bare(pointer, &number) != HEARTH_BARE_LIVE)
    return false;
  if (__builtin_expect(!cache, false)) {
    give_bare_shared(number, pointer);
    return true;
  }
  push_bare(&cache->classes[number].free, pointer);
  if (__builtin_expect(++cache->classes[number].count >= 2 * bare_facts[number].batch, false))
    spill_bare(cache, number, bare_facts[number].batch);
  return true;
}

/* --- For who has stopped all threads -------------------------------------------------------------------------------- */

void hearth_bare_count(const hearth_run *run, size_t *bytes, size_t *blocks) {
  const struct bare_class *class = &bare_classes[run->size_class];
  size_t size = bare_size(run->size_class);

  for (char *chunk = run->start; chunk + size <= run->start + run->size; chunk += size) {
    bool is_fresh = chunk >= class->fresh && chunk < class->fresh_end;
    if (is_fresh || is_free((hearth_bare_chunk *)chunk))
      continue;
    *bytes += size;
    ++*blocks;
  }
}

unsigned hearth_bare_lock(void) {
  unsigned missed = 0;

  for (unsigned number = 0; number < HEARTH_BARE_CLASSES; ++number)
    missed += !hearth_lock_take_or_keep(&bare_classes[number].lock);
  return missed;
}

void hearth_bare_unlock(void) {
  for (unsigned number = HEARTH_BARE_CLASSES; number-- > 0;)
    hearth_lock_give_or_keep(&bare_classes[number].lock);
}
