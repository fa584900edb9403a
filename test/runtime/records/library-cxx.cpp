// Members of std::string that are in libstdc++ count the string's content: its 401 bytes as they are written, and the 400 that
// each search reads; the 100 behind what rfind finds count 13, and the store 1.
//
// RUN: %clangxx %clang_plugin -mllvm -memprof-instrument -O1 -g -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer %s \
// RUN:   -Wl,--build-id %rt -lpthread -o %t
// RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t
// RUN: python3 %S/../Inputs/raw_print.py %t.prof.* AllocCount MinSize TotalAccessCount | FileCheck %s
// CHECK: AllocCount=1 MinSize=401 TotalAccessCount=165
#include <string>

int main() {
  std::string text(400, 'a');
  __asm__("" : : "r"(&text) : "memory"); // not known to the compiler
  bool none = text.find("zq") == std::string::npos && text.find_first_of("0123") == std::string::npos;
  text[299] = 'b';
  return none && text.rfind('b') == 299 ? 0 : 1;
}
