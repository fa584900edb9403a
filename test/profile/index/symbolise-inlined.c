// Stacks with inlined frames agree with llvm-symbolizer in every context: function, line and column, in both versions of
// DWARF, with the frames of inlined calls marked.
// The program is Inputs/stacks.c: one malloc call in a helper that is inlined everywhere.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O2 -gmlt -gdwarf-5 -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
// RUN:   -fno-optimize-sibling-calls -Wl,--build-id %S/../Inputs/stacks.c %rt -lpthread -o five
// RUN: env HEARTH_OPTIONS=log_path=%t/five.raw ./five
// RUN: %hearth index five.raw.* --binary five -o five.prof | FileCheck %s --check-prefix=SUMMARY
// RUN: %hearth show --text five.prof > five.txt
// RUN: python3 %S/../Inputs/compare_symbolizer.py %symbolizer five five.raw.* < five.txt | FileCheck %s --check-prefix=SAME
// RUN: FileCheck %s < five.txt
//
// RUN: %clang -O2 -gmlt -gdwarf-4 -fdebug-info-for-profiling -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer \
// RUN:   -fno-optimize-sibling-calls -Wl,--build-id -no-pie %S/../Inputs/stacks.c %rt -lpthread -o four
// RUN: env HEARTH_OPTIONS=log_path=%t/four.raw ./four
// RUN: %hearth index four.raw.* --binary four -o four.prof
// RUN: %hearth show --text four.prof > four.txt
// RUN: python3 %S/../Inputs/compare_symbolizer.py %symbolizer four four.raw.* < four.txt | FileCheck %s --check-prefix=SAME
//
// The contexts themselves do not depend on the version of DWARF, nor on where the program was loaded:
// RUN: grep -A8 '^context\|^  frame\|AllocCount' five.txt | grep 'frame\|AllocCount' > five.contexts
// RUN: grep -A8 '^context\|^  frame\|AllocCount' four.txt | grep 'frame\|AllocCount' > four.contexts
// RUN: diff five.contexts four.contexts
//
// SUMMARY: five.prof: {{[0-9]+}} contexts, {{[0-9]+}} functions, 1 run, {{[0-9]+}} B allocated, 0 blocks dropped
// SAME: {{^[1-9][0-9]*}} contexts, equal
//
// The root node: get, inlined into make, inlined into insert, called by main.
// CHECK:      context
// CHECK:      frame get {{.*}}stacks.c 12 1 17 0 inlined
// CHECK-NEXT: frame make {{.*}}stacks.c 19 1 20 0 inlined
// CHECK-NEXT: frame insert {{.*}}stacks.c 26 2 11 {{[0-9]+$}}
// CHECK-NEXT: frame main {{.*}}stacks.c 45 4 5 {{[0-9]+$}}
