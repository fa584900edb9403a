/* A range counts one for each 8 bytes, in the granule that these begin in: for all sizes up to several granules, from every
 * byte of one.
 *
 * RUN: %clang -g -O1 -fno-builtin -I%include %s %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t | FileCheck %s
 * CHECK: 38464 ranges, 0 differ
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hearth/rt.h"

extern uint64_t __hearth_counters;

enum { GRANULES = 48, MOST = 600 };

static char memory[GRANULES * 16] __attribute__((aligned(64)));

static int differs(unsigned byte, unsigned size) {
  uint32_t expected[GRANULES] = {0};
  uint32_t *found = (uint32_t *)((uintptr_t)memory / 4 + __hearth_counters);

  for (unsigned at = 0; at < size; at += 8)
    expected[(byte + at) / 16]++;
  memset(found, 0, sizeof expected);
  __memprof_record_access_range(memory + byte, size);
  return memcmp(found, expected, sizeof expected) != 0;
}

int main(void) {
  unsigned ranges = 0, different = 0;

  for (unsigned byte = 0; byte < 64; byte++)
    for (unsigned size = 0; size <= MOST; size++, ranges++)
      different += differs(byte, size);
  printf("%u ranges, %u differ\n", ranges, different);
  return 0;
}
