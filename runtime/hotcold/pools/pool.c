/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The slow ways: holes are found by bit scans. Of a parcel, and of each of its tiles, a bound on the size of holes is kept: a search
 * in vain lowers it, a freed block raises it again. */
#include "pool.h"

#include "thread_pools.h"

enum {
  /* A parcel is worth a search when a 16th of it was freed since the last one. */
  FREED_SHARE = 16,
  /* A new parcel is at most a 32nd of the pool's parcels of its kind. */
  GROWTH_SHARE = 32,
  /* Cold parcels stay small: what empties goes back at once. */
  COLD_PARCEL_TILES = 1,
  PARCELS_TRIED = 64,
  /* Free memory grows by 256 KiB and by a 128th of the pool before any of it is given back, */
  KEPT_FREE_QUANTA = (256 << 10) / HEARTH_QUANTUM_BYTES,
  KEPT_FREE_SHARE = 128,
  /* of parcels of which as much was freed meanwhile, and at most seven eighths are used. To give back a few pages breaks up a
   * huge page, which is worth it in a half empty parcel only. */
  LEAST_HOT_PAGES = 4,
  /* Medium blocks may leave this part of an even parcel unused. */
  UNUSED_SHARE = 64,
};

#define MOST(quanta) ((quanta) <= 32 ? 32 : (quanta) > 64 ? 4 : 1024 / (quanta))
#define MOST_8(first)                                                                                                  \
  MOST(first), MOST((first) + 1), MOST((first) + 2), MOST((first) + 3), MOST((first) + 4), MOST((first) + 5),          \
      MOST((first) + 6), MOST((first) + 7)
const uint8_t hearth_bin_most[HEARTH_SMALL_QUANTA] = {MOST_8(1),  MOST_8(9),  MOST_8(17), MOST_8(25),
                                                      MOST_8(33), MOST_8(41), MOST_8(49), MOST_8(57)};

static size_t quantum_at(uint64_t address) { return hearth_quantum_of((void *)(uintptr_t)address); }

static uint64_t address_of(size_t quantum) { return (uintptr_t)hearth_quantum_address(quantum); }

static void count_used(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quanta) {
  parcel->used += (uint32_t)quanta;
  hearth_count_add(&pool->counts.used_quanta, quanta);
}

static void count_unused(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quanta) {
  parcel->used -= (uint32_t)quanta;
  hearth_count_add(&pool->counts.used_quanta, -(uint64_t)quanta);
}

/* Lists of parcels. */

static void count_tiles(struct hearth_pool *pool, const struct hearth_parcel *parcel, uint32_t tiles) {
  pool->tiles += tiles;
  if (parcel->is_medium)
    pool->medium_tiles += tiles;
}

static void add_waiting(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  parcel->next_waiting = NULL;
  parcel->prev_waiting = pool->last_waiting;
  if (pool->last_waiting)
    pool->last_waiting->next_waiting = parcel;
  else
    pool->waiting = parcel;
  pool->last_waiting = parcel;
  parcel->is_waiting = true;
}

static void remove_waiting(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  if (parcel->next_waiting)
    parcel->next_waiting->prev_waiting = parcel->prev_waiting;
  else
    pool->last_waiting = parcel->prev_waiting;
  if (parcel->prev_waiting)
    parcel->prev_waiting->next_waiting = parcel->next_waiting;
  else
    pool->waiting = parcel->next_waiting;
  parcel->is_waiting = false;
}

static void add_parcel(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  struct hearth_parcel **first = &pool->parcels[parcel->is_medium];
  parcel->prev = NULL;
  parcel->next = *first;
  if (parcel->next)
    parcel->next->prev = parcel;
  *first = parcel;
}

static void remove_parcel(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  if (parcel->next)
    parcel->next->prev = parcel->prev;
  if (parcel->prev)
    parcel->prev->next = parcel->next;
  else
    pool->parcels[parcel->is_medium] = parcel->next;
}

static void move_to_front(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  if (!parcel->prev)
    return;
  remove_parcel(pool, parcel);
  add_parcel(pool, parcel);
}

static bool is_worth_a_search(const struct hearth_parcel *parcel) {
  return parcel->freed >= hearth_parcel_quanta(parcel) / FREED_SHARE;
}

static void destroy(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  remove_parcel(pool, parcel);
  if (parcel->is_waiting)
    remove_waiting(pool, parcel);
  count_tiles(pool, parcel, -(uint32_t)parcel->tiles);
  hearth_parcel_destroy(parcel, pool->number);
}

/* After quanta of the parcel became free: an end for an empty parcel, a place in the list for one with much room. */
static void look_after(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  if (parcel == pool->parcel)
    return;
  if (!parcel->used)
    destroy(pool, parcel);
  else if (!parcel->is_medium && !parcel->is_waiting && is_worth_a_search(parcel))
    add_waiting(pool, parcel);
}

static uint16_t *bound_of(struct hearth_parcel *parcel, size_t quantum) {
  return &parcel->hole_most_of_tile[(quantum - hearth_parcel_begin(parcel)) / HEARTH_TILE_QUANTA];
}

/* From so many quanta on, a hole is as good as any. */
static size_t ample(const struct hearth_parcel *parcel) {
  return parcel->is_medium ? HEARTH_HOLE_ANY : HEARTH_SMALL_QUANTA;
}

/* A hole of so many quanta begins here now. */
static void raise_bounds(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta) {
  uint16_t bound = quanta < ample(parcel) ? (uint16_t)quanta : HEARTH_HOLE_ANY, *of_tile = bound_of(parcel, quantum);
  if (bound > *of_tile) {
    *of_tile = bound;
    pool->likely[parcel->is_medium] = quantum;
  }
  if (bound <= parcel->hole_most)
    return;
  parcel->hole_most = bound;
  move_to_front(pool, parcel);
}

static struct hearth_parcel *parcel_at(uint64_t address) {
  return hearth_parcel_of(hearth_owner_of((void *)(uintptr_t)address), quantum_at(address));
}

/* Quanta of a block of the hole, if it is the rest of an even parcel; else 0. */
static size_t even_of(const struct hearth_pool *pool, enum hearth_hole which) {
  return which == HEARTH_HOLE_NEXT ? pool->even : which == HEARTH_HOLE_MEDIUM ? pool->medium_even : 0;
}

static void set_even(struct hearth_pool *pool, enum hearth_hole which, size_t even) {
  *(which == HEARTH_HOLE_NEXT ? &pool->even : &pool->medium_even) = even;
}

/* The parcel whose rest a hole is; it reaches to its end. */
static struct hearth_parcel *parcel_of_rest(const struct hearth_pool *pool, enum hearth_hole which) {
  return parcel_at(hearth_count_get(&pool->counts.hole[which].end) - 1);
}

/* Write the parcel's blocks into the block map, and its hole. */
static void end_evenness(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  size_t even = hearth_parcel_even(parcel), begin = hearth_parcel_begin(parcel), all = hearth_parcel_quanta(parcel);
  if (!even)
    return;
  enum hearth_hole which = parcel->is_medium ? HEARTH_HOLE_MEDIUM : HEARTH_HOLE_NEXT;
  bool has_hole = even_of(pool, which) && parcel == parcel_of_rest(pool, which);
  size_t cut = has_hole ? quantum_at(hearth_count_get(&pool->counts.hole[which].start)) - begin : all / even * even;
  hearth_block_map_use_even(begin, cut, even);
  if (has_hole) {
    hearth_block_map_use(begin + cut, all - cut);
    set_even(pool, which, 0);
  } else if (cut < all) {
    raise_bounds(pool, parcel, begin + cut, all - cut);
  }
  hearth_parcel_set_even(parcel, 0);
}

/* Other blocks than those of one size are to be cut from the hole. */
static void end_evenness_of_hole(struct hearth_pool *pool, enum hearth_hole which) {
  if (even_of(pool, which))
    end_evenness(pool, parcel_of_rest(pool, which));
}

/* The hole that the quanta are part of now, seen no further than it matters, may be larger than those known. */
static void note_hole(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta) {
  size_t begin = hearth_parcel_begin(parcel), end = hearth_parcel_end(parcel), most = ample(parcel), behind, before;
  if (*bound_of(parcel, quantum) == HEARTH_HOLE_ANY && parcel->hole_most == HEARTH_HOLE_ANY)
    return;
  before = hearth_block_map_free_before(quantum, quantum - begin > most ? quantum - most : begin);
  behind = quantum + quanta;
  if (before + quanta < most)
    quanta += hearth_block_map_free_from(behind, end - behind > most ? behind + most : end);
  raise_bounds(pool, parcel, quantum - before, before + quanta);
}

static void free_quanta(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta) {
  hearth_block_map_free(quantum, quanta);
  count_unused(pool, parcel, quanta);
  parcel->freed += (uint32_t)quanta;
  parcel->kept_free += (uint32_t)quanta;
  note_hole(pool, parcel, quantum, quanta);
}

/* Memory that goes back. */

static size_t free_of(const struct hearth_pool *pool) {
  return (size_t)pool->tiles * HEARTH_TILE_QUANTA - hearth_count_get(&pool->counts.used_quanta);
}

static void set_give_back(struct hearth_pool *pool) {
  size_t share = (size_t)pool->tiles * HEARTH_TILE_QUANTA / KEPT_FREE_SHARE;
  pool->give_back_at = free_of(pool) + (share > KEPT_FREE_QUANTA ? share : KEPT_FREE_QUANTA);
}

/* The memory is in use again: what is freed next counts from here. */
static void lower_give_back(struct hearth_pool *pool) {
  size_t before = pool->give_back_at;
  set_give_back(pool);
  if (pool->give_back_at > before)
    pool->give_back_at = before;
}

static void give_back(struct hearth_pool *pool) {
  for (int kind = 0; kind < 2; kind++)
    for (struct hearth_parcel *parcel = pool->parcels[kind]; parcel; parcel = parcel->next) {
      size_t quanta = hearth_parcel_quanta(parcel);
      if (parcel->used > quanta / 8 * 7 || parcel->kept_free < quanta / KEPT_FREE_SHARE)
        continue;
      bool all = pool->number == HEARTH_POOL_COLD || parcel->used <= quanta / 2;
      hearth_parcel_give_pages_back(parcel, pool->number, all ? 1 : LEAST_HOT_PAGES);
      parcel->kept_free = 0;
    }
  set_give_back(pool);
}

void hearth_pool_free(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t quanta) {
  if (__builtin_expect(hearth_parcel_even(parcel), 0))
    end_evenness(pool, parcel);
  free_quanta(pool, parcel, quantum, quanta);
  look_after(pool, parcel);
  if (free_of(pool) > pool->give_back_at)
    give_back(pool);
}

void hearth_pool_hold(struct hearth_parcel *parcel) { parcel->used++; }

void hearth_pool_release(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  parcel->used--;
  look_after(pool, parcel);
}

static struct hearth_parcel *create(struct hearth_pool *pool, bool is_medium, bool *ret_zeroed) {
  uint32_t most = pool->number == HEARTH_POOL_COLD ? COLD_PARCEL_TILES : HEARTH_PARCEL_TILES_MOST, tiles = 1;
  uint32_t alike = is_medium ? pool->medium_tiles : pool->tiles - pool->medium_tiles;
  while (tiles < most && tiles * 2 <= alike / GROWTH_SHARE)
    tiles *= 2;
  struct hearth_parcel *parcel = hearth_parcel_create(pool->thread, pool->number, tiles, ret_zeroed);
  if (!parcel && tiles > 1)
    parcel = hearth_parcel_create(pool->thread, pool->number, 1, ret_zeroed);
  if (!parcel)
    return NULL;
  parcel->is_medium = is_medium;
  count_tiles(pool, parcel, parcel->tiles);
  add_parcel(pool, parcel);
  return parcel;
}

/* Holes. */

/* At no time does a forked child find a hole that is not one; it may find two that overlap. */
static void set_hole(struct hearth_hotcold_hole *hole, uint64_t start, uint64_t end) {
  __atomic_store_n(&hole->start, UINT64_MAX, __ATOMIC_RELEASE);
  __atomic_store_n(&hole->end, end, __ATOMIC_RELEASE);
  __atomic_store_n(&hole->start, start, __ATOMIC_RELEASE);
}

static void fill_hole(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel, size_t quantum,
                      size_t quanta) {
  count_used(pool, parcel, quanta);
  if (pool->give_back_at > free_of(pool) + KEPT_FREE_QUANTA)
    lower_give_back(pool);
  set_hole(&pool->counts.hole[which], address_of(quantum), address_of(quantum + quanta));
}

/* The parcel is new. */
static void open_even_hole(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel,
                           size_t even) {
  fill_hole(pool, which, parcel, hearth_parcel_begin(parcel), hearth_parcel_quanta(parcel));
  hearth_parcel_set_even(parcel, even);
  set_even(pool, which, even);
}

static void open_hole(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel, size_t quantum,
                      size_t quanta) {
  hearth_block_map_use(quantum, quanta);
  fill_hole(pool, which, parcel, quantum, quanta);
}

/* Make the rest of a hole free; what is too short for a block at the end of an even parcel, the block map need not know.
 * It empties the hole before it frees the memory, for a child forked in between. */
static void close_hole(struct hearth_pool *pool, enum hearth_hole which) {
  struct hearth_hotcold_hole *hole = &pool->counts.hole[which];
  uint64_t from = hearth_count_get(&hole->start), to = hearth_count_get(&hole->end);
  size_t quanta = (to - from) / HEARTH_QUANTUM_BYTES;
  if (quanta >= even_of(pool, which))
    end_evenness_of_hole(pool, which);
  bool is_too_short = even_of(pool, which);
  hearth_count_set(&hole->start, to);
  pool->is_zeroed[which] = false;
  pool->is_split &= which != HEARTH_HOLE_SMALL;
  if (is_too_short)
    set_even(pool, which, 0);
  if (quanta && is_too_short)
    count_unused(pool, parcel_at(from), quanta);
  else if (quanta)
    hearth_pool_free(pool, parcel_at(from), quantum_at(from), quanta);
}

/* The next hole becomes what lies before an aligned address, and the small one the rest, until the next one is used up. */
static void split_next(struct hearth_pool *pool, uint64_t address) {
  struct hearth_hotcold_hole *next = &pool->counts.hole[HEARTH_HOLE_NEXT];
  bool zeroed = pool->is_zeroed[HEARTH_HOLE_NEXT];
  close_hole(pool, HEARTH_HOLE_SMALL);
  hearth_block_map_start(quantum_at(address));
  set_hole(&pool->counts.hole[HEARTH_HOLE_SMALL], address, hearth_count_get(&next->end));
  set_hole(next, hearth_count_get(&next->start), address);
  pool->is_zeroed[HEARTH_HOLE_SMALL] = zeroed;
  pool->is_split = true;
}

static void join_next(struct hearth_pool *pool) {
  const struct hearth_hotcold_hole rest = pool->counts.hole[HEARTH_HOLE_SMALL];
  bool zeroed = pool->is_zeroed[HEARTH_HOLE_SMALL];
  close_hole(pool, HEARTH_HOLE_NEXT);
  set_hole(&pool->counts.hole[HEARTH_HOLE_NEXT], rest.start, rest.end);
  set_hole(&pool->counts.hole[HEARTH_HOLE_SMALL], rest.end, rest.end);
  pool->is_zeroed[HEARTH_HOLE_NEXT] = zeroed;
  pool->is_split = false;
}

static void *cut(struct hearth_pool *pool, enum hearth_hole which, size_t quanta, bool *ret_zeroed) {
  void *block;
  *ret_zeroed = pool->is_zeroed[which];
  return hearth_hole_cut(&pool->counts.hole[which], quanta, even_of(pool, which), &block) ? block : NULL;
}

/* The search leaves the parcel, whose hole is closed. */
static void leave_parcel(struct hearth_pool *pool) {
  struct hearth_parcel *parcel = pool->parcel;
  pool->parcel = NULL;
  if (parcel)
    look_after(pool, parcel);
}

static void enter_parcel(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  pool->parcel = parcel;
  pool->position = hearth_parcel_begin(parcel);
  parcel->freed = 0;
}

/* The next hole, from where the last one was found. */
static bool find_next(struct hearth_pool *pool, size_t quanta) {
  close_hole(pool, HEARTH_HOLE_NEXT);
  for (;;) {
    struct hearth_parcel *parcel = pool->parcel;
    size_t end = parcel ? hearth_parcel_end(parcel) : 0, hole, room;
    if (parcel && hearth_block_map_find(pool->position, end, end, quanta, &hole, &room)) {
      open_hole(pool, HEARTH_HOLE_NEXT, parcel, hole, room);
      pool->position = hole + room;
      return true;
    }
    leave_parcel(pool);
    parcel = pool->waiting;
    if (!parcel)
      return false;
    remove_waiting(pool, parcel);
    enter_parcel(pool, parcel);
  }
}

/* A hole of a tile, from the likely one on if that lies in it. */
static bool find_in_tile(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel, size_t begin,
                         size_t quanta) {
  size_t *likely = &pool->likely[parcel->is_medium], tile_end = begin + HEARTH_TILE_QUANTA, hole, room;
  size_t from = *likely - begin < HEARTH_TILE_QUANTA ? *likely : begin, end = hearth_parcel_end(parcel);
  if (!hearth_block_map_find(from, tile_end, end, quanta, &hole, &room) &&
      !hearth_block_map_find(begin, from, end, quanta, &hole, &room))
    return false;
  *likely = hole + room;
  open_hole(pool, which, parcel, hole, room);
  return true;
}

/* The first tile of a parcel with a hole that is large enough. */
static bool find_in_parcel(struct hearth_pool *pool, enum hearth_hole which, struct hearth_parcel *parcel,
                           size_t quanta) {
  size_t begin = hearth_parcel_begin(parcel);
  for (uint32_t tile = 0; tile < parcel->tiles; tile++, begin += HEARTH_TILE_QUANTA) {
    if (parcel->hole_most_of_tile[tile] < quanta)
      continue;
    if (find_in_tile(pool, which, parcel, begin, quanta))
      return true;
    parcel->hole_most_of_tile[tile] = (uint16_t)(quanta - 1);
  }
  parcel->hole_most = (uint16_t)(quanta - 1);
  return false;
}

/* A hole that is large enough, in the first parcel that has one. */
static bool find_first(struct hearth_pool *pool, enum hearth_hole which, size_t quanta) {
  unsigned tried = 0;
  close_hole(pool, which);
  struct hearth_parcel *parcel = pool->parcels[which == HEARTH_HOLE_MEDIUM];
  for (; parcel && tried < PARCELS_TRIED; parcel = parcel->next) {
    if (parcel->hole_most < quanta)
      continue;
    if (find_in_parcel(pool, which, parcel, quanta))
      return true;
    tried++;
  }
  return false;
}

static bool find(struct hearth_pool *pool, enum hearth_hole which, size_t quanta) {
  return which == HEARTH_HOLE_NEXT ? find_next(pool, quanta) : find_first(pool, which, quanta);
}

/* Are the blocks to make a new parcel even? */
static bool may_be_even(const struct hearth_parcel *parcel, enum hearth_hole which, size_t quanta) {
  size_t all = hearth_parcel_quanta(parcel);
  return which == HEARTH_HOLE_NEXT || all % quanta <= all / UNUSED_SHARE;
}

/* `even`: the size of its blocks, if they begin where it does; or 0. */
static bool find_fresh(struct hearth_pool *pool, enum hearth_hole which, size_t even) {
  bool zeroed;
  struct hearth_parcel *parcel = create(pool, which == HEARTH_HOLE_MEDIUM, &zeroed);
  if (!parcel)
    return false;
  close_hole(pool, which);
  if (which == HEARTH_HOLE_NEXT) {
    leave_parcel(pool);
    enter_parcel(pool, parcel);
    pool->position = hearth_parcel_end(parcel);
  }
  if (even && may_be_even(parcel, which, even))
    open_even_hole(pool, which, parcel, even);
  else
    open_hole(pool, which, parcel, hearth_parcel_begin(parcel), hearth_parcel_quanta(parcel));
  pool->is_zeroed[which] = zeroed;
  return true;
}

/* Of a new parcel, small blocks of all sizes take the same hole. */
static void *take_from_hole(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  enum hearth_hole which = quanta <= HEARTH_TINY_QUANTA    ? HEARTH_HOLE_NEXT
                           : quanta <= HEARTH_SMALL_QUANTA ? HEARTH_HOLE_SMALL
                                                           : HEARTH_HOLE_MEDIUM;
  if (pool->is_split && which == HEARTH_HOLE_NEXT)
    join_next(pool);
  void *block = cut(pool, which, quanta, ret_zeroed);
  if (block)
    return block;
  if (find(pool, which, quanta) || (hearth_thread_pools_collect(pool->thread) && find(pool, which, quanta)))
    return cut(pool, which, quanta, ret_zeroed);
  if (which == HEARTH_HOLE_SMALL)
    which = HEARTH_HOLE_NEXT;
  return find_fresh(pool, which, quanta) ? cut(pool, which, quanta, ret_zeroed) : NULL;
}

static void *take_uncached(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  void *block = take_from_hole(pool, quanta, ret_zeroed);
  if (block)
    hearth_count_add(&pool->counts.cut, 1);
  return block;
}

void *hearth_pool_take(struct hearth_pool *pool, size_t quanta, bool *ret_zeroed) {
  if (quanta > HEARTH_SMALL_QUANTA) {
    if (pool->medium_even != quanta)
      end_evenness_of_hole(pool, HEARTH_HOLE_MEDIUM);
    return take_uncached(pool, quanta, ret_zeroed);
  }
  if (pool->even && pool->even != quanta && !hearth_bin_count(pool, quanta))
    end_evenness(pool, pool->parcel);
  void *block = hearth_pool_take_small(pool, hearth_bin_of(pool, quanta), quanta, ret_zeroed);
  return block ? block : take_uncached(pool, quanta, ret_zeroed);
}

static void *take_cached_if_aligned(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  void *const *bin = hearth_bin_of(pool, quanta), *block;
  uint8_t cached = hearth_bin_count(pool, quanta);
  if (!cached || (uintptr_t)bin[cached - 1] & (alignment - 1))
    return NULL;
  return hearth_pool_take_cached(pool, bin, quanta, &block) ? block : NULL;
}

/* Quanta before the next aligned address of a hole, if a block of `quanta` is to begin there; or SIZE_MAX. */
static size_t gap_of(const struct hearth_pool *pool, enum hearth_hole which, size_t quanta, size_t alignment) {
  const struct hearth_hotcold_hole *hole = &pool->counts.hole[which];
  uint64_t start = hearth_count_get(&hole->start), room = hearth_count_get(&hole->end) - start;
  uint64_t gap = -start & (alignment - 1);
  return room >= gap + quanta * HEARTH_QUANTUM_BYTES ? gap / HEARTH_QUANTUM_BYTES : SIZE_MAX;
}

static void *cut_aligned(struct hearth_pool *pool, enum hearth_hole which, size_t quanta, size_t alignment) {
  struct hearth_hotcold_hole *hole = &pool->counts.hole[which];
  size_t gap = gap_of(pool, which, quanta, alignment);
  void *before, *block;
  if (gap == SIZE_MAX)
    return NULL;
  if (gap && hearth_hole_cut(hole, gap, false, &before))
    hearth_pool_free(pool, parcel_at((uintptr_t)before), hearth_quantum_of(before), gap);
  return hearth_hole_cut(hole, quanta, false, &block) ? block : NULL;
}

/* What lies before the block stays a hole that tiny blocks take first. */
static void *cut_aligned_of_next(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  size_t gap = gap_of(pool, HEARTH_HOLE_NEXT, quanta, alignment);
  enum hearth_hole which = gap ? HEARTH_HOLE_SMALL : HEARTH_HOLE_NEXT;
  void *block;
  if (gap == SIZE_MAX)
    return NULL;
  if (gap)
    split_next(pool, hearth_count_get(&pool->counts.hole[HEARTH_HOLE_NEXT].start) + gap * HEARTH_QUANTUM_BYTES);
  return hearth_hole_cut(&pool->counts.hole[which], quanta, false, &block) ? block : NULL;
}

static void *take_aligned_uncached(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  bool is_small = quanta <= HEARTH_SMALL_QUANTA;
  enum hearth_hole which = is_small ? HEARTH_HOLE_SMALL : HEARTH_HOLE_MEDIUM;
  size_t all = quanta + alignment / HEARTH_QUANTUM_BYTES - 1;
  end_evenness_of_hole(pool, is_small ? HEARTH_HOLE_NEXT : HEARTH_HOLE_MEDIUM);
  void *block = cut_aligned(pool, which, quanta, alignment);
  if (!block && is_small)
    block = cut_aligned_of_next(pool, quanta, alignment);
  if (block)
    return block;
  if (find_first(pool, which, all) || (hearth_thread_pools_collect(pool->thread) && find_first(pool, which, all)))
    return cut_aligned(pool, which, quanta, alignment);
  which = is_small ? HEARTH_HOLE_NEXT : which;
  return find_fresh(pool, which, 0) ? cut_aligned(pool, which, quanta, alignment) : NULL;
}

void *hearth_pool_take_aligned(struct hearth_pool *pool, size_t quanta, size_t alignment) {
  void *block = quanta <= HEARTH_SMALL_QUANTA ? take_cached_if_aligned(pool, quanta, alignment) : NULL;
  if (block)
    return block;
  block = take_aligned_uncached(pool, quanta, alignment);
  if (block)
    hearth_count_add(&pool->counts.cut, 1);
  return block;
}

/* Is there room in a hole of the pool, and does it begin where the block ends? */
static bool grow_into_hole(struct hearth_pool *pool, size_t block_end, size_t more) {
  for (unsigned i = 0; i < HEARTH_HOLES; i++) {
    struct hearth_hotcold_hole *hole = &pool->counts.hole[i];
    void *block;
    if (hearth_count_get(&hole->start) != address_of(block_end) || !hearth_hole_cut(hole, more, false, &block))
      continue;
    hearth_block_map_continue(block_end);
    return true;
  }
  return false;
}

bool hearth_pool_resize(struct hearth_pool *pool, struct hearth_parcel *parcel, size_t quantum, size_t old_quanta,
                        size_t quanta) {
  size_t end = quantum + old_quanta, parcel_end = hearth_parcel_end(parcel);
  if (quanta == old_quanta)
    return true;
  if (quanta < old_quanta) {
    hearth_pool_free(pool, parcel, quantum + quanta, old_quanta - quanta);
    return true;
  }
  size_t more = quanta - old_quanta;
  if (end == parcel_end)
    return false;
  end_evenness(pool, parcel);
  if (grow_into_hole(pool, end, more))
    return true;
  if (end + more > parcel_end || hearth_block_map_free_from(end, end + more) < more)
    return false;
  hearth_block_map_extend(end, more);
  count_used(pool, parcel, more);
  return true;
}

void hearth_pool_close(struct hearth_pool *pool) {
  for (unsigned i = 0; i < HEARTH_HOLES; i++)
    close_hole(pool, (enum hearth_hole)i);
  leave_parcel(pool);
}

void hearth_pool_complete(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  size_t even = hearth_parcel_even(parcel), begin = hearth_parcel_begin(parcel), all = hearth_parcel_quanta(parcel);
  enum hearth_hole which = parcel->is_medium ? HEARTH_HOLE_MEDIUM : HEARTH_HOLE_NEXT;
  uint64_t next = hearth_count_get(&pool->counts.hole[which].start);
  if (even) {
    bool has_hole = next >= address_of(begin) && next < address_of(begin + all);
    hearth_block_map_use_even(begin, has_hole ? quantum_at(next) - begin : all / even * even, even);
  }
  hearth_parcel_set_even(parcel, 0);
}

static void forget_hole(struct hearth_hotcold_hole *hole) {
  uint64_t from = hearth_count_get(&hole->start), to = hearth_count_get(&hole->end);
  hearth_count_set(&hole->start, to);
  if (from < to)
    hearth_block_map_free(quantum_at(from), quantum_at(to) - quantum_at(from));
}

void hearth_pool_forget(struct hearth_pool *pool) {
  for (unsigned i = 0; i < HEARTH_HOLES; i++) {
    forget_hole(&pool->counts.hole[i]);
    pool->is_zeroed[i] = false;
  }
  pool->is_split = false;
  pool->even = pool->medium_even = 0;
  pool->parcel = pool->waiting = pool->last_waiting = pool->parcels[0] = pool->parcels[1] = NULL;
  pool->tiles = pool->medium_tiles = 0;
  hearth_count_set(&pool->counts.used_quanta, 0);
}

void hearth_pool_recall(struct hearth_pool *pool, struct hearth_parcel *parcel) {
  parcel->used = parcel->freed = 0;
  parcel->is_waiting = false;
  hearth_block_map_repair(hearth_parcel_begin(parcel), hearth_parcel_end(parcel));
  count_used(pool, parcel, hearth_block_map_count(hearth_parcel_begin(parcel), hearth_parcel_end(parcel)));
  count_tiles(pool, parcel, parcel->tiles);
  parcel->hole_most = HEARTH_HOLE_ANY;
  for (uint32_t i = 0; i < parcel->tiles; i++)
    parcel->hole_most_of_tile[i] = HEARTH_HOLE_ANY;
  add_parcel(pool, parcel);
  if (!parcel->used)
    destroy(pool, parcel);
  else if (!parcel->is_medium)
    add_waiting(pool, parcel);
}
