/* A program that was optimised with a profile is recorded whole: the runtime comes before the allocator.
 *
 * RUN: %clang -O1 -g -fno-builtin -I%include %s %malloc -Wl,-rpath,%build/lib -o %t
 * RUN: rm -f %t.raw && %hearth record -o %t.raw -- %t
 * RUN: %hearth index -q %t.raw --binary %t -o %t.prof && %hearth show --text %t.prof | FileCheck %s
 * CHECK: frame main {{.*}}optimised.c
 * CHECK: AllocCount 300
 * CHECK: TotalSize 30000
 */
#include <hearth/malloc.h>
#include <stdint.h>
#include <stdlib.h>

int main(void) {
  for (int i = 0; i < 300; i++) {
    static const uint8_t hints[] = {0, 128, 254};
    free(malloc_hot_cold(100, hints[i % 3]));
  }
  return 0;
}
