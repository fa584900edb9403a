#include "missing_sites.h"

#include "entry.h"
#include "fatal.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_wanted;

void hearth_missing_sites_open(bool warn) { is_wanted = warn; }

/* Is it worth a message, of which this is the first? */
static bool is_to_say(atomic_bool *is_said) {
  if (!atomic_load_explicit(&hearth_ranges.opened, memory_order_acquire))
    hearth_ranges_open();
  bool gives_hints = atomic_load_explicit(&hearth_ranges.bytes, memory_order_acquire) != 0;
  return gives_hints && is_wanted && !atomic_exchange_explicit(is_said, true, memory_order_relaxed);
}

/* A program, and each library, whose allocations heed the bits of a plan calls this as it starts, if the loader found no
 * decision site of that plan for it. */
HEARTH_EXPORT void hearth_hotcold_no_sites(uint64_t plan);

void hearth_hotcold_no_sites(uint64_t plan) {
  static atomic_bool is_said;
  char text[400];
  if (!is_to_say(&is_said))
    return;
  snprintf(text, sizeof text,
           "no decision site of plan %016" PRIx64 " so far: cold and hot blocks that their callers tell apart are placed "
           "as without a profile. Compile all files with that profile, from -O1 on, and profile again after large "
           "changes; if dlopen loads the library that allocates, link the program with -rdynamic. "
           "HEARTH_HOTCOLD=sites-warning=off silences this",
           plan);
  hearth_hotcold_warn(text, "");
}

/* A program, and each library, of whose files some were compiled with another plan calls this as it starts. */
HEARTH_EXPORT void hearth_hotcold_other_plan(uint64_t plan);

void hearth_hotcold_other_plan(uint64_t plan) {
  static atomic_bool is_said;
  char text[400];
  if (!is_to_say(&is_said))
    return;
  snprintf(text, sizeof text,
           "files that were compiled with plan %016" PRIx64 " are linked with files of another one: where a context goes "
           "through both, blocks are placed as without a profile. The profile has changed since: compile all files anew "
           "(make clean). HEARTH_HOTCOLD=sites-warning=off silences this",
           plan);
  hearth_hotcold_warn(text, "");
}
