// A function in another one, with code of its own elsewhere: found whichever of the two an address hits first.
// REQUIRES: g++-12
//
// RUN: gcc-12 -O2 -g -gdwarf-4 -Wl,--build-id %s -o %t
// RUN: nm %t | sed -n 's/^\([0-9a-f]*\) t nested.*/\1/p' > %t.nested
// RUN: nm %t | sed -n 's/^\([0-9a-f]*\) T outer$/\1/p' > %t.outer
// RUN: cat %t.nested %t.outer | %symbolise %t | FileCheck %s
// RUN: cat %t.outer %t.nested | %symbolise %t | FileCheck %s
//
// CHECK-DAG: "FunctionName":"nested","StartFileName":"{{[^"]*}}symbolise-nested-function.c"
// CHECK-DAG: "FunctionName":"outer","StartFileName":"{{[^"]*}}symbolise-nested-function.c"

__attribute__((noipa)) int call(int (*function)(int)) { return function(1); }

__attribute__((noipa)) int outer(int number) {
  __attribute__((noinline)) int nested(int more) { return number + more; }
  return call(nested);
}

int main(void) { return outer(-1); }
