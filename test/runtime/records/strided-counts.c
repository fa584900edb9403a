/* What instrumentation counts for a whole loop is what its accesses would have counted one by one: for all strides around
 * those that divide a granule, from every byte of one, upwards and downwards, atomically or not.
 *
 * RUN: %clang -g -O1 %s %rt -lpthread -o %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t | FileCheck %s
 * CHECK: 204800 loops, 0 differ
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern uint64_t __hearth_counters;
void __hearth_count_strided(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight);
void __hearth_count_strided_atomic(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight);

enum { GRANULES = 2048, COUNTS = 5 };

static char memory[GRANULES * 16] __attribute__((aligned(64)));

static uint32_t *counters(void) { return (uint32_t *)((uintptr_t)memory / 4 + __hearth_counters); }

static int differs(uintptr_t address, intptr_t stride, uint64_t count, uint64_t weight, int atomic) {
  uint32_t expected[GRANULES] = {0}, *found = counters();

  for (uint64_t i = 0; i < count; i++)
    expected[(address + i * (uintptr_t)stride - (uintptr_t)memory) / 16] += (uint32_t)weight;
  memset(found, 0, sizeof expected);
  (atomic ? __hearth_count_strided_atomic : __hearth_count_strided)(address, stride, count, weight);
  return memcmp(found, expected, sizeof expected) != 0;
}

int main(void) {
  static const uint64_t counts[COUNTS] = {0, 1, 2, 63, 100};
  uintptr_t middle = (uintptr_t)memory + sizeof memory / 2;
  unsigned loops = 0, different = 0;

  for (intptr_t stride = -160; stride <= 160; stride++)
    for (unsigned byte = 0; stride && byte < 64; byte++)
      for (unsigned i = 0; i < COUNTS; i++)
        for (int atomic = 0; atomic < 2; atomic++, loops++)
          different += differs(middle + byte, stride, counts[i], i % 2 ? 3 : 5000, atomic);
  printf("%u loops, %u differ\n", loops, different);
  return 0;
}
