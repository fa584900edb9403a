/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A hash table in two direct-mapped levels, and chains for contexts that find no place there; stacks lie behind each
 * other. */
#include "depot.h"
#include "os.h"

#include "hearth/expect.h"

/* The contexts of most programs are looked up in a small table, which stays in processors' caches, and where hashes
 * tell others apart without a look at them. A context has eight places there, a cache line; if others have them, it has
 * eight in a larger table, and if others have these, too, it is in a chain: tables grow with their contents, and memory
 * is taken for the part in use. */
static const size_t level_words[HEARTH_DEPOT_LEVELS] = {(size_t)1 << 14, (size_t)1 << 17};
#define PLACES ((size_t)8)

bool hearth_depot_create(hearth_depot *depot, uint32_t most_contexts, uint32_t average_depth) {
  uint32_t buckets = 64;

  while (buckets < most_contexts && buckets < UINT32_C(1) << 30)
    buckets *= 2;
  *depot = (hearth_depot){
      .bucket_count = buckets,
      .entry_most = most_contexts + 1,
      .pc_most = (uint64_t)most_contexts * average_depth,
      .entry_count = 1,
  };
  depot->entries = hearth_system_map_sparse(depot->entry_most * sizeof *depot->entries);
  depot->pcs = hearth_system_map_sparse((depot->pc_most + 1) * sizeof *depot->pcs);
  depot->buckets = hearth_system_map_sparse(buckets * sizeof *depot->buckets);
  bool created = depot->entries && depot->pcs && depot->buckets;
  for (size_t i = 0; i < HEARTH_DEPOT_LEVELS; ++i) {
    depot->levels[i] = hearth_system_map_sparse(level_words[i] * sizeof *depot->levels[i]);
    created = created && depot->levels[i];
  }
  return created;
}

static uint64_t mix_stack_hash(uint64_t hash, uint64_t pc) {
  hash = (hash ^ pc) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio: spreads neighbouring addresses */
  return hash ^ hash >> 32;
}

/* Two chains, as each step waits for the one before it. */
static uint64_t hash_stack(const uint64_t *pcs, uint32_t depth) {
  uint64_t even = depth, odd = 0;
  uint32_t i = 0;

  for (; i + 1 < depth; i += 2) {
    even = mix_stack_hash(even, pcs[i]);
    odd = mix_stack_hash(odd, pcs[i + 1]);
  }
  if (i < depth)
    even = mix_stack_hash(even, pcs[i]);
  return mix_stack_hash(even, odd);
}

static bool is_stack(const hearth_depot *depot, uint32_t context, uint64_t hash, const uint64_t *pcs, uint32_t depth) {
  const hearth_depot_entry *entry = &depot->entries[context];

  if (entry->hash != (uint32_t)hash || entry->depth != depth)
    return false;
  for (uint32_t i = 0; i < depth; ++i)
    if (depot->pcs[entry->first_pc + i] != pcs[i])
      return false;
  return true;
}

/* The stack among the contexts from `from` on, up to `end`, both in one chain; 0 if it is not there. */
static uint32_t search_chain(const hearth_depot *depot, uint32_t from, uint32_t end, uint64_t hash, const uint64_t *pcs,
                             uint32_t depth) {
  for (; from != end; from = depot->entries[from].next)
    if (is_stack(depot, from, hash, pcs, depth))
      return from;
  return 0;
}

/* The stack in the tables; 0: it is not there. *ret_place: where it would be put; NULL: all its places are taken, for ever.
 * They are taken in order. */
static inline uint32_t search_levels(const hearth_depot *depot, uint64_t hash, const uint64_t *pcs, uint32_t depth,
                                     uint64_t **ret_place) {
  for (size_t level = 0; level < HEARTH_DEPOT_LEVELS; ++level) {
    uint64_t *places = depot->levels[level] + (hash >> 32) * PLACES % level_words[level];
    for (size_t i = 0; i < PLACES; ++i) {
      uint64_t word = __atomic_load_n(&places[i], __ATOMIC_ACQUIRE);
      *ret_place = &places[i];
      if (word == 0)
        return 0;
      if (word >> 32 == (uint32_t)hash && is_stack(depot, (uint32_t)word, hash, pcs, depth))
        return (uint32_t)word;
    }
  }
  *ret_place = NULL;
  return 0;
}

/* Advance `counter` by `step` unless it would pass `most`. */
static bool take_depot_room(uint64_t *counter, uint64_t step, uint64_t most, uint64_t *ret_before) {
  uint64_t before = __atomic_load_n(counter, __ATOMIC_RELAXED);

  do
    if (step > most - before)
      return false;
  while (!__atomic_compare_exchange_n(counter, &before, before + step, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  *ret_before = before;
  return true;
}

/* A copy of the stack under a new id, not yet in a chain; 0 if there is no room. */
static uint32_t add_depot_entry(hearth_depot *depot, uint64_t hash, const uint64_t *pcs, uint32_t depth) {
  uint64_t first, context;

  if (!take_depot_room(&depot->pc_count, depth, depot->pc_most, &first) ||
      !take_depot_room(&depot->entry_count, 1, depot->entry_most, &context))
    return 0;
  for (uint32_t i = 0; i < depth; ++i)
    depot->pcs[first + i] = pcs[i];
  hearth_expect(context > 0 && context < depot->entry_most && first + depth <= depot->pc_most);
  hearth_depot_entry *entry = &depot->entries[context]; /* `listed` may be in use */
  entry->hash = (uint32_t)hash;
  entry->first_pc = first;
  entry->depth = depth;
  return (uint32_t)context;
}

/* Put the context in one of its places. Returns it, or the one of the same stack that another thread put there; 0: all
 * are taken. */
static uint32_t put_in_level(hearth_depot *depot, uint32_t context, uint64_t hash, const uint64_t *pcs,
                             uint32_t depth) {
  for (;;) {
    uint64_t *place, free = 0;
    uint32_t found = search_levels(depot, hash, pcs, depth, &place);
    if (found || !place)
      return found;
    if (__atomic_compare_exchange_n(place, &free, hash << 32 | context, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return context;
  }
}

static uint32_t *depot_bucket_of(const hearth_depot *depot, uint64_t hash) {
  return &depot->buckets[hash >> 32 & (depot->bucket_count - 1)];
}

/* The same in the chain. */
static uint32_t put_in_chain(hearth_depot *depot, uint32_t context, uint64_t hash, const uint64_t *pcs,
                             uint32_t depth) {
  uint32_t *bucket = depot_bucket_of(depot, hash), searched = 0;
  uint32_t head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);

  for (;;) {
    uint32_t found = search_chain(depot, head, searched, hash, pcs, depth);
    if (found)
      return found;
    depot->entries[context].next = searched = head;
    if (__atomic_compare_exchange_n(bucket, &head, context, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
      return context;
  }
}

/* If several threads put a stack in at once, one puts its context; the others' ids stay without use. */
uint32_t hearth_depot_insert(hearth_depot *depot, const uint64_t *pcs, uint32_t depth, bool *ret_new) {
  uint64_t *place;

  *ret_new = false;
  if (depth == 0)
    return 0;
  uint64_t hash = hash_stack(pcs, depth);
  uint32_t found = search_levels(depot, hash, pcs, depth, &place);
  if (!found && !place)
    found = search_chain(depot, __atomic_load_n(depot_bucket_of(depot, hash), __ATOMIC_ACQUIRE), 0, hash, pcs, depth);
  if (found)
    return found;
  uint32_t context = add_depot_entry(depot, hash, pcs, depth);
  if (!context) {
    __atomic_fetch_add(&depot->dropped, 1, __ATOMIC_RELAXED);
    return 0;
  }
  found = put_in_level(depot, context, hash, pcs, depth);
  if (!found)
    found = put_in_chain(depot, context, hash, pcs, depth);
  *ret_new = found == context;
  return found;
}

uint32_t hearth_depot_limit(const hearth_depot *depot) {
  return (uint32_t)__atomic_load_n(&depot->entry_count, __ATOMIC_ACQUIRE);
}

const uint64_t *hearth_depot_stack(const hearth_depot *depot, uint32_t context, uint32_t *ret_depth) {
  hearth_expect(context < hearth_depot_limit(depot));
  *ret_depth = depot->entries[context].depth;
  return depot->pcs + depot->entries[context].first_pc;
}

/* Of each, an entry, its addresses, and a word in the tables. */
uint64_t hearth_depot_memory(const hearth_depot *depot) {
  return (hearth_depot_limit(depot) - 1) * (sizeof(hearth_depot_entry) + sizeof(uint64_t)) +
         __atomic_load_n(&depot->pc_count, __ATOMIC_RELAXED) * sizeof(uint64_t);
}

uint64_t hearth_depot_dropped(const hearth_depot *depot) { return __atomic_load_n(&depot->dropped, __ATOMIC_RELAXED); }

/* Quicksort on one address of all stacks at a time (Bentley and Sedgewick, "Fast algorithms for sorting and searching
 * strings", 1997): the common part of stacks is compared once. */

/* Contexts [begin, end) that agree in their `depth` outermost addresses. */
typedef struct part {
  uint32_t begin, end, depth;
} part;

/* Larger parts wait below smaller ones: two below one that has at most a third of the contexts, or one below at most half.
 * So 2^32 contexts have 43 waiting at most. */
#define PARTS_MOST 48u

/* In the stack number `i` of the list, the address at `depth` from the outermost on; 0 behind the innermost. */
static uint64_t pc_at(hearth_depot *depot, uint32_t i, uint32_t depth) {
  uint32_t size;
  const uint64_t *pcs = hearth_depot_stack(depot, *hearth_depot_list(depot, i), &size);

  return depth < size ? pcs[size - 1 - depth] : 0;
}

static void swap_listed(hearth_depot *depot, uint32_t one, uint32_t other) {
  uint32_t context = *hearth_depot_list(depot, one);

  *hearth_depot_list(depot, one) = *hearth_depot_list(depot, other);
  *hearth_depot_list(depot, other) = context;
}

static uint64_t middle_of(uint64_t a, uint64_t b, uint64_t c) {
  if (a > b) {
    uint64_t greater = a;
    a = b;
    b = greater;
  }
  return c < a ? a : c > b ? b : c;
}

static uint64_t choose_pivot(hearth_depot *depot, part all) {
  return middle_of(pc_at(depot, all.begin, all.depth), pc_at(depot, all.begin + (all.end - all.begin) / 2, all.depth),
                   pc_at(depot, all.end - 1, all.depth));
}

/* Divide by the address behind the common ones into those below a chosen one, equal and above. */
static void divide_part(hearth_depot *depot, part all, part ret_parts[3]) {
  uint64_t chosen = choose_pivot(depot, all);
  uint32_t below = all.begin, above = all.end;

  for (uint32_t i = all.begin; i < above;) {
    uint64_t pc = pc_at(depot, i, all.depth);
    if (pc < chosen)
      swap_listed(depot, below++, i++);
    else if (pc > chosen)
      swap_listed(depot, i, --above);
    else
      ++i;
  }
  ret_parts[0] = (part){all.begin, below, all.depth};
  ret_parts[1] = (part){below, chosen ? above : below, all.depth + 1}; /* stacks that end here are equal */
  ret_parts[2] = (part){above, all.end, all.depth};
}

static uint32_t part_size(part part) { return part.end - part.begin; }

/* Put the larger parts first. */
static void order_by_size(part parts[3]) {
  for (unsigned i = 0; i < 3; ++i)
    for (unsigned j = i + 1; j < 3; ++j)
      if (part_size(parts[j]) > part_size(parts[i])) {
        part larger = parts[j];
        parts[j] = parts[i];
        parts[i] = larger;
      }
}

void hearth_stack_order(hearth_depot *depot, uint32_t count) {
  static part waiting[PARTS_MOST]; /* signal stacks are small */
  unsigned used = 0;
  part parts[3];

  if (count > 1)
    waiting[used++] = (part){0, count, 0};
  while (used > 0) {
    divide_part(depot, waiting[--used], parts);
    order_by_size(parts);
    for (unsigned i = 0; i < 3; ++i)
      if (part_size(parts[i]) > 1) {
        hearth_expect(used < PARTS_MOST);
        waiting[used++] = parts[i];
      }
  }
}
