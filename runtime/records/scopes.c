/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes are a stack of names for each thread. Their names become addresses in front of the call stack; the context
 * that came of a context and the names is cached by their hash. */
#include "scopes.h"

#include "os.h"
#include "running_profile.h"
#include "thread_state.h"

#include "hearth/context.h"
#include "hearth/raw.h"

#include <string.h>

_Thread_local hearth_open_scopes hearth_scopes;

/* -- entering and leaving -------------------------------------------------------------------------------------------- */

static bool lists(const char *list, const char *word) {
  size_t size = strlen(word);

  while (*list) {
    size_t piece = strcspn(list, ",");
    if (piece == size && memcmp(list, word, size) == 0)
      return true;
    list += piece + (list[piece] == ',');
  }
  return false;
}

static bool scope_is_recorded(const char *category) {
  const char *wanted = hearth_rt.options.scopes;

  return lists(wanted, "all") || lists(wanted, category);
}

/* A handler that comes in between enters its scopes above this one, which has no name then: as long as nobody is in it,
 * its place holds none. */
static hearth_scope_token push_scope(const char *name) {
  uint32_t count = hearth_scopes.count;

  hearth_scopes.count = count + 1;
  HEARTH_SIGNAL_FENCE();
  if (count < HEARTH_SCOPE_DEPTH)
    hearth_scopes.names[count] = name;
  return count + 1;
}

HEARTH_EXPORT hearth_scope_token __hearth_scope_push(const char *category, const char *name) {
  return hearth_rt.recording && scope_is_recorded(category) ? push_scope(name) : 0;
}

/* Before the start, it is not known which runtime will record which categories. */
HEARTH_EXPORT hearth_scope_token __hearth_scope_enter(hearth_scope_site *site) {
  if (!hearth_threads_known)
    return 0;
  unsigned char state = __atomic_load_n(&site->state, __ATOMIC_RELAXED);
  if (state == 0) {
    state = hearth_rt.recording && scope_is_recorded(site->category) ? HEARTH_SCOPE_ON : HEARTH_SCOPE_OFF;
    __atomic_store_n(&site->state, state, __ATOMIC_RELAXED);
  }
  return state == HEARTH_SCOPE_ON ? push_scope(site->name) : 0;
}

HEARTH_EXPORT void __hearth_scope_leave(hearth_scope_token token) {
  if (token == 0 || token > hearth_scopes.count)
    return; /* one around it was left before */
  if (hearth_scopes.known > token - 1)
    hearth_scopes.known = token - 1;
  for (uint32_t i = token - 1; i < hearth_scopes.count && i < HEARTH_SCOPE_DEPTH; ++i)
    hearth_scopes.names[i] = NULL;
  HEARTH_SIGNAL_FENCE();
  hearth_scopes.count = token - 1;
}

/* -- contexts -------------------------------------------------------------------------------------------------------- */

static uint64_t scope_mix(uint64_t hash, uint64_t pc) {
  hash = (hash ^ pc) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

/* Number the names of scopes that were entered since the last allocation. Returns how many scopes there are that count: one
 * without a name, or whose name finds no room, ends them. */
static uint32_t number_names(void) {
  uint32_t count = hearth_scopes.count < HEARTH_SCOPE_DEPTH ? hearth_scopes.count : HEARTH_SCOPE_DEPTH;

  for (uint32_t i = hearth_scopes.known; i < count; ++i) {
    const char *text = hearth_scopes.names[i];
    uint32_t name = text ? hearth_context_name(text) : HEARTH_NO_NAME;
    if (name == HEARTH_NO_NAME)
      return i;
    hearth_scopes.pcs[i] = HEARTH_RAW_SCOPE_PC | name;
    hearth_scopes.hashes[i] = scope_mix(i > 0 ? hearth_scopes.hashes[i - 1] : 0, hearth_scopes.pcs[i]);
    HEARTH_SIGNAL_FENCE();
    hearth_scopes.known = i + 1;
  }
  return count;
}

static uint32_t insert_scoped_stack(uint32_t context, uint64_t heap_pc, uint32_t scope_count) {
  uint64_t pcs[HEARTH_STACK_MOST];
  uint32_t depth, count = 0;
  bool is_new;
  const uint64_t *calls = hearth_depot_stack(&hearth_rt.depot, context, &depth);

  if (heap_pc)
    pcs[count++] = heap_pc;
  memcpy(pcs + count, calls, depth * sizeof *pcs);
  count += depth;
  for (uint32_t i = scope_count; i > 0; --i)
    pcs[count++] = hearth_scopes.pcs[i - 1];
  return hearth_depot_insert(&hearth_rt.depot, pcs, count, &is_new);
}

uint32_t hearth_scopes_extend(uint32_t context, uint64_t heap_pc, hearth_scope_cache *cache) {
  if (context == HEARTH_NO_CONTEXT || context == 0)
    return context;
  uint32_t scope_count = number_names();
  uint64_t names = scope_mix(scope_count > 0 ? hearth_scopes.hashes[scope_count - 1] : 0, heap_pc);
  if (names == 0) /* neither, or one hash of 2^64 */
    return heap_pc || scope_count > 0 ? insert_scoped_stack(context, heap_pc, scope_count) : context;
  if (!cache)
    return insert_scoped_stack(context, heap_pc, scope_count);
  uint64_t slot = scope_mix(names, context) >> 32 & (HEARTH_SCOPE_SLOTS - 1);
  if (cache->slots[slot].names != names || cache->slots[slot].context != context) {
    uint32_t made = insert_scoped_stack(context, heap_pc, scope_count);
    if (made == 0) /* a stack without room is counted each time */
      return 0;
    cache->slots[slot].names = names;
    cache->slots[slot].context = context;
    cache->slots[slot].made = made;
  }
  return cache->slots[slot].made;
}

/* Names are kept in the same way as stacks in the depot: rows and bytes are taken by atomic additions, and a row
 * becomes visible when it is put in front of its bucket's chain. */

#define MOST_NAMES   65536u
#define MOST_BYTES   (4u << 20)
#define BUCKET_COUNT 16384u

typedef struct row {
  uint64_t hash;
  uint32_t first; /* byte */
  uint32_t size;  /* set last */
  uint32_t next;  /* row + 1; 0 ends the chain */
} row;

/* One mapping; pages are taken as they are used. */
static struct tables {
  uint32_t buckets[BUCKET_COUNT]; /* row + 1; 0: empty */
  row rows[MOST_NAMES];
  char bytes[MOST_BYTES];
} *tables;

static uint32_t row_count, byte_count; /* taken so far; some may stay without use */

bool hearth_context_names_create(void) {
  tables = hearth_system_map_sparse(sizeof *tables);
  return tables != NULL;
}

/* Among the rows from `from` on, up to `end`; both are row + 1. */
static uint32_t search_names(uint32_t from, uint32_t end, uint64_t hash, const char *name, uint32_t size) {
  for (; from != end; from = tables->rows[from - 1].next) {
    const row *found = &tables->rows[from - 1];
    if (found->hash == hash && found->size == size && memcmp(tables->bytes + found->first, name, size) == 0)
      return from;
  }
  return 0;
}

/* Advance `counter` by `step` unless it would pass `most`. */
static bool take_name_room(uint32_t *counter, uint32_t step, uint32_t most, uint32_t *ret_before) {
  uint32_t before = __atomic_load_n(counter, __ATOMIC_RELAXED);

  do
    if (step > most - before)
      return false;
  while (!__atomic_compare_exchange_n(counter, &before, before + step, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  *ret_before = before;
  return true;
}

static uint32_t add_name_row(uint64_t hash, const char *name, uint32_t size) {
  uint32_t number, first;

  if (!take_name_room(&byte_count, size, MOST_BYTES, &first) || !take_name_room(&row_count, 1, MOST_NAMES, &number))
    return 0;
  memcpy(tables->bytes + first, name, size);
  tables->rows[number].hash = hash;
  tables->rows[number].first = first;
  __atomic_store_n(&tables->rows[number].size, size, __ATOMIC_RELEASE);
  return number + 1;
}

/* FNV-1a; names are short, and looked up once for each place that uses them, as a rule. */
static uint64_t hash_name_bytes(const char *name, uint32_t size) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);

  for (uint32_t i = 0; i < size; ++i)
    hash = (hash ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 32;
}

static uint32_t intern_name(const char *name, uint32_t size) {
  uint64_t hash = hash_name_bytes(name, size);
  uint32_t *bucket = &tables->buckets[hash % BUCKET_COUNT];
  uint32_t head = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
  uint32_t found = search_names(head, 0, hash, name, size), added;

  if (found || !(added = add_name_row(hash, name, size)))
    return found;
  for (uint32_t searched = head;;) {
    tables->rows[added - 1].next = head;
    if (__atomic_compare_exchange_n(bucket, &head, added, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
      return added;
    /* Others have put names in front; if one is this, our row stays without use. */
    found = search_names(head, searched, hash, name, size);
    if (found)
      return found;
    searched = head;
  }
}

static uint32_t kept_size(const char *name) {
  uint32_t size = 0;

  while (size < HEARTH_NAME_MOST && name[size])
    ++size;
  return size;
}

uint32_t hearth_context_name(const char *name) {
  uint32_t found = intern_name(name, kept_size(name));

  return found ? found - 1 : HEARTH_NO_NAME;
}

uint32_t hearth_context_name_limit(void) { return __atomic_load_n(&row_count, __ATOMIC_ACQUIRE); }

const char *hearth_context_name_text(uint32_t number, uint32_t *ret_size) {
  *ret_size = __atomic_load_n(&tables->rows[number].size, __ATOMIC_ACQUIRE);
  return tables->bytes + tables->rows[number].first;
}

uint64_t hearth_context_names_memory(void) {
  return row_count ? sizeof tables->buckets + (uint64_t)row_count * sizeof *tables->rows + byte_count : 0;
}
