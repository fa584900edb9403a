/* A trace is replayed with the hints that a profile's plan has for its stacks, as often as asked for: blocks of both
 * functions are in pools each time, and nothing else is. Recursion and inlining make no difference.
 *
 * REQUIRES: traces
 * RUN: %clang -O1 -g -fno-builtin %s -o %t && rm -f %t.trace
 * RUN: %hearth record -q --mode=trace -o %t.trace -- %t
 * RUN: %hearth index -q --symbols %t.trace -o %t.heap
 * RUN: %hearth plan -q --layout=calls %t.heap -o %t.prof && rm -f %t.stats
 * RUN: env LD_PRELOAD=%malloc HEARTH_MALLOC=stats=%t.stats %hearth trace replay --touch --repeat=3 --plan=%t.prof \
 * RUN:   %t.trace | FileCheck %s
 * RUN: FileCheck %s --check-prefix=STATS --input-file=%t.stats
 * CHECK: operations     13500
 * CHECK-NEXT: peak live
 * CHECK-COUNT-3: peak resident
 * CHECK-NOT: peak
 * STATS: "hot":{"on":true,"live_blocks":0,{{.*}}"pools":[{"pool":0,"live_blocks":0,"live_bytes":0,"placed":4500},{"pool":1,"live_blocks":0,"live_bytes":0,"placed":9000},{"pool":2,"live_blocks":0,"live_bytes":0,"placed":4500},{"pool":3,"live_blocks":0,"live_bytes":0,"placed":4500}]
 *
 * Without the allocator there are no hints to give; nor are there for another program.
 *
 * RUN: not %hearth trace replay --plan=%t.prof %t.trace 2>&1 | FileCheck %s --check-prefix=NO-ADAPTER
 * NO-ADAPTER: no allocator of this process takes hints: preload Hearth's
 * RUN: %clang -O1 -g -fno-builtin -DOTHER %s -o %t.other && rm -f %t.other.trace
 * RUN: %hearth record -q --mode=trace -o %t.other.trace -- %t.other
 * RUN: not env LD_PRELOAD=%malloc %hearth trace replay --plan=%t.prof %t.other.trace 2>&1 \
 * RUN:   | FileCheck %s --check-prefix=OTHER
 * OTHER: .prof: it has no stack of the trace
 * RUN: not %hearth trace replay --plan=%t.prof %t.prof 2>&1 | FileCheck %s --check-prefix=NO-TRACE
 * NO-TRACE: not a trace
 * RUN: not %hearth trace replay --repeat=0 %t.trace 2>&1 | FileCheck %s --check-prefix=NEVER
 * NEVER: --repeat
 */
#include <stdlib.h>

enum { BLOCKS = 3000 };

static void *blocks[2 * BLOCKS];

__attribute__((noinline)) static void *deep(int depth) { return depth ? deep(depth - 1) : calloc(1, 40); }

#ifdef OTHER
__attribute__((noinline)) static void *fill_other(int i) { return malloc(100 + (size_t)i % 7); }
#define fill fill_other
#else
static void *fill(int i) { return i % 2 ? malloc(64) : realloc(malloc(24), 200); }
#endif

int main(void) {
#ifdef OTHER
  (void)deep;
  for (int i = 0; i < BLOCKS; i++)
    blocks[i] = fill(i);
#else
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = fill(i);
    blocks[BLOCKS + i] = deep(i % 5);
  }
#endif
  for (int i = 0; i < 2 * BLOCKS; i++)
    free(blocks[i]);
  return 0;
}
