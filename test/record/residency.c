/* Which live bytes are in memory: of two blocks of 8 MiB, the one that was written to; and where the kernel tells (soft-dirty
 * bits), that nobody wrote to it between the two dumps.
 *
 * REQUIRES: traces
 * RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-builtin -I%include %s -o %t
 * RUN: rm -f %t.dump.* && %hearth record --mode=live --residency -o %t.dump -- %t 2> %t.err
 * RUN: %hearth heap --dump=1 --limit=2 %t.dump.1 %t.dump.2 > %t.txt && FileCheck %s < %t.txt
 * CHECK: 1 request {{.*}} in memory {{(7|8|9)\.[0-9]}} MiB, swapped out
 * CHECK: 2 exit
 * CHECK-DAG: 8.0 MiB (8388608 bytes) in 1 block, in memory {{8.0 MiB|7.9 MiB|4.0 KiB|8.0 KiB|0 B}}
 * RUN: %hearth heap --dump=1 --limit=2 %t.dump.1 | grep -c 'in memory 8.0 MiB, .* of type touched' | \
 * RUN:   FileCheck %s --check-prefix=ONE
 * RUN: %hearth heap --dump=1 --limit=2 %t.dump.1 | grep -c 'in memory [0-9.]* K\?i\?B, .* of type untouched' | \
 * RUN:   FileCheck %s --check-prefix=ONE
 * ONE: {{^}}1
 *
 * RUN: if grep -q 'the kernel does not say which pages are written to' %t.err; then \
 * RUN:   not grep -q 'not written to since' %t.txt; else \
 * RUN:   %hearth heap --dump=2 --limit=2 %t.dump.* | \
 * RUN:     grep 'not written to since the dump before 8.0 MiB of type touched'; fi
 */
#include "hearth/allocator.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  size_t size = (size_t)8 << 20;
  char *touched = malloc(size), *untouched = malloc(size);
  hearth_allocator_set_type(NULL, touched, "touched");
  hearth_allocator_set_type(NULL, untouched, "untouched");
  memset(touched, 1, size);
  raise(61); /* asks for a dump */
  return touched == untouched;
}
