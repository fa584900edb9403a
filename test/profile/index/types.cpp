// The types that are allocated, from the program to the profile, its views and the metadata.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clangxx -O2 $(%hearth flags instrument --clang=%clang) -Wl,--gc-sections -ffunction-sections %s -o program
// RUN: env HEARTH_OPTIONS=log_path=raw ./program
// RUN: %hearth index -q raw.* --binary program -o prof
// RUN: %hearth show --text prof > text && FileCheck %s --check-prefix=TEXT < text
// RUN: %hearth index -q text -o again && cmp prof again
// RUN: %hearth merge -q prof again -o twice && %hearth show --text twice | FileCheck %s --check-prefix=TEXT
// RUN: %hearth show --full prof | FileCheck %s
// RUN: %hearth show --json prof | FileCheck %s --check-prefix=JSON
// RUN: %hearth show --full --type=Shape prof | FileCheck %s --check-prefix=FILTER
// By classes, so that a call has contexts to tell apart: all are of one pool.
// RUN: %clangxx -O2 $(%hearth flags use prof --compile --clang=%clang) -mllvm -memprof-classify=auto -S -emit-llvm %s -o - | FileCheck %s --check-prefix=IR
//
// TEXT-DAG: type plain
// TEXT-DAG: type ns::Shape
// TEXT-DAG: type std::vector<ns::Item>
// CHECK-DAG: of type plain
// CHECK-DAG: of type ns::Shape
// CHECK-DAG: of type std::vector<ns::Item>
// JSON-DAG: "type":"ns::Shape"
// FILTER: 1 of 4 contexts
// FILTER: of type ns::Shape
// FILTER-NOT: of type
// IR: !"Stack", {{.*}}!"DataTypeId"}
#include <cstdlib>
#include <vector>

struct plain {
  long first, second;
};

namespace ns {
struct Shape {
  long sides;
  Shape();
};
struct Item {
  int value[4];
};
Shape::Shape() : sides(3) {}
} // namespace ns

volatile long sink;
void *volatile block;

__attribute__((noinline)) static void allocate_plain() {
  plain *volatile p = static_cast<plain *>(malloc(sizeof(plain)));
  p->second = 1;
  free(p);
}

__attribute__((noinline)) static void allocate_shape() {
  ns::Shape *volatile shape = new ns::Shape;
  sink = shape->sides;
  delete shape;
}

__attribute__((noinline)) static void allocate_items() {
  std::vector<ns::Item> items;
  items.push_back(ns::Item());
  block = items.data();
}

__attribute__((noinline)) static void allocate_bytes() {
  void *volatile bytes = malloc(10);
  free(bytes);
}

int main() {
  allocate_plain();
  allocate_shape();
  allocate_items();
  allocate_bytes();
  return 0;
}
