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

/* Number the names of scopes that were entered since the last allocation. Returns how many scopes there are that
 * count: one without a name, or whose name finds no room, ends them. */
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
  uint32_t count = 0;
  bool is_new;

  if (heap_pc)
    pcs[count++] = heap_pc;
  count += hearth_depot_copy(&hearth_rt.depot, context, pcs + count);
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

/* Names are kept as stacks are, in a depot of their own: as words, the last of which has a NUL. */

#define MOST_NAMES    65536u
#define AVERAGE_WORDS 8u

static hearth_depot names;

bool hearth_context_names_create(void) { return hearth_depot_create(&names, MOST_NAMES, AVERAGE_WORDS); }

uint32_t hearth_context_name(const char *name) {
  uint64_t words[HEARTH_NAME_MOST / 8 + 1] = {0};
  uint32_t size = 0;
  bool is_new;

  for (; size < HEARTH_NAME_MOST && name[size]; ++size)
    ((char *)words)[size] = name[size];
  uint32_t number = hearth_depot_insert(&names, words, size / 8 + 1, &is_new);
  return number ? number - 1 : HEARTH_NO_NAME;
}

uint32_t hearth_context_name_limit(void) { return names.entries ? hearth_depot_limit(&names) - 1 : 0; }

uint32_t hearth_context_name_copy(uint32_t number, char ret_text[HEARTH_NAME_MOST + 1]) {
  uint64_t words[HEARTH_NAME_MOST / 8 + 1] = {0};

  hearth_depot_copy(&names, number + 1, words);
  memcpy(ret_text, words, sizeof words);
  return (uint32_t)strlen(ret_text);
}

uint64_t hearth_context_names_memory(void) { return names.entries ? hearth_depot_memory(&names) : 0; }
