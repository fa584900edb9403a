/* Near its peak a heap takes what was freed before it takes more from the system, though little was freed:
 *
 *   0  blocks of 16 KiB are freed; small ones come
 *   1  blocks of 1 MiB are freed, none beside another; one of 6 MiB comes
 *
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -o %t
 * RUN: for way in 0 1; do %t $way || exit; done | FileCheck %s
 * CHECK: under 9/8 of what is live
 * CHECK: under 33/32 of what is live
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { MIB = 1 << 20, SMALL = 64, MEDIUM = 16 << 10, MEDIUMS = 10 * MIB / MEDIUM, LARGES = 64, LIVE = 64 * MIB };

static void *make(size_t bytes) { return memset(malloc(bytes), 1, bytes); }

static void make_small(int mib) {
  for (int i = 0; i < mib * (MIB / SMALL); i++)
    make(SMALL);
}

static void small_after_medium(void) {
  static void *medium[MEDIUMS];
  for (int i = 0; i < MEDIUMS; i++)
    medium[i] = make(MEDIUM);
  make_small(54);
  for (int i = 0; i < MEDIUMS; i++)
    free(medium[i]);
  make_small(10);
}

static void large_after_large(void) {
  static void *large[LARGES];
  for (int i = 0; i < LARGES; i++)
    large[i] = make(MIB - 4096);
  for (int i = 0; i < 12; i += 2)
    free(large[i]);
  make(6 * MIB);
}

int main(int argc, char **argv) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  struct rusage usage;
  int is_large = argc > 1 && atoi(argv[1]);
  getrusage(RUSAGE_SELF, &usage);
  long before = usage.ru_maxrss, parts = is_large ? 32 : 8; /* small blocks have a sixteenth in the map */
  is_large ? large_after_large() : small_after_medium();
  getrusage(RUSAGE_SELF, &usage);
  long peak = usage.ru_maxrss - before, live = LIVE / 1024;
  fprintf(stderr, "peak %ld of %ld KiB\n", peak, live);
  printf("%s %ld/%ld of what is live\n", peak < live + live / parts ? "under" : "over", parts + 1, parts);
  return 0;
}
