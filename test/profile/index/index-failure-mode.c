// --failure-mode, as llvm-profdata has it: what becomes of inputs that cannot be read or are of another build.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: echo "-O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -Wl,--build-id" > flags
// RUN: %clang @flags %s %rt -lpthread -o program && %clang @flags -DOTHER %s %rt -lpthread -o other
// RUN: env HEARTH_OPTIONS=log_path=%t/good ./program && env HEARTH_OPTIONS=log_path=%t/foreign ./other
// RUN: mv good.* good && mv foreign.* foreign && head -c 500 good > cut
// RUN: cp good future && printf '\011' | dd of=future bs=1 seek=8 conv=notrunc status=none
// RUN: %hearth index good --binary program -o alone -q && %hearth show --text alone > alone.txt
// A text profile that is wrong behind its first context, and a section of LLVM's that is cut in its last record:
// RUN: cp alone.txt broken.txt && printf 'context\n  frame f a.c 1\n' >> broken.txt
// RUN: head -c 1700 %S/../../golden/llvm/v4 > broken.llvm
// RUN: cat good cut > half
//
// any, by default: nothing is written, all that is wrong is said.
// RUN: not %hearth index good foreign cut --binary program -o out 2>&1 | FileCheck %s --check-prefix=ANY
// RUN: not %hearth index --failure-mode=any good foreign cut --binary program -o out 2>&1 | FileCheck %s --check-prefix=ANY
// ANY-DAG: hearth: error: foreign: written by another build: program has build id {{.*}}or leave such profiles out: --failure-mode=all)
// ANY-DAG: hearth: error: cut: offset 500
// RUN: not ls out
//
// all: the result is that of the others alone, and each that is left out is named.
// RUN: %hearth index --failure-mode=all nowhere foreign broken.txt cut good half future broken.llvm flags --binary program -o out > log 2>&1
// RUN: cmp out alone && FileCheck %s --check-prefix=ALL < log && grep -c warning: log | FileCheck %s --check-prefix=EIGHT
// What was done is no remedy:
// RUN: not grep -e --failure-mode log
// ALL-DAG: hearth: warning: left out: nowhere: cannot open: No such file or directory
// ALL-DAG: hearth: warning: left out: foreign: written by another build
// ALL-DAG: hearth: warning: left out: broken.txt:
// ALL-DAG: hearth: warning: left out: cut: offset 500
// ALL-DAG: hearth: warning: left out: half: offset
// ALL-DAG: hearth: warning: left out: future: offset 8: raw profile version 9
// ALL-DAG: hearth: warning: left out: broken.llvm:
// ALL-DAG: hearth: warning: left out: flags: not a heap profile
// EIGHT: 8
// Inputs that can be read are added as ever, weights included.
// RUN: %hearth index alone.txt --weight=2:alone good --binary program -o ever -q
// RUN: %hearth index --failure-mode=all alone.txt --weight=2:alone good foreign --binary program -o with -q && cmp ever with
//
// RUN: not %hearth index --failure-mode=all foreign cut --binary program -o none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: hearth: warning: left out: foreign
// NONE: hearth: warning: left out: cut
// NONE: hearth: error: none: not written: none of the inputs could be used
// RUN: %hearth index --failure-mode=warn good foreign --binary program -o out 2>&1 | FileCheck %s --check-prefix=WARN
// RUN: cmp out alone
// WARN: hearth: warning: left out: foreign
// RUN: %hearth index --failure-mode=warn foreign cut --binary program -o none 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: hearth: warning: none: not written: none of the inputs could be used
// RUN: not ls none
//
// A binary that cannot be used is an error in each mode, and so is wrong usage.
// RUN: not %hearth index --failure-mode=warn good --binary nowhere -o none
// RUN: (%hearth index --failure-mode=some good -o none; test $? = 2)
#include <stdlib.h>

#ifdef OTHER
int other(void);
int other(void) { return 1; }
#endif

int main(void) {
  char *volatile block = malloc(100);
  return block == NULL;
}
