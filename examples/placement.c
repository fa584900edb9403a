/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Linked into an optimised program to see where its blocks went: when the program exits, a line per address range of
 * the allocator adapter is appended to the file that PLACEMENT_REPORT names: "NAME EVER LIVE BYTES FALLBACKS", the
 * blocks ever placed there, those still live with their bytes, and those that did not fit. Not needed to use Hearth. */
#include <hearth/hotcold.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_range(FILE *file, const char *name, const struct hearth_hotcold_range_stats *range) {
  fprintf(file, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, range->ever_blocks, range->live_blocks,
          range->live_bytes, range->fallbacks);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("PLACEMENT_REPORT");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file)
    return;
  struct hearth_hotcold_stats stats;
  hearth_hotcold_stats(&stats);
  print_range(file, "cold", &stats.cold);
  print_range(file, "hot", &stats.hot);
  fclose(file);
}
