/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A call is found by a hash of its stack, from the outermost call on: in a hash table of two direct-mapped levels,
 * and chains for calls that find no place there. */
#include "depot.h"
#include "os.h"

#include "hearth/expect.h"

/* The calls of most programs are looked up in a small table, which stays in processors' caches, and where hashes
 * tell others apart without a look at them. A call has eight places there, a cache line; if others have them, it has
 * eight in a larger table, and if others have these, too, it is in a chain: tables grow with their contents, and
 * memory is taken for the part in use. */
static const size_t level_words[HEARTH_DEPOT_LEVELS] = {(size_t)1 << 14, (size_t)1 << 17};
#define PLACES ((size_t)8)

bool hearth_depot_create(hearth_depot *depot, uint32_t most_contexts, uint32_t own_calls) {
  uint64_t calls = (uint64_t)most_contexts * own_calls + 1;
  uint32_t buckets = 64;

  while (buckets < most_contexts && buckets < UINT32_C(1) << 30)
    buckets *= 2;
  *depot = (hearth_depot){
      .bucket_count = buckets,
      .entry_most = most_contexts + 1,
      .call_most = calls < UINT32_MAX ? (uint32_t)calls : UINT32_MAX,
      .entry_count = 1,
      .call_count = 1,
  };
  depot->entries = hearth_system_map_sparse(depot->entry_most * sizeof *depot->entries);
  depot->calls = hearth_system_map_sparse(depot->call_most * sizeof *depot->calls);
  depot->buckets = hearth_system_map_sparse(buckets * sizeof *depot->buckets);
  bool created = depot->entries && depot->calls && depot->buckets;
  for (size_t i = 0; i < HEARTH_DEPOT_LEVELS; ++i) {
    depot->levels[i] = hearth_system_map_sparse(level_words[i] * sizeof *depot->levels[i]);
    created = created && depot->levels[i];
  }
  return created;
}

/* Of a stack, from that of its caller's, 0 for none. */
static uint64_t mix_stack_hash(uint64_t hash, uint64_t pc) {
  hash = (hash ^ pc) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio: spreads neighbouring addresses */
  return hash ^ hash >> 32;
}

static uint64_t hash_stack(const uint64_t *pcs, uint32_t depth) {
  uint64_t hash = 0;

  while (depth > 0)
    hash = mix_stack_hash(hash, pcs[--depth]);
  return hash;
}

static bool is_stack(const hearth_depot *depot, uint32_t call, const uint64_t *pcs, uint32_t depth) {
  uint32_t i = 0;

  for (; i < depth && call && depot->calls[call].pc == pcs[i]; ++i)
    call = depot->calls[call].caller;
  return i == depth && call == 0;
}

/* The stack's call among those from `from` on, up to `end`, both in one chain; 0 if it is not there. */
static uint32_t search_chain(const hearth_depot *depot, uint32_t from, uint32_t end, const uint64_t *pcs,
                             uint32_t depth) {
  for (; from != end; from = depot->calls[from].next)
    if (is_stack(depot, from, pcs, depth))
      return from;
  return 0;
}

/* The stack's call in the tables; 0: it is not there. *ret_place: where it would be put; NULL: all its places are
 * taken, for ever. They are taken in order. */
static inline uint32_t search_levels(const hearth_depot *depot, uint64_t hash, const uint64_t *pcs, uint32_t depth,
                                     uint64_t **ret_place) {
  for (size_t level = 0; level < HEARTH_DEPOT_LEVELS; ++level) {
    uint64_t *places = depot->levels[level] + (hash >> 32) * PLACES % level_words[level];
    for (size_t i = 0; i < PLACES; ++i) {
      uint64_t word = __atomic_load_n(&places[i], __ATOMIC_ACQUIRE);
      *ret_place = &places[i];
      if (word == 0)
        return 0;
      if (word >> 32 == (uint32_t)hash && is_stack(depot, (uint32_t)word, pcs, depth))
        return (uint32_t)word;
    }
  }
  *ret_place = NULL;
  return 0;
}

static uint32_t *depot_bucket_of(const hearth_depot *depot, uint64_t hash) {
  return &depot->buckets[hash >> 32 & (depot->bucket_count - 1)];
}

static uint32_t find_call(const hearth_depot *depot, uint64_t hash, const uint64_t *pcs, uint32_t depth) {
  uint64_t *place;
  uint32_t found = search_levels(depot, hash, pcs, depth, &place);

  return found || place
             ? found
             : search_chain(depot, __atomic_load_n(depot_bucket_of(depot, hash), __ATOMIC_ACQUIRE), 0, pcs, depth);
}

/* The next number, which is below `most`; 0: there is none. */
static uint32_t take_depot_room(uint32_t *counter, uint32_t most) {
  uint32_t number = __atomic_load_n(counter, __ATOMIC_RELAXED);

  do
    if (number == most)
      return 0;
  while (!__atomic_compare_exchange_n(counter, &number, number + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return number;
}

/* Put the call in one of its places. Returns it, or the one of the same stack that another thread put there; 0: all are
 * taken. */
static uint32_t put_in_level(hearth_depot *depot, uint32_t call, uint64_t hash, const uint64_t *pcs, uint32_t depth) {
  for (;;) {
    uint64_t *place, free = 0;
    uint32_t found = search_levels(depot, hash, pcs, depth, &place);
    if (found || !place)
      return found;
    if (__atomic_compare_exchange_n(place, &free, hash << 32 | call, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return call;
  }
}

/* The same in the chain. */
static uint32_t put_in_chain(hearth_depot *depot, uint32_t call, uint64_t hash, const uint64_t *pcs, uint32_t depth) {
  uint32_t *bucket = depot_bucket_of(depot, hash), searched = 0;
  uint32_t head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);

  for (;;) {
    uint32_t found = search_chain(depot, head, searched, pcs, depth);
    if (found)
      return found;
    depot->calls[call].next = searched = head;
    if (__atomic_compare_exchange_n(bucket, &head, call, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
      return call;
  }
}

/* The call of the stack, which was not there, in that of its caller. If several threads add it at once, one puts its
 * call; the others' stay without use. 0: there is no room. */
static uint32_t depot_add_call(hearth_depot *depot, uint32_t caller, uint64_t hash, const uint64_t *pcs,
                               uint32_t depth) {
  uint32_t call = take_depot_room(&depot->call_count, depot->call_most);

  if (!call)
    return 0;
  depot->calls[call].pc = pcs[0];
  depot->calls[call].caller = caller;
  uint32_t put = put_in_level(depot, call, hash, pcs, depth);
  return put ? put : put_in_chain(depot, call, hash, pcs, depth);
}

/* The same for a whole stack, whose outer calls may be there. */
static uint32_t depot_add_calls(hearth_depot *depot, const uint64_t *pcs, uint32_t depth) {
  uint32_t fresh = 0, call;
  uint64_t hash;

  do { /* the empty stack is not found */
    ++fresh;
    hash = hash_stack(pcs + fresh, depth - fresh);
    call = find_call(depot, hash, pcs + fresh, depth - fresh);
  } while (!call && fresh < depth);
  do {
    --fresh;
    hash = mix_stack_hash(hash, pcs[fresh]);
    call = depot_add_call(depot, call, hash, pcs + fresh, depth - fresh);
  } while (call && fresh > 0);
  return call;
}

/* If several threads give the call a context at once, the others' ids stay without use. 0: there is no room. */
static uint32_t context_of(hearth_depot *depot, uint32_t call, bool *ret_new) {
  uint32_t known = __atomic_load_n(&depot->calls[call].context, __ATOMIC_ACQUIRE);
  uint32_t context = known ? known : take_depot_room(&depot->entry_count, depot->entry_most);

  if (known || !context)
    return known;
  depot->entries[context].leaf = call; /* `listed` may be in use */
  *ret_new = __atomic_compare_exchange_n(&depot->calls[call].context, &known, context, false, __ATOMIC_RELEASE,
                                         __ATOMIC_ACQUIRE);
  return *ret_new ? context : known;
}

uint32_t hearth_depot_insert(hearth_depot *depot, const uint64_t *pcs, uint32_t depth, bool *ret_new) {
  *ret_new = false;
  if (depth == 0)
    return 0;
  uint32_t call = find_call(depot, hash_stack(pcs, depth), pcs, depth);
  if (!call)
    call = depot_add_calls(depot, pcs, depth);
  uint32_t context = call ? context_of(depot, call, ret_new) : 0;
  if (!context)
    __atomic_fetch_add(&depot->dropped, 1, __ATOMIC_RELAXED);
  return context;
}

uint32_t hearth_depot_limit(const hearth_depot *depot) {
  return __atomic_load_n(&depot->entry_count, __ATOMIC_ACQUIRE);
}

uint32_t hearth_depot_copy(const hearth_depot *depot, uint32_t context, uint64_t *ret_pcs) {
  uint32_t depth = 0;

  hearth_expect(context < hearth_depot_limit(depot));
  for (uint32_t call = depot->entries[context].leaf; call; call = depot->calls[call].caller)
    ret_pcs[depth++] = depot->calls[call].pc;
  return depth;
}

uint32_t hearth_depot_number_calls(hearth_depot *depot, uint32_t count) {
  uint32_t limit = __atomic_load_n(&depot->call_count, __ATOMIC_RELAXED), numbered = 0;

  for (uint32_t call = 1; call < limit; ++call)
    depot->calls[call].number = 0;
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t call = depot->entries[*hearth_depot_list(depot, i)].leaf; call && !depot->calls[call].number;
         call = depot->calls[call].caller)
      depot->calls[call].number = 1;
  for (uint32_t call = 1; call < limit; ++call)
    if (depot->calls[call].number)
      depot->calls[call].number = ++numbered;
  return numbered;
}

/* Of each, an entry; of each call, itself and a word in the tables. */
uint64_t hearth_depot_memory(const hearth_depot *depot) {
  return (hearth_depot_limit(depot) - UINT64_C(1)) * sizeof(hearth_depot_entry) +
         (__atomic_load_n(&depot->call_count, __ATOMIC_RELAXED) - UINT64_C(1)) *
             (sizeof(hearth_depot_call) + sizeof(uint64_t));
}

uint64_t hearth_depot_dropped(const hearth_depot *depot) { return __atomic_load_n(&depot->dropped, __ATOMIC_RELAXED); }
