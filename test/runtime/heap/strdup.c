/* strdup and strndup are recorded with their callers, and what they copy is counted.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -gmlt -fdebug-info-for-profiling
 * RUN: rm -f %t.raw.* && HEARTH_OPTIONS=log_path=%t.raw %t
 * RUN: python3 %S/../Inputs/raw_print.py %t.raw.* AllocCount MaxSize MaxAccessCount | FileCheck %s --check-prefix=RAW
 * RUN: %hearth index -q %t.raw.* --binary %t -o %t.prof
 * RUN: %hearth show %t.prof | FileCheck %s
 *
 * RAW: AllocCount=1 MaxSize=4 MaxAccessCount=1 |
 * RAW: AllocCount=1 MaxSize=21 MaxAccessCount=3 |
 * CHECK-DAG: copies_all
 * CHECK-DAG: copies_some
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) char *copies_all(const char *string) { return strdup(string); }

__attribute__((noinline)) char *copies_some(const char *string) { return strndup(string, 3); }

int main(void) {
  char *all = copies_all("twenty characters...");
  char *some = copies_some("four");
  int bad = memcmp(all, "twenty characters...", 21) != 0 || memcmp(some, "fou", 4) != 0;

  free(all);
  free(some);
  return bad;
}
