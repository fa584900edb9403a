// Each way to allocate and free has its kind; realloc is two halves, the old block's first.
// REQUIRES: traces
// RUN: %clangxx -O1 -fno-builtin -std=c++17 %s -o %t && rm -f %t.trace*
// RUN: %hearth record --mode=trace -o %t.trace -- %t
// RUN: %hearth trace %t.trace | grep -e thread | awk '$3 >= 1001 && $3 <= 1100 { print $1, $3 }' | FileCheck %s
// CHECK: malloc 1001
// CHECK-NEXT: realloc-free 1001
// CHECK-NEXT: realloc 1002
// CHECK-NEXT: free 1002
// CHECK-NEXT: calloc 1003
// CHECK-NEXT: free 1003
// CHECK-NEXT: realloc 1004
// CHECK-NEXT: realloc-free 1004
// CHECK-NEXT: new 1005
// CHECK-NEXT: delete 1005
// CHECK-NEXT: new[] 1006
// CHECK-NEXT: delete[] 1006
// CHECK-NEXT: new 1007
// CHECK-NEXT: delete 1007
// CHECK-NEXT: aligned 1008
// CHECK-NEXT: free 1008
// CHECK-NEXT: aligned 1024
// CHECK-NEXT: free 1024
// CHECK-NEXT: malloc 1010
// CHECK-NEXT: free 1010
// CHECK-NOT: {{.}}
#include <cstdlib>
#include <cstring>
#include <new>

int main() {
  void *volatile block = malloc(1001);
  block = realloc(block, 1002);
  free(block);
  block = calloc(17, 59);
  free(block);
  block = realloc(nullptr, 1004);
  block = realloc(block, 0);
  block = operator new(1005);
  operator delete(block);
  block = operator new[](1006);
  operator delete[](block);
  block = operator new(1007, std::align_val_t(64), std::nothrow);
  operator delete(block, std::align_val_t(64));
  void *aligned;
  if (posix_memalign(&aligned, 256, 1008) == 0)
    free(aligned);
  free(aligned_alloc(64, 1024));
  char text[1010];
  memset(text, 'x', 1009);
  text[1009] = '\0';
  char *volatile copy = strdup(text);
  free(copy);
  return 0;
}
