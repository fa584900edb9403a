#include "depot.h"

#include "os.h"

static size_t whole_pages(size_t size) { return (size + HEARTH_OS_PAGE - 1) & ~(HEARTH_OS_PAGE - 1); }

static void *map_table(uint64_t count, size_t row) {
  size_t size = whole_pages(count * row);
  void *table = hearth_os_map(size);

  if (table)
    hearth_os_mark_sparse(table, size);
  return table;
}

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
  depot->entries = map_table(depot->entry_most, sizeof *depot->entries);
  depot->pcs = map_table(depot->pc_most + 1, sizeof *depot->pcs);
  depot->buckets = map_table(buckets, sizeof *depot->buckets);
  return depot->entries && depot->pcs && depot->buckets;
}

size_t hearth_depot_context_size(uint32_t depth) {
  return sizeof(hearth_depot_entry) + sizeof(uint32_t) + depth * sizeof(uint64_t);
}

static uint64_t mix(uint64_t hash, uint64_t pc) {
  hash = (hash ^ pc) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio: spreads neighbouring addresses */
  return hash ^ hash >> 32;
}

/* Two chains, as each step waits for the one before it. */
static uint64_t hash_stack(const uint64_t *pcs, uint32_t depth) {
  uint64_t even = depth, odd = 0;
  uint32_t i = 0;

  for (; i + 1 < depth; i += 2) {
    even = mix(even, pcs[i]);
    odd = mix(odd, pcs[i + 1]);
  }
  if (i < depth)
    even = mix(even, pcs[i]);
  return mix(even, odd);
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
static uint32_t search(const hearth_depot *depot, uint32_t from, uint32_t end, uint64_t hash, const uint64_t *pcs,
                       uint32_t depth) {
  for (; from != end; from = depot->entries[from].next)
    if (is_stack(depot, from, hash, pcs, depth))
      return from;
  return 0;
}

/* Advance `counter` by `step` unless it would pass `most`. */
static bool take_room(uint64_t *counter, uint64_t step, uint64_t most, uint64_t *ret_before) {
  uint64_t before = __atomic_load_n(counter, __ATOMIC_RELAXED);

  do
    if (step > most - before)
      return false;
  while (!__atomic_compare_exchange_n(counter, &before, before + step, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  *ret_before = before;
  return true;
}

/* A copy of the stack under a new id, not yet in a chain; 0 if there is no room. */
static uint32_t add_entry(hearth_depot *depot, uint64_t hash, const uint64_t *pcs, uint32_t depth) {
  uint64_t first, context;

  if (!take_room(&depot->pc_count, depth, depot->pc_most, &first) ||
      !take_room(&depot->entry_count, 1, depot->entry_most, &context))
    return 0;
  for (uint32_t i = 0; i < depth; ++i)
    depot->pcs[first + i] = pcs[i];
  hearth_depot_entry *entry = &depot->entries[context]; /* `listed` may be in use */
  entry->hash = (uint32_t)hash;
  entry->first_pc = first;
  entry->depth = depth;
  return (uint32_t)context;
}

uint32_t hearth_depot_insert(hearth_depot *depot, const uint64_t *pcs, uint32_t depth, bool *ret_new) {
  *ret_new = false;
  if (depth == 0)
    return 0;
  uint64_t hash = hash_stack(pcs, depth);
  uint32_t *bucket = &depot->buckets[hash >> 32 & (depot->bucket_count - 1)];
  uint32_t head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
  uint32_t context = search(depot, head, 0, hash, pcs, depth);

  if (context)
    return context;
  context = add_entry(depot, hash, pcs, depth);
  if (!context) {
    __atomic_fetch_add(&depot->dropped, 1, __ATOMIC_RELAXED);
    return 0;
  }
  for (uint32_t searched = head;;) {
    depot->entries[context].next = head;
    if (__atomic_compare_exchange_n(bucket, &head, context, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
      *ret_new = true;
      return context;
    }
    /* Other threads have put stacks in front; one of them may be this one. Then our id stays without use. */
    uint32_t found = search(depot, head, searched, hash, pcs, depth);
    if (found)
      return found;
    searched = head;
  }
}

uint32_t hearth_depot_limit(const hearth_depot *depot) {
  return (uint32_t)__atomic_load_n(&depot->entry_count, __ATOMIC_ACQUIRE);
}

const uint64_t *hearth_depot_stack(const hearth_depot *depot, uint32_t context, uint32_t *ret_depth) {
  *ret_depth = depot->entries[context].depth;
  return depot->pcs + depot->entries[context].first_pc;
}

uint64_t hearth_depot_memory(const hearth_depot *depot) {
  return depot->entry_count * (sizeof *depot->entries + sizeof *depot->buckets) + depot->pc_count * sizeof *depot->pcs;
}

uint64_t hearth_depot_dropped(const hearth_depot *depot) { return __atomic_load_n(&depot->dropped, __ATOMIC_RELAXED); }
