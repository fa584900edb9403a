// What strings and containers allocate has their type, with or without a type of the compiler's; a string within a
// container has its own. Arguments that have their defaults, and inline namespaces, are left out.
// RUN: rm -rf %t && mkdir %t && cd %t && %clangxx -O0 -g %s -o program && %hearth record -q -o raw -- ./program
// RUN: %hearth index -q --symbols raw -o prof && %hearth show --by=type --full prof | FileCheck %s
// RUN: %hearth show --json --type=std::map prof | grep -c '"type": *"std::map<std::string, long>"' | grep -x 1
// RUN: %clangxx -O1 $(%hearth flags instrument --clang=%clang) %s -o counted && env HEARTH_OPTIONS=log_path=counted.raw ./counted
// RUN: %hearth index -q counted.raw* --binary counted -o counted.prof && %hearth show --by=type --full counted.prof | FileCheck %s
// CHECK-DAG: 1000 {{.*}} std::map<std::string, long>
// CHECK-DAG: 1000 {{.*}} std::string
// CHECK-DAG: 1 {{.*}} std::vector<plain*>
// CHECK-DAG: 1 {{.*}} std::unordered_map<int, std::vector<int>>
// CHECK-NOT: _Rb_tree
// CHECK-NOT: std::allocator
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

struct plain {
  long a, b;
};

int main() {
  std::map<std::string, long> numbers;
  for (long i = 0; i < 1000; i++)
    numbers.emplace("a name that has no room in the string itself " + std::to_string(i), i);
  std::vector<plain *> rows(500);
  rows[0] = new plain{1, 2};
  std::unordered_map<int, std::vector<int>> lists;
  lists.reserve(5000);
  return std::printf("%zu %ld\n", numbers.size(), rows[0]->a) < 0;
}
