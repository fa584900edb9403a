/* Tables of a heap dump: by function, caller and file, wrappers looked through, instead of its call stacks.
 *
 * REQUIRES: traces
 * RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-builtin %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: %hearth record -q --mode=live -o dump -- %t && %hearth heap --by=function dump.* | FileCheck %s
 * CHECK: 1 peak
 * CHECK: Live in dump.peak:
 * CHECK: live with all it calls blocks function
 * CHECK-NEXT: 58.6 KiB {{[0-9.]+}}% 58.6 KiB {{[0-9.]+}}% 3 load heap-by.c
 * CHECK-NEXT: 9.8 KiB {{[0-9.]+}}% 68.4 KiB {{[0-9.]+}}% 1 main heap-by.c
 * CHECK-NOT: {{^ +[0-9.]+ .iB .* in}}
 * RUN: %hearth heap --by=caller --limit=1 dump.* | FileCheck %s --check-prefix=CALLER
 * CALLER: blocks caller
 * CALLER-NEXT: main heap-by.c
 * RUN: %hearth heap --by=function --limit=1 --dump=peak dump.* | FileCheck %s --check-prefix=LIMIT
 * LIMIT: load heap-by.c
 * LIMIT-NEXT: {{.*}}% ... in {{[0-9]+}} more (--limit=0 prints all)
 * RUN: not %hearth heap --by=colour dump.1 2>&1 | FileCheck %s --check-prefix=BAD
 * BAD: error: --by needs function, caller, site, file, library, type or size, not 'colour'
 * RUN: not %hearth heap --by=file --format=folded dump.1 2>&1 | FileCheck %s --check-prefix=FORMAT
 * FORMAT: error: --by is for --format=text
 */
#include <stdlib.h>

__attribute__((noinline)) static void *xmalloc(size_t size) {
  void *volatile block = malloc(size);
  return block;
}

__attribute__((noinline)) static void load(void *blocks[3]) {
  for (int i = 0; i < 3; i++)
    blocks[i] = xmalloc(20000);
}

int main(void) {
  void *blocks[3], *volatile own = malloc(10000);
  load(blocks);
  for (int i = 0; i < 3; i++)
    free(blocks[i]);
  free(own);
}
