/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opens the allocator, before main: options, placements, cold memory, the status for `hearth top`. What is asked for
 * before that, by constructors of libraries, is placed as without a hint. */
#define _GNU_SOURCE
#include "hints.h"

#include "cold_memory.h"
#include "guard.h"
#include "hearth/hints.h"
#include "hearth/rt.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

_Static_assert((int)HEARTH_POOLED_BYTES_MAX == HEARTH_MEDIUM_BYTES, "profiles know which blocks have no pool");
hearth_hints hearth_hints_of_process;

void *hearth_hinted_alloc(unsigned placement, size_t bytes, size_t alignment, bool *ret_zero) {
  hearth_heap *heap = hearth_heap_of_thread();
  if (placement == HEARTH_POOL_COLD)
    hearth_cold_thread_ensure();
  hearth_pool *pool = heap ? hearth_heap_pool(heap, placement) : NULL;
  void *block = pool ? hearth_alloc(pool, bytes, alignment, ret_zero) : NULL;
  if (block) {
    heap->hinted[placement]++;
    return block;
  }
  if (placement == HEARTH_POOL_COLD && heap && (block = hearth_alloc(&heap->main, bytes, alignment, ret_zero)))
    atomic_fetch_add_explicit(&hearth_hints_of_process.fallbacks, 1, memory_order_relaxed);
  return block;
}

/* Does a profiling runtime record the program? It is to see all blocks: none may lie in pools of ours. */
static bool is_recorded(void) {
  void *of_runtime;
  HEARTH_FIND_OPTIONAL(of_runtime, __hearth_scope_enter);
  return of_runtime;
}

/* Where the public names lead elsewhere, a block of ours would come to a foreign free. */
static bool frees_come_here(void) {
  hearth_frees_of_null = 0;
  free(NULL);
  return hearth_frees_of_null == 1 && malloc_usable_size(NULL) == 0;
}

static void tell_foreign_free(void) {
  const char *sanitizer = hearth_sanitizer_find();
  if (sanitizer)
    hearth_malloc_warn("hints are ignored: free is that of ", sanitizer);
  else
    hearth_malloc_warn(
        "hints are ignored: free is not that of Hearth's allocator, but the program's or that of a library "
        "before it (preload it: LD_PRELOAD=$(hearth flags malloc --preload))",
        "");
}

void hearth_hint_pass_on(uint8_t hint) {
  static _Atomic bool is_told;
  hearth_hints *hints = &hearth_hints_of_process;
  if (hearth_main_pool->heap)
    hearth_main_pool->heap->hinted[HEARTH_POOL_NONE]++;
  else
    atomic_fetch_add_explicit(&hints->passed_on, 1, memory_order_relaxed);
  bool is_ignored = hints->is_foreign_free || (hints->is_foreign_delete && hearth_hint_placement(hint));
  if (!is_ignored || hint == HEARTH_HINT_NOTCOLD || atomic_exchange(&is_told, true))
    return;
  if (hints->is_foreign_free)
    tell_foreign_free();
  else
    hearth_malloc_warn("hints of operator new are ignored: another operator delete comes before the allocator's", "");
}

/* Of ids; layout of NULL: each has a pool of its own. */
static hearth_malloc_options opened;
static const uint8_t *layout_of_plan;

enum { COLD_BELOW = 64 };

static uint8_t placement_of_hint(unsigned hint, const uint8_t *layout) {
  if (hint < COLD_BELOW && opened.has_cold)
    return HEARTH_POOL_COLD;
  if (hint < HEARTH_HINT_POOL || hint >= HEARTH_HINT_HOT)
    return HEARTH_POOL_NONE;
  if (hint == HEARTH_HINT_DORMANT && layout && !opened.has_cold)
    return HEARTH_POOL_MAIN;
  unsigned id = hint - HEARTH_HINT_POOL, pool = layout ? layout[id] : id + 1;
  return (uint8_t)(pool ? HEARTH_POOL_FIRST + pool - 1 : HEARTH_POOL_MAIN);
}

static void set_hint_placements(void) {
  hearth_hints *hints = &hearth_hints_of_process;
  const uint8_t *layout = opened.has_layout ? opened.layout : layout_of_plan;
  for (unsigned hint = 0; hint <= UINT8_MAX; hint++) {
    uint8_t placement = placement_of_hint(hint, layout);
    atomic_store_explicit(&hints->placement[hint], placement, memory_order_relaxed);
    if (!hints->is_foreign_delete)
      atomic_store_explicit(&hints->placement_of_new[hint], placement, memory_order_relaxed);
  }
}

/* Code of the program takes blocks of neutral hints, too: it is to bypass no function of the program's. It
 * counts nothing, and knows the layout of the profile alone. */
static void open_fast_path(const hearth_hints *hints) {
  bool is_malloc = (uintptr_t)malloc == (uintptr_t)hearth_engine_malloc &&
                   (uintptr_t)calloc == (uintptr_t)hearth_engine_calloc &&
                   (uintptr_t)realloc == (uintptr_t)hearth_engine_realloc,
       is_new = !hints->is_foreign_delete && hearth_news_are_own(),
       is_open = !opened.has_layout && !*opened.statistics && is_malloc;
  hearth_heaps_open_fast_path(is_open, is_open && is_new, is_malloc && is_new);
}

void hearth_hints_set_layout(const uint8_t *layout) {
  layout_of_plan = layout;
  if (hearth_hints_of_process.are_open)
    set_hint_placements();
}

/* Plans whose bits nothing sets, or which are not those of the hints: constructors that the plugin emits call these
 * functions, each of which says its message once. */

static void warn_of_sites(atomic_bool *is_said, const char *message) {
  char text[480];
  const hearth_hints *hints = &hearth_hints_of_process;
  if (hints->is_foreign_free || !opened.warns_of_sites || atomic_exchange(is_said, true))
    return;
  snprintf(text, sizeof text, "%s. HEARTH_MALLOC=sites-warning=off silences this", message);
  hearth_malloc_warn(text, "");
}

static void warn_of_plan(atomic_bool *is_said, const char *before, uint64_t plan, const char *behind) {
  char text[400];
  snprintf(text, sizeof text, "%s%016" PRIx64 "%s", before, plan, behind);
  warn_of_sites(is_said, text);
}

static void tell_of_no_sites(uint64_t plan) {
  static atomic_bool is_said;
  warn_of_plan(
      &is_said, "no decision site of plan ", plan,
      " so far: cold and hot blocks that their callers tell apart are placed as without a profile. Compile all files "
      "with that profile, from -O1 on, and profile again after large changes; if dlopen loads the library that "
      "allocates, link the program with -rdynamic");
}

static void tell_of_own_word(uint64_t plan) {
  static atomic_bool is_said;
  warn_of_plan(
      &is_said, "a library keeps the contexts of plan ", plan,
      " to itself: its blocks are placed as without a profile where the program's callers tell blocks apart. Its "
      "version script, or -Bsymbolic, hides them: add 'global: __hearth_contexts.*;' to the script");
}

/* A program or library calls this as it starts if its allocations heed the bits of a plan and it has files without
 * decision sites. It passes the function that the loader found for it where decision sites are (NULL: none), and the
 * word that it reads. */
HEARTH_EXPORT void hearth_malloc_need_sites(uint64_t plan, void *(*word_of_sites)(void), void *word);

void hearth_malloc_need_sites(uint64_t plan, void *(*word_of_sites)(void), void *word) {
  if (!word_of_sites)
    tell_of_no_sites(plan);
  else if (word_of_sites() != word)
    tell_of_own_word(plan);
}

/* A program, and each library, calls this as it starts, for each plan of its files, with the pool of each of the
 * plan's ids. The first one's layout counts. */
HEARTH_EXPORT void hearth_malloc_plan(uint64_t plan, const uint8_t *layout);

void hearth_malloc_plan(uint64_t plan, const uint8_t *layout) {
  static atomic_bool is_said;
  uint64_t known = 0;
  if (atomic_compare_exchange_strong_explicit(&hearth_hints_of_process.plan, &known, plan, memory_order_relaxed,
                                              memory_order_relaxed))
    hearth_hints_set_layout(layout);
  if (!known || known == plan)
    return;
  warn_of_plan(
      &is_said, "files that were compiled with plan ", plan,
      " are in one process with files of another one: where a context goes through both, blocks are placed as without "
      "a profile. Compile all with one profile (make clean), libraries too");
}

/* A program, and each library, calls this as it starts that was compiled for a link with the plugin, and linked
 * without it. */
HEARTH_EXPORT void hearth_malloc_no_plugin(void);

void hearth_malloc_no_plugin(void) {
  static atomic_bool is_said;
  warn_of_sites(
      &is_said,
      "the link-time optimiser was run without Hearth's plugin: cold and hot blocks that contexts tell apart are "
      "placed as without a profile. Compile and link with the flags of 'hearth flags use --lto=thin' (or full)");
}

/* Of the environment as the loader passes it on: getenv may be the program's. The user of a setuid program does not
 * choose its allocator's behaviour. */
static const char *malloc_option_text(char **environment) {
  static const char name[] = "HEARTH_MALLOC=";
  if (getauxval(AT_SECURE))
    return NULL;
  for (; environment && *environment; environment++)
    if (!strncmp(*environment, name, sizeof name - 1))
      return *environment + sizeof name - 1;
  return NULL;
}

__attribute__((constructor(102))) static void open_hints(int count, char **arguments, char **environment) {
  (void)count;
  (void)arguments;
  hearth_hints *hints = &hearth_hints_of_process;
  opened = hearth_malloc_options_parse(malloc_option_text(environment));
  if (opened.is_secure)
    hearth_secure_mode_open();
  hearth_statistics_file_open(opened.statistics);
  hints->cold_below = opened.has_cold ? COLD_BELOW : 0;
  if (is_recorded())
    return;
  if (hearth_sanitizer_find() || !frees_come_here()) { /* a sanitizer may not have begun: nothing of its is called */
    hints->is_foreign_free = true;
    return;
  }
  if (opened.has_cold)
    hearth_cold_memory_configure(&opened);
  hints->is_foreign_delete = !hearth_deletes_are_own();
  hints->are_open = true;
  set_hint_placements();
  open_fast_path(hints);
  hearth_status_write();
}
