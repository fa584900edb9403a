/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Linked into an optimised program to see where its blocks went: when the program exits, a line for cold memory, for the main
 * pool and for the others is appended to the file that PLACEMENT_REPORT names: "NAME HINTED LIVE BYTES FALLBACKS", the blocks
 * that a hint ever placed there, those that are live there with their bytes, and those that did not fit. Not needed to use
 * Hearth. */
#include <hearth/malloc.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_part(FILE *file, const char *name, const struct hearth_malloc_part_stats *part) {
  fprintf(file, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, part->placed, part->live_blocks,
          part->live_bytes, part->fallbacks);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("PLACEMENT_REPORT");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file)
    return;
  struct hearth_malloc_stats stats;
  hearth_malloc_stats(&stats);
  print_part(file, "cold", &stats.cold);
  print_part(file, "main", &stats.main);
  print_part(file, "pools", &stats.hot);
  fclose(file);
}
