/* dlsym that did not find a symbol keeps a message, which its next call frees: the adapter's first free may be called by the
 * dlsym that is to find the next free. Whatever compiles the adapter, and whoever misses the symbol: the program, a
 * preloaded library, a sanitizer before the program has begun.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -shared -fPIC -DLIBRARY %s -o probing.so
 * RUN: for compiler in gcc %clang; do for level in 0 2; do \
 * RUN:   (rm -f *.o && $compiler -O$level -std=gnu11 -Wall -Werror -fno-builtin -fvisibility=hidden -fPIC -I%include -I%format -c \
 * RUN:     -I%adapter/../guard -I%adapter/pages -I%adapter/pools -I%adapter/ranges -I%adapter/entries \
 * RUN:     %adapter/../guard/futex_lock.c $(find %adapter -name "*.c" | grep -v /calls/)) && \
 * RUN:   $compiler -O1 -I%include %s *.o -o program && ./program | FileCheck %s && \
 * RUN:   env LD_PRELOAD=./probing.so ./program | FileCheck %s --check-prefixes=PROBED,CHECK || exit 1; \
 * RUN: done; done
 * RUN: %clang -O1 -I%include %s %hotcold_a -o archive && ./archive | FileCheck %s
 * RUN: for library in %hotcold_so %hotcold_calls_so; do \
 * RUN:   %clang -O1 -I%include %s $library -Wl,-rpath,%build/lib -o shared && ./shared | FileCheck %s || exit 1; done
 *
 * PROBED: probed
 * CHECK: missed, found
 * CHECK-NEXT: cold
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#ifdef LIBRARY
__attribute__((constructor)) static void probe(void) {
  dlsym(RTLD_NEXT, "first_optional_feature");
  dlsym(RTLD_NEXT, "second_optional_feature");
  puts("probed");
}
#else
#include <hearth/hotcold.h>
#include <stdlib.h>

int main(void) {
  const char *missed = dlsym(RTLD_DEFAULT, "optional_feature") ? "found" : "missed";
  printf("%s, %s\n", missed, dlsym(RTLD_DEFAULT, "puts") ? "found" : "missed");
  void *block = malloc_hot_cold(100, 0);
  puts(hearth_hotcold_class(block) == HEARTH_HOTCOLD_COLD ? "cold" : "not cold");
  free(block);
  return 0;
}
#endif
