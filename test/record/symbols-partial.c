/* Where only some objects of a program have debug information, the functions of the others have the names of their symbols:
 * what is known is found out for each address. */
/* RUN: %clang -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -gmlt -fdebug-info-for-profiling -DDESCRIBED -c %s -o %t.described.o
 * RUN: %clang -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -g0 -c %s -o %t.bare.o
 * RUN: %clang %t.described.o %t.bare.o -o %t && rm -f %t.raw* && %hearth record -q -o %t.raw -- %t
 * RUN: %hearth index --symbols -o %t.prof %t.raw && %hearth show %t.prof | FileCheck %s --check-prefix=NAMED
 * NAMED: allocated  444 B
 * NAMED: 333 B
 * NAMED: {{^      }}get {{ *}}symbols-partial.c:{{[0-9]+}}:
 * NAMED-NEXT: {{^      }}second {{ *}}symbols-partial.c.tmp{{$}}
 * NAMED-NEXT: {{^      }}main {{ *}}symbols-partial.c.tmp{{$}}
 * NAMED: 111 B
 * NAMED: {{^      }}get {{ *}}symbols-partial.c:{{[0-9]+}}:
 * NAMED-NEXT: {{^      }}first {{ *}}symbols-partial.c.tmp{{$}}
 * NAMED-NEXT: {{^      }}main {{ *}}symbols-partial.c.tmp{{$}}
 *
 * The symbols may have gone with the debug information, to a file of their own:
 * RUN: mkdir -p %t.d && objcopy --only-keep-debug %t %t.d/kept.debug && cp %t %t.d/program
 * RUN: strip %t.d/program && cd %t.d && objcopy --add-gnu-debuglink=kept.debug program
 * RUN: %hearth index --symbols --binary %t.d/program -o %t.prof %t.raw && %hearth show %t.prof | FileCheck %s --check-prefix=APART
 * APART: {{^      }}get {{ *}}symbols-partial.c:{{[0-9]+}}:
 * APART-NEXT: {{^      }}second {{ *}}program{{$}}
 *
 * Without the option they are left out:
 * RUN: %hearth index -o %t.prof %t.raw && %hearth show %t.prof | FileCheck %s --check-prefix=WITHOUT
 * WITHOUT: 1 context, 2 allocations
 */
#include <stdlib.h>

void *get(size_t bytes);

#ifdef DESCRIBED
void *get(size_t bytes) {
  void *block = malloc(bytes);
  __asm__ volatile("");
  return block;
}
#else
static void *volatile block;

__attribute__((noinline)) void first(void) {
  block = get(111);
  __asm__ volatile("");
}

__attribute__((noinline)) void second(void) {
  block = get(333);
  __asm__ volatile("");
}

int main(void) {
  first();
  second();
  return 0;
}
#endif
