/* dlsym that did not find a symbol keeps a message, which its next call frees: whoever misses the symbol, the program or a preloaded
 * library before the program has begun.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -shared -fPIC -DLIBRARY %s -o probing.so
 * RUN: %clang -O1 -I%include %s %malloc_a -o program && ./program | FileCheck %s
 * RUN: env LD_PRELOAD=./probing.so ./program | FileCheck %s --check-prefixes=PROBED,CHECK
 * RUN: %clang -O1 -I%include %s %malloc -Wl,-rpath,%build/lib -o shared && ./shared | FileCheck %s
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
#include <hearth/malloc.h>
#include <stdlib.h>

int main(void) {
  const char *missed = dlsym(RTLD_DEFAULT, "optional_feature") ? "found" : "missed";
  printf("%s, %s\n", missed, dlsym(RTLD_DEFAULT, "puts") ? "found" : "missed");
  void *block = malloc_hot_cold(100, 0);
  puts(hearth_malloc_class(block) == HEARTH_MALLOC_COLD ? "cold" : "not cold");
  free(block);
  return 0;
}
#endif
