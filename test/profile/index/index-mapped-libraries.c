// Files given with --binary add to those that the raw profile names; a mapped file that cannot be read is named, with the
// remedy, once for all profiles, as its frames are missing from the call stacks.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: echo "-O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
// RUN:   -fno-optimize-sibling-calls -fPIC -Wl,--build-id" > flags
// RUN: %clang @flags -shared -DLIBRARY %s -o libhelper.so
// RUN: %clang @flags %s libhelper.so %rt -rdynamic -Wl,-rpath,%t -lpthread -o program
// RUN: for i in 1 2 3 4 5 6 7 8 9; do env HEARTH_OPTIONS=log_path=%t/raw ./program || exit 1; done
//
// RUN: %hearth index raw.* -o found -q && %hearth index raw.* --binary program -o one -q
// RUN: %hearth index raw.* --binary program --binary libhelper.so -o both -q
// RUN: cmp found both && cmp one both && %hearth show --text one | FileCheck %s
// CHECK: frame helper
// CHECK-NEXT: frame main
//
// The library is gone, or was built again, or has no build id: not by several threads either is it said twice.
// RUN: mv libhelper.so kept.so
// RUN: %hearth index raw.* --binary program -o out 2>&1 | FileCheck %s --check-prefixes=GONE,ONCE
// GONE: hearth: warning: {{.*}}/libhelper.so: cannot be opened: No such file or directory: {{[0-9]+}} addresses of its code are left out of the call stacks (give the file that ran with --binary)
// ONCE-NOT: warning:
// RUN: %hearth index raw.* --binary program --binary kept.so -o moved 2>&1 | FileCheck %s --check-prefix=MOVED --implicit-check-not=warning
// MOVED: moved: 2 contexts
// RUN: %clang @flags -shared -DLIBRARY=2 %s -o libhelper.so
// RUN: %hearth index raw.* --binary program -o out 2>&1 | FileCheck %s --check-prefixes=REBUILT,ONCE
// RUN: %hearth index raw.* -o out 2>&1 | FileCheck %s --check-prefixes=REBUILT,ONCE
// REBUILT: hearth: warning: {{.*}}/libhelper.so: has been rebuilt since it ran: {{[0-9]+}} addresses of its code are left out of the call stacks (give the file that ran with --binary)
// RUN: %clang @flags -shared -DLIBRARY -Wl,--build-id=none %s -o libhelper.so
// RUN: env HEARTH_OPTIONS=log_path=%t/noid ./program
// RUN: %hearth index noid.* --binary program -o out 2>&1 | FileCheck %s --check-prefixes=NOID,ONCE
// NOID: hearth: warning: {{.*}}/libhelper.so: has no build id (link it with -Wl,--build-id): 1 address of its code is left out of the call stacks
//
// So does 'hearth heap'.
// RUN: %clang @flags %s libhelper.so -Wl,-rpath,%t -o plain && %hearth record -q --mode=live -o dump -- ./plain
// RUN: %clang @flags -g0 -shared -DMIDDLE %s libhelper.so -o libmiddle.so
// RUN: %clang @flags -DCALL=middle %s libmiddle.so libhelper.so -Wl,-rpath,%t -o chain
// RUN: env HEARTH_OPTIONS=unwind=fp %hearth record -q -o chain.raw -- ./chain
// RUN: rm libhelper.so
// RUN: %if traces %{ %hearth heap dump.1 --binary plain 2>&1 | FileCheck %s --check-prefix=HEAP %}
// HEAP: hearth: warning: {{.*}}/libhelper.so: has no build id
//
// A function of a library that symbols name is one frame, whichever library allocates below it.
// RUN: %hearth index -q --symbols chain.raw -o chain.prof && %hearth show --text chain.prof > chain.txt
// RUN: grep '^  frame middle ' chain.txt && not grep ' library$' chain.txt
#include <stdlib.h>

void *helper(size_t bytes);
void *middle(size_t bytes);

#ifdef LIBRARY
void *helper(size_t bytes) { return malloc(bytes + LIBRARY); }
#elif defined MIDDLE
void *middle(size_t bytes) { return helper(bytes); }
#else
#ifndef CALL
#define CALL helper
#endif
int main(void) {
  char *volatile block = CALL(100);
  char *volatile other = malloc(10);
  return !block || !other;
}
#endif
