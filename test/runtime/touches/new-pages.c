/* What is written once and then left alone is not touched for the looks at its pages, although the system clears no accessed bits of
 * pages that it has not listed yet, which may be those of a whole look.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t -pthread && rm -f %t.raw*
 * RUN: HEARTH_OPTIONS=log_path=%t.raw %t
 * RUN: %hearth index -q %t.raw.* --binary %t -o %t.heap
 * RUN: %hearth show --text %t.heap | awk '/^context/ { size = 0 } $1 == "MinSize" { size = $2 } \
 * RUN:   size == 200 && $1 ~ /^(Touched)?(Short)?Looks$/ { sum[$1] += $2 } \
 * RUN:   END { looks = sum["Looks"] + sum["ShortLooks"]; touched = sum["TouchedLooks"] + sum["TouchedShortLooks"]; \
 * RUN:     print (looks > 500), (touched <= looks / 1000), looks, touched }' | FileCheck %s
 * CHECK: 1 1
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST = 16 << 20, MOST = 20000 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(void) {
  static char *kept[MOST];
  char *volatile first = memset(malloc(FIRST), 1, FIRST); /* pages are looked at from some MiB on */
  double end = seconds() + 3;
  for (int i = 0; i < MOST && seconds() < end; i++) {
    double next = seconds() + 1e-4;
    kept[i] = strcpy(malloc(200), "a text");
    while (seconds() < next)
      ;
  }
  return first[0] - 1;
}
