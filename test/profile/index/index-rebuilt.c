// A program that was rebuilt since it ran, with a library that was not: the reason is told, once, with what it cost.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: echo "-O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id" > flags
// RUN: %clang @flags -fPIC -shared -DLIBRARY %s -o library.so
// RUN: %clang @flags %s ./library.so %rt -lpthread -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/some ./program some && env HEARTH_OPTIONS=log_path=%t/none ./program
// RUN: %clang @flags -DOTHER %s ./library.so %rt -lpthread -o program
// RUN: %hearth index some.* -o out 2>&1 | FileCheck %s --implicit-check-not=warning --implicit-check-not='for profiling'
// CHECK: hearth: warning: {{.*}}/program: has been rebuilt since it ran: {{[0-9]+}} addresses of its code are left out of the call stacks, with them 1 context (100 bytes) (give the file that ran with --binary)
// CHECK: out: 1 context,
// RUN: not %hearth index -q none.* -o none 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not='for profiling'
// NONE: hearth: error: none: not written: {{.*}}/program: has been rebuilt since it ran (give the file that ran with --binary)
#include <stdlib.h>

void *library_make(int bytes);

#ifdef LIBRARY
void *library_make(int bytes) { return bytes > 0 ? malloc((size_t)bytes) : NULL; }
#else

#ifdef OTHER
int other(void);
int other(void) { return 1; }
#endif

static char *volatile kept;

int main(int argc, char **argv) {
  (void)argv;
  kept = library_make(argc > 1 ? 10 : 0);
  kept = malloc(100);
  return 0;
}
#endif
