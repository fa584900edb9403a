/* An invariant that does not hold ends the program where invariants are checked, and is not even evaluated elsewhere. The
 * allocator that tests preload checks them, in whatever type of build.
 *
 * RUN: %clang -DHEARTH_CHECK -I%format %s -o %t.checked
 * RUN: not --crash %t.checked | FileCheck %s --check-prefix=CHECKED --implicit-check-not=behind
 * RUN: %clang -I%format %s -o %t
 * RUN: %t | FileCheck %s --check-prefix=PLAIN
 * RUN: objdump -d %malloc_checked | FileCheck %s --check-prefix=TRAPS
 *
 * CHECKED: evaluated
 * PLAIN-NOT: evaluated
 * PLAIN: behind
 * TRAPS-COUNT-4: {{[[:space:]](ud2|brk)}}
 */
#include "hearth/expect.h"

#include <stdio.h>

static int is_well(void) {
  puts("evaluated");
  fflush(stdout);
  return 0;
}

int main(void) {
  hearth_expect(is_well());
  puts("behind");
  return 0;
}
