/* HEARTH_HOTCOLD sets which hints are cold and hot, and switches ranges off.
 *
 * RUN: %clang -I%include %s %hotcold_a -o %t
 * RUN: env -u HEARTH_HOTCOLD %t | FileCheck %s --check-prefix=DEFAULT
 * RUN: env HEARTH_HOTCOLD=cold-below=1:hot-from=129 %t | FileCheck %s --check-prefix=MOVED
 * RUN: env HEARTH_HOTCOLD=cold=off %t | FileCheck %s --check-prefix=NOCOLD
 * RUN: env HEARTH_HOTCOLD=hot=off:cold-below=256 %t | FileCheck %s --check-prefix=ALLCOLD
 * RUN: env HEARTH_HOTCOLD=cold=off:hot=off %t | FileCheck %s --check-prefix=OFF
 * RUN: env HEARTH_HOTCOLD=cold-below=1:colour=red:warm=yes %t 2>&1 | FileCheck %s --check-prefix=UNKNOWN
 * RUN: env HEARTH_HOTCOLD=cold-below=257 %t 2>&1 | FileCheck %s --check-prefix=RANGE
 *
 * DEFAULT: cold 0 to 63, hot 223 to 255, reserved both
 * MOVED: cold 0 to 0, hot 129 to 255, reserved both
 * NOCOLD: cold none, hot 223 to 255, reserved hot
 * ALLCOLD: cold 0 to 255, hot none, reserved cold
 * OFF: cold none, hot none, reserved neither
 * UNKNOWN: hearth hotcold: HEARTH_HOTCOLD takes cold=,{{.*}} ignored: colour=red
 * UNKNOWN-NOT: warm
 * UNKNOWN: cold 0 to 0, hot 223 to 255
 * RANGE: cold-below=257
 * RANGE: cold 0 to 63
 */
#include <hearth/hotcold.h>
#include <stdio.h>
#include <stdlib.h>

static void print_hints(const char *name, enum hearth_hotcold_placement class) {
  int first = -1, last = -1;
  for (int hint = 0; hint < 256; hint++) {
    void *block = malloc_hot_cold(100, (uint8_t)hint);
    if (hearth_hotcold_class(block) == class) {
      first = first < 0 ? hint : first;
      last = hint;
    }
    free(block);
  }
  if (first < 0)
    printf("%s none, ", name);
  else
    printf("%s %d to %d, ", name, first, last);
}

int main(void) {
  struct hearth_hotcold_stats stats;
  print_hints("cold", HEARTH_HOTCOLD_COLD);
  print_hints("hot", HEARTH_HOTCOLD_HOT);
  hearth_hotcold_stats(&stats);
  const char *both[] = {"neither", "cold", "hot", "both"};
  printf("reserved %s\n", both[(stats.cold.reserved_bytes != 0) + 2 * (stats.hot.reserved_bytes != 0)]);
  return 0;
}
