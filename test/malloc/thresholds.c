/* HEARTH_MALLOC switches cold memory off, and says which pool each hint means.
 *
 * RUN: %clang -I%include %s %malloc_a -o %t
 * RUN: env -u HEARTH_MALLOC %t | FileCheck %s --check-prefix=DEFAULT
 * RUN: env HEARTH_MALLOC=cold=off %t | FileCheck %s --check-prefix=NOCOLD
 * RUN: env HEARTH_MALLOC=cold=off:colour=red:warm=yes %t 2>&1 | FileCheck %s --check-prefix=UNKNOWN
 * RUN: env HEARTH_MALLOC=interval=86401 %t 2>&1 | FileCheck %s --check-prefix=RANGE
 *
 * RUN: env HEARTH_MALLOC=layout=calls %t | FileCheck %s --check-prefix=DEFAULT
 * RUN: env HEARTH_MALLOC=layout=one %t | FileCheck %s --check-prefix=APART
 * RUN: env HEARTH_MALLOC=layout= %t | FileCheck %s --check-prefix=ONE
 * RUN: env HEARTH_MALLOC=layout=01v1 %t | FileCheck %s --check-prefix=LAYOUT
 * RUN: env HEARTH_MALLOC=layout=01w %t 2>&1 | FileCheck %s --check-prefix=BAD
 *
 * APART: hot 253 to 253, pools of 223 to 255: -1 -1 -1 -1, -1 -1
 * ONE: hot none, pools of 223 to 255: -1 -1 -1 -1, -1 -1
 * LAYOUT: hot 224 to 226, pools of 223 to 255: -1 0 30 0, -1 -1
 * BAD: ignored: layout=01w
 * DEFAULT: cold 0 to 63, hot 223 to 253, pools of 223 to 255: 0 to 30, -1 -1
 * NOCOLD: cold none, hot 223 to 253, pools of 223 to 255: 0 to 30, -1 -1
 * UNKNOWN: hearth malloc: HEARTH_MALLOC takes cold=off|keep|{{.*}} ignored: colour=red
 * UNKNOWN-NOT: warm
 * UNKNOWN: cold none, hot 223 to 253
 * RANGE: interval=86401
 * RANGE: cold 0 to 63
 */
#include <hearth/malloc.h>
#include <stdio.h>
#include <stdlib.h>

static void print_hints(const char *name, enum hearth_malloc_placement class) {
  int first = -1, last = -1;
  for (int hint = 0; hint < 256; hint++) {
    void *block = malloc_hot_cold(100, (uint8_t)hint);
    if (hearth_malloc_class(block) == class) {
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

static int pool_of(int hint) {
  void *block = malloc_hot_cold(100, (uint8_t)hint);
  int pool = hearth_malloc_pool(block);
  free(block);
  return pool;
}

/* Hint 223 + n asks for pool n, up to 30; 254 and 255 for none. */
static void print_pools(void) {
  int right = 0;
  for (int pool = 0; pool <= 30; pool++)
    right += pool_of(223 + pool) == pool;
  printf("pools of 223 to 255: ");
  if (right == 31)
    printf("0 to 30");
  else
    printf("%d %d %d %d", pool_of(223), pool_of(224), pool_of(225), pool_of(226));
  printf(", %d %d", pool_of(254), pool_of(255));
}

int main(void) {
  print_hints("cold", HEARTH_MALLOC_COLD);
  print_hints("hot", HEARTH_MALLOC_HOT);
  print_pools();
  putchar('\n');
  return 0;
}
