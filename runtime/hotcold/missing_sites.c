#include "missing_sites.h"

#include "entry.h"
#include "fatal.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_wanted;
static _Atomic bool is_said;

void hearth_missing_sites_open(bool warn) { is_wanted = warn; }

/* A program, and each library, whose allocations heed the bits of a plan calls this as it starts, if the loader found no
 * decision site of that plan for it. */
HEARTH_EXPORT void hearth_hotcold_no_sites(uint64_t plan);

void hearth_hotcold_no_sites(uint64_t plan) {
  char text[400];
  if (!atomic_load_explicit(&hearth_ranges.opened, memory_order_acquire))
    hearth_ranges_open();
  bool gives_hints = atomic_load_explicit(&hearth_ranges.bytes, memory_order_acquire) != 0;
  if (!gives_hints || !is_wanted || atomic_exchange_explicit(&is_said, true, memory_order_relaxed))
    return;
  snprintf(
      text, sizeof text,
      "no decision site of plan %016" PRIx64 ": cold and hot blocks that their callers tell apart are placed as "
      "without a profile. Compile all files with that profile, from -O1 on, and profile again after large changes; "
      "if dlopen loads the library that allocates, link the program with -rdynamic. HEARTH_HOTCOLD=sites-warning=off "
      "silences this",
      plan);
  hearth_hotcold_warn(text, "");
}
