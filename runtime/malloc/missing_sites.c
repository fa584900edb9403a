/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Constructors that the plugin emits call these functions; each says its message once. */
#include "missing_sites.h"

#include "hints.h"
#include "malloc_messages.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_wanted;

void hearth_missing_sites_open(bool warn) { is_wanted = warn; }

/* If there are hints to lose and nothing like it was said before. */
static void say(atomic_bool *is_said, const char *message) {
  char text[480];
  const hearth_hints *hints = &hearth_hints_of_process;
  bool gives_hints = hints->cold_below || hints->hot_from <= UINT8_MAX;
  if (!gives_hints || hints->is_foreign_free || !is_wanted || atomic_exchange(is_said, true))
    return;
  snprintf(text, sizeof text, "%s. HEARTH_MALLOC=sites-warning=off silences this", message);
  hearth_malloc_warn(text, "");
}

static void tell(atomic_bool *is_said, const char *before, uint64_t plan, const char *behind) {
  char text[400];
  snprintf(text, sizeof text, "%s%016" PRIx64 "%s", before, plan, behind);
  say(is_said, text);
}

static void tell_of_no_sites(uint64_t plan) {
  static atomic_bool is_said;
  tell(&is_said, "no decision site of plan ", plan,
       " so far: cold and hot blocks that their callers tell apart are placed as without a profile. Compile all files "
       "with that profile, from -O1 on, and profile again after large changes; if dlopen loads the library that "
       "allocates, link the program with -rdynamic");
}

static void tell_of_own_word(uint64_t plan) {
  static atomic_bool is_said;
  tell(&is_said, "a library keeps the contexts of plan ", plan,
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

/* A program, and each library, calls this as it starts, for each plan of its files, with the pool of each of the plan's ids. The
 * first one's layout counts. */
HEARTH_EXPORT void hearth_malloc_plan(uint64_t plan, const uint8_t *layout);

void hearth_malloc_plan(uint64_t plan, const uint8_t *layout) {
  static atomic_bool is_said;
  static _Atomic uint64_t first;
  uint64_t known = 0;
  if (atomic_compare_exchange_strong_explicit(&first, &known, plan, memory_order_relaxed, memory_order_relaxed))
    hearth_hints_set_layout(layout);
  if (!known || known == plan)
    return;
  tell(&is_said, "files that were compiled with plan ", plan,
       " are in one process with files of another one: where a context goes through both, blocks are placed as without "
       "a profile. Compile all with one profile (make clean), libraries too");
}

/* A program, and each library, calls this as it starts that was compiled for a link with the plugin, and linked without it. */
HEARTH_EXPORT void hearth_malloc_no_plugin(void);

void hearth_malloc_no_plugin(void) {
  static atomic_bool is_said;
  say(&is_said,
      "the link-time optimiser was run without Hearth's plugin: cold and hot blocks that contexts tell apart are "
      "placed as without a profile. Compile and link with the flags of 'hearth flags use --lto=thin' (or full)");
}
