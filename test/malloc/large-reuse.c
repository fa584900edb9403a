/* Large blocks that replace each other, of sizes at random: most lie in memory that was freed before, not in pages that went
 * back to the system, and the whole stays near the most that was live.
 *
 * RUN: %clang -O1 -fno-builtin %s %malloc_a -o %t
 * RUN: %t | FileCheck %s
 * CHECK: pages that come from the system: under a third
 * CHECK: most that is resident: under 5/4 of the most that was live
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { BLOCKS = 20, REPLACEMENTS = 2000, LEAST = 5 << 20, SPAN = 20 << 20, PAGE = 4096 };

static void touch(char *block, size_t size) {
  for (size_t at = 0; at < size; at += PAGE)
    block[at] = 1;
}

static size_t peak_kib(long *ret_faults) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  *ret_faults = usage.ru_minflt;
  return (size_t)usage.ru_maxrss;
}

int main(void) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* a fault is a page */
  static char *block[BLOCKS];
  static size_t size[BLOCKS];
  size_t live = 0, most_live = 0, pages = 0;
  unsigned random = 42;
  for (int i = 0; i < REPLACEMENTS; i++) {
    random = random * 1103515245 + 12345;
    unsigned which = (random >> 16) % BLOCKS;
    random = random * 1103515245 + 12345;
    size_t bytes = LEAST + (size_t)(random >> 8) % SPAN;
    char *made = malloc(bytes);
    touch(made, bytes);
    live += bytes;
    most_live = live > most_live ? live : most_live;
    pages += bytes / PAGE;
    free(block[which]);
    live -= size[which];
    block[which] = made;
    size[which] = bytes;
  }
  long faults;
  size_t peak = peak_kib(&faults) << 10;
  fprintf(stderr, "%ld faults, %zu pages, peak %zu of %zu bytes\n", faults, pages, peak, most_live);
  printf("pages that come from the system: %s\n", (size_t)faults < pages / 3 ? "under a third" : "over a third");
  printf("most that is resident: %s 5/4 of the most that was live\n", peak < most_live / 4 * 5 ? "under" : "over");
  return 0;
}
