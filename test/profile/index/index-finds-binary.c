// Without --binary the files that the raw profile names are used, if they are still the ones that ran.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -Wl,--build-id %s %rt -lpthread -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/raw ./program
// RUN: %hearth index -v raw.* -o found.prof 2>&1 | FileCheck %s
// RUN: %hearth index raw.* --binary program -o given.prof
// RUN: cmp found.prof given.prof
//
// CHECK: hearth: using {{.*}}/program
// CHECK: found.prof: 1 context, 1 function
//
// Elsewhere, it is found by its build id in a folder of --debug-dir.
//
// RUN: mkdir -p ids/.build-id/$(readelf -n program | sed -n 's/.*Build ID: \(..\).*/\1/p')
// RUN: mv program ids/.build-id/$(readelf -n program | sed -n 's,.*Build ID: \(..\),\1/,p')
// RUN: not %hearth index raw.* -o none 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: %hearth index raw.* --debug-dir=ids -q -o by-id.prof
// RUN: cmp by-id.prof given.prof
// GONE: hearth: error: raw.{{[0-9]+}}: no usable binary: {{.*}}/program: cannot be opened
//
// A program without section headers has its build id in a segment, and its debug information in another file:
//
// RUN: mv ids/.build-id/*/* program && objcopy --only-keep-debug program found.debug
// RUN: mv found.debug ids/.build-id/$(readelf -n program | sed -n 's,.*Build ID: \(..\)\(.*\),\1/\2.debug,p')
// RUN: %objcopy --strip-sections program
// RUN: %hearth index raw.* --debug-dir=ids -q -o headless.prof && cmp headless.prof given.prof
//
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -Wl,--build-id -DOTHER %s %rt -lpthread -o program
// RUN: not %hearth index raw.* -o rebuilt.prof 2>&1 | FileCheck %s --check-prefix=REBUILT
// RUN: not ls rebuilt.prof
// REBUILT: hearth: error: raw.{{[0-9]+}}: no usable binary: {{.*}}/program: has been rebuilt since it ran (give the file that ran with --binary)
#include <stdlib.h>

#ifdef OTHER
int other(void);
int other(void) { return 1; }
#endif

int main(void) {
  char *volatile block = malloc(100);
  return block == NULL;
}
