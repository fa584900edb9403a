/* An instrumented program under `hearth record`: its allocations are recorded, and the message is about that alone. So
 * it is where a host that was not built with Hearth loads instrumented code and nothing is recorded. */
/* RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -g -fno-builtin $(%hearth flags instrument --clang=%clang) %s -o exact
 * RUN: %hearth record -o exact.raw -- ./exact 2>&1 | FileCheck %s
 * CHECK-NOT: nothing
 * CHECK: {{^}}hearth: 'hearth record' records allocations; run an instrumented program by itself to count accesses, too{{$}}
 * CHECK-NEXT: 100 allocations, 100 temporary, 0 not freed
 * CHECK-NEXT: the profile is
 * RUN: %hearth index -q --symbols exact.raw -o exact.heap && %hearth show exact.heap | FileCheck %s --check-prefix=SHOW
 * SHOW: by 100 allocations
 * SHOW: accesses {{.*}}not counted
 *
 * RUN: gcc -O1 -DHOST %s -o host -ldl
 * RUN: %clang -O1 -g -fno-builtin $(%hearth flags instrument --clang=%clang) -shared -fPIC %s -o library.so
 * RUN: ./host 2>&1 | FileCheck %s --check-prefix=HOST
 * HOST: {{^}}hearth: nothing is recorded: another malloc comes before that of libhearth_rt.so; {{.*}}
 * HOST-NEXT: {{^}}ran{{$}}
 *
 * A runtime that is a part of the program counts for its libraries, too.
 * RUN: %clang -O1 -g -DHOST -rdynamic $(%hearth flags instrument --static --clang=%clang) %s -o static -ldl
 * RUN: env HEARTH_OPTIONS=log_path=static.raw ./static 2>&1 | FileCheck %s --check-prefix=STATIC
 * STATIC-NOT: hearth
 * STATIC: {{^}}ran{{$}}
 * RUN: %hearth index -q static.raw.* -o static.heap && %hearth show static.heap | FileCheck %s --check-prefix=COUNTED
 * COUNTED: work {{.*}}: 9.8 KiB in 1 context, 100 allocations
 * COUNTED: 1.0 accesses per allocation
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef HOST
int main(void) {
  void *library = dlopen("./library.so", RTLD_NOW);
  int (*run)(void) = library ? (int (*)(void))dlsym(library, "run") : NULL;
  return !run || run() != 0 || puts("ran") < 0;
}
#else
int run(void);

__attribute__((noinline)) static void work(void) {
  for (int i = 0; i < 100; i++) {
    volatile char *block = malloc(100);
    block[0] = 1;
    free((void *)block);
  }
}

int run(void) { return work(), 0; }

int main(void) { return run(); }
#endif
