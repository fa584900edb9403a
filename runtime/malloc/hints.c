/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* From a hint to a pool, and the functions that take hints. The allocator is opened before main: options, placements,
 * cold memory, the status for `hearth top`. What is asked for before that, by constructors of libraries, is placed as
 * without a hint. */
#define _GNU_SOURCE
#include "hints.h"

#include "entry_points.h"
#include "heap_memory.h"
#include "hearth/lowered_calls.h"
#include "hearth/malloc.h"
#include "hearth/rt.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

_Static_assert((int)HEARTH_POOLED_BYTES_MAX == HEARTH_MEDIUM_BYTES, "profiles know which blocks have no pool");
hearth_hints hearth_hints_of_process;
/* Here, as the linker takes this file out of the archive for it, with all that the hinted functions need. */
_Thread_local unsigned hearth_frees_of_null;

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

static hearth_malloc_options opened;
/* The pool of each id (HEARTH_LAYOUT_IDS), 0 the main one; NULL: its own for each. */
static const uint8_t *layout_of_plan;

static bool has_cold(void) { return opened.cold_mode != HEARTH_COLD_OFF; }

enum { COLD_BELOW = 64 };

static uint8_t placement_of_hint(unsigned hint, const uint8_t *layout) {
  if (hint < COLD_BELOW && has_cold())
    return HEARTH_POOL_COLD;
  if (hint < HEARTH_HINT_POOL || hint >= HEARTH_HINT_HOT)
    return HEARTH_POOL_NONE;
  if (hint == HEARTH_HINT_DORMANT && layout && !has_cold())
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
                                              memory_order_relaxed)) {
    layout_of_plan = layout;
    if (hearth_hints_of_process.are_open)
      set_hint_placements();
  }
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
  hints->cold_below = has_cold() ? COLD_BELOW : 0;
  if (is_recorded())
    return;
  if (hearth_sanitizer_find() || !frees_come_here()) { /* a sanitizer may not have begun: nothing of its is called */
    hints->is_foreign_free = true;
    return;
  }
  if (has_cold())
    hearth_cold_memory_configure(&opened);
  hints->is_foreign_delete = !hearth_deletes_are_own();
  hints->are_open = true;
  set_hint_placements();
  open_fast_path(hints);
  hearth_status_write();
}

/* -- the hinted functions -------------------------------------------------------------------------------------------- */

/* They have tcmalloc's names. A neutral hint, and one that is not heeded, is a call of the plain function by its name:
 * the program may have replaced it. */

static __attribute__((noinline)) void *hinted_slowly(size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  bool is_zero;
  if (placement != HEARTH_POOL_NONE)
    return hearth_hinted_alloc(placement, bytes, 1, &is_zero);
  hearth_hint_pass_on(hint);
  return malloc(bytes);
}

static __attribute__((noinline)) void *hinted_at_cursor(size_t bytes, uint8_t hint, unsigned placement,
                                                        hearth_pool *pool) {
  void *block = hearth_hinted_take(placement, pool, bytes);
  return HEARTH_LIKELY(block != NULL) ? block : hinted_slowly(bytes, hint);
}

HEARTH_EXPORT void *malloc_hot_cold(size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  hearth_heap *heap = hearth_hinted_heap();
  hearth_pool *pool = hearth_hinted_pool(heap, placement);
  if (HEARTH_UNLIKELY(!pool))
    return hinted_slowly(bytes, hint);
  void *block = hearth_hinted_pop(heap, placement, pool, bytes);
  return HEARTH_LIKELY(block != NULL) ? block : hinted_at_cursor(bytes, hint, placement, pool);
}

/* A block from clean pages is zero already, and touching all of it would make it resident. */
HEARTH_EXPORT void *calloc_hot_cold(size_t count, size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  if (placement == HEARTH_POOL_NONE) {
    hearth_hint_pass_on(hint);
    return calloc(count, bytes);
  }
  bool is_zero = false;
  hearth_heap *heap = hearth_hinted_heap();
  hearth_pool *pool = hearth_hinted_pool(heap, placement);
  void *block = pool ? hearth_hinted_pop(heap, placement, pool, all) : NULL;
  if (!block)
    block = hearth_hinted_alloc(placement, all, 1, &is_zero);
  return block && !is_zero ? memset(block, 0, all) : block;
}

/* Would so many bytes of a placement lie where the block lies? */
static bool lies_where(const void *block, size_t bytes, unsigned placement) {
  hearth_kind kind = hearth_kind_of(block);
  return kind == placement || (hearth_is_large(kind) && bytes > HEARTH_MEDIUM_BYTES &&
                               hearth_is_cold(kind) == (placement == HEARTH_POOL_COLD));
}

static __attribute__((noinline)) void *resize_hinted(void *block, size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  if (placement == HEARTH_POOL_NONE) {
    hearth_hint_pass_on(hint);
    return realloc(block, bytes);
  }
  if (!bytes || lies_where(block, bytes, placement))
    return realloc(block, bytes);
  void *moved = malloc_hot_cold(bytes, hint);
  if (!moved)
    return NULL;
  size_t usable = malloc_usable_size(block);
  memcpy(moved, block, usable < bytes ? usable : bytes);
  free(block);
  return moved;
}

HEARTH_EXPORT void *realloc_hot_cold(void *block, size_t bytes, uint8_t hint) {
  return block ? resize_hinted(block, bytes, hint) : malloc_hot_cold(bytes, hint);
}

HEARTH_EXPORT void *reallocarray_hot_cold(void *block, size_t count, size_t bytes, uint8_t hint) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc_hot_cold(block, all, hint);
}

/* NULL: the plain function is to serve the request, or to refuse it. */
static void *hinted_memalign(size_t alignment, size_t bytes, uint8_t hint) {
  unsigned placement = hearth_hint_placement(hint);
  bool is_zero;
  if (placement != HEARTH_POOL_NONE && hearth_is_power_of_two(alignment))
    return hearth_hinted_alloc(placement, bytes, alignment, &is_zero);
  hearth_hint_pass_on(hint);
  return NULL;
}

HEARTH_EXPORT void *memalign_hot_cold(size_t alignment, size_t bytes, uint8_t hint) {
  void *block = hinted_memalign(alignment, bytes, hint);
  return block ? block : memalign(alignment, bytes);
}

HEARTH_EXPORT void *aligned_alloc_hot_cold(size_t alignment, size_t bytes, uint8_t hint) {
  void *block = hinted_memalign(alignment, bytes, hint);
  return block ? block : aligned_alloc(alignment, bytes);
}

HEARTH_EXPORT int posix_memalign_hot_cold(void **ret_block, size_t alignment, size_t bytes, uint8_t hint) {
  void *block = alignment >= sizeof(void *) ? hinted_memalign(alignment, bytes, hint) : NULL;
  if (!block)
    return posix_memalign(ret_block, alignment, bytes);
  *ret_block = block;
  return 0;
}

HEARTH_EXPORT void *valloc_hot_cold(size_t bytes, uint8_t hint) {
  void *block = hinted_memalign(HEARTH_PAGE_BYTES, bytes, hint);
  return block ? block : valloc(bytes);
}

HEARTH_EXPORT void *pvalloc_hot_cold(size_t bytes, uint8_t hint) {
  size_t whole = (bytes + HEARTH_PAGE_BYTES - 1) & -(size_t)HEARTH_PAGE_BYTES;
  void *block = whole >= bytes ? hinted_memalign(HEARTH_PAGE_BYTES, whole, hint) : NULL;
  return block ? block : pvalloc(bytes);
}

static char *copy_string(const char *string, size_t length, uint8_t hint) {
  char *copy = malloc_hot_cold(length + 1, hint);
  if (!copy)
    return NULL;
  memcpy(copy, string, length);
  copy[length] = 0;
  return copy;
}

HEARTH_EXPORT char *strdup_hot_cold(const char *string, uint8_t hint) {
  return copy_string(string, strlen(string), hint);
}

HEARTH_EXPORT char *strndup_hot_cold(const char *string, size_t max_bytes, uint8_t hint) {
  return copy_string(string, strnlen(string, max_bytes), hint);
}

/* Where a block lies. */

HEARTH_EXPORT enum hearth_malloc_placement hearth_malloc_class(const void *pointer) {
  hearth_kind kind = hearth_kind_of(pointer);
  if (hearth_is_cold(kind))
    return HEARTH_MALLOC_COLD;
  return hearth_is_segment(kind) && kind >= HEARTH_POOL_FIRST ? HEARTH_MALLOC_HOT : HEARTH_MALLOC_OTHER;
}

HEARTH_EXPORT int hearth_malloc_pool(const void *block) {
  return hearth_malloc_class(block) == HEARTH_MALLOC_HOT ? hearth_kind_of(block) - HEARTH_POOL_FIRST : -1;
}
