// Contexts without frames: whose code they lie in decides what the user is told.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// Flags forgotten when compiling, the runtime's own debug information notwithstanding:
// RUN: %clang -O1 -fno-omit-frame-pointer -Wl,--build-id %s %rt -lpthread -o forgotten
// RUN: env HEARTH_OPTIONS=log_path=%t/forgotten.raw ./forgotten
// RUN: not %hearth index forgotten.raw.* --binary forgotten -o out 2>&1 | FileCheck %s --check-prefix=FORGOTTEN
// FORGOTTEN: hearth: warning: {{.*}}allocated inside forgotten {{(is|are)}} left out: that code has no debug information
// FORGOTTEN: hearth: error: out: not written: {{.*}} allocated inside forgotten {{(is|are)}} left out: that code has no debug information (compile it with -gmlt -fdebug-info-for-profiling)
//
// Stripped, which takes debug information, but not the sign of the instrumentation:
// RUN: %clang -O1 $(%hearth flags instrument --clang=%clang) %s -o whole && strip whole -o stripped
// RUN: env HEARTH_OPTIONS=log_path=%t/stripped.raw ./stripped
// RUN: not %hearth index stripped.raw.* -o out 2>&1 | FileCheck %s --check-prefix=STRIPPED --implicit-check-not='compiled for profiling'
// STRIPPED: hearth: warning: {{.*}}allocated inside {{.*}}/stripped {{.*}} left out: it is stripped (give with --binary the file as it was linked, or with --debug-dir its debug information)
// STRIPPED: hearth: error: out: not written: {{.*}} allocated inside {{.*}}/stripped {{.*}} left out: it is stripped (give with --binary
// RUN: %hearth index -q stripped.raw.* --binary whole -o out
//
// Blocks of libraries whose callers are not known: worth a warning only where they are many.
// RUN: %clang -O1 $(%hearth flags instrument --clang=%clang) %s -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/few.raw:unwind=fp ./program
// RUN: %hearth index few.raw.* --binary program -o out 2>&1 | FileCheck %s --check-prefix=FEW --implicit-check-not=warning
// FEW: out: 1 context,
// RUN: %hearth index -v few.raw.* --binary program -o out 2>&1 | FileCheck %s --check-prefix=DETAIL
// DETAIL: 1 context ({{[0-9]+}} bytes) allocated inside {{.*}}libc.so.6 is left out: it was not compiled for profiling
// RUN: env HEARTH_OPTIONS=log_path=%t/many.raw:unwind=fp ./program 1000
// RUN: %hearth index many.raw.* --binary program -o out 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: hearth: warning: {{.*}}allocated inside {{.*}}libc.so.6
//
// Of a program that was recorded as it is, symbols do:
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -Wl,--build-id %s -o plain
// RUN: env HEARTH_OPTIONS=unwind=fp %hearth record -q -o recorded.raw -- ./plain 1000
// RUN: %hearth index recorded.raw -o out 2>&1 | FileCheck %s --check-prefix=RECORDED
// RECORDED: hearth: warning: recorded.raw: {{.*}} allocated inside {{.*}}libc.so.6 {{(is|are)}} left out: it has no debug information (--symbols names its functions)
// RUN: %hearth index --symbols recorded.raw -o out 2>&1 | FileCheck %s --check-prefix=SYMBOLS --implicit-check-not=warning
// SYMBOLS: out: 3 contexts,
// Each of many libraries may have few of the bytes, and all together many: one stands for all.
// RUN: for n in 1 2 3 4 5; do %clang -O1 -fPIC -shared -DLIBRARY=take$n -Wl,--build-id %s -o lib$n.so || exit 1; done
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -DFIVE -Wl,--build-id,-rpath,%t %s lib?.so -o five
// RUN: env HEARTH_OPTIONS=unwind=fp %hearth record -q -o five.raw -- ./five
// RUN: %hearth index five.raw -o out 2>&1 | FileCheck %s --check-prefix=FIVE --implicit-check-not=warning
// FIVE: hearth: warning: five.raw: 1 context (40000 bytes) allocated inside {{.*}}/lib{{.}}.so is left out: it has no debug information (--symbols names its functions)
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#ifdef LIBRARY
void LIBRARY(void);
void LIBRARY(void) {
  char *volatile kept = malloc(40000);
  (void)kept;
}
#else
static char *kept;

void take1(void), take2(void), take3(void), take4(void), take5(void);

int main(int argc, char **argv) {
#ifdef FIVE
  take1(), take2(), take3(), take4(), take5();
#endif
  kept = malloc(1000000);
  puts("the C library gets a buffer for this");
  for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
    if (asprintf(&kept, "a string that the C library allocates, one of a thousand; a hundred bytes of text, %d", i) < 0)
      return 1;
  return 0;
}
#endif
