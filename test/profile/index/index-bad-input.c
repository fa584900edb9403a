// An input that cannot be read is one message, naming the file, the reason and the remedy; the output stays as it was.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -Wl,--build-id %s %rt -lpthread -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/raw ./program
// RUN: mv raw.* good && echo before > out && cp out expected
//
// RUN: not %hearth index nowhere --binary program -o out 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: hearth: error: nowhere: cannot open: No such file or directory
// RUN: not %hearth index . --binary program -o out 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: hearth: error: .: cannot read: Is a directory
// RUN: not %hearth index /dev/null --binary program -o out 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: hearth: error: /dev/null: the file is empty
// RUN: not %hearth index %s --binary program -o out 2>&1 | FileCheck %s --check-prefix=FOREIGN
// FOREIGN: index-bad-input.c: not a heap profile (give
// RUN: not %hearth index program -o out 2>&1 | FileCheck %s --check-prefix=BINARY
// BINARY: hearth: error: program: not a heap profile: it is a program or library: 'hearth index' takes it with --binary
//
// RUN: head -c 500 good > cut
// RUN: not %hearth index cut --binary program -o out 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: hearth: error: cut: offset 500: the file ends before the profile does (was the program killed
// RUN: cp good flipped && printf 'X' | dd of=flipped bs=1 seek=300 conv=notrunc status=none
// RUN: not %hearth index flipped --binary program -o out 2>&1 | FileCheck %s --check-prefix=FLIPPED
// FLIPPED: hearth: error: flipped: offset {{[0-9]+}}: the checksum is wrong (run the program again
// RUN: cp good future && printf '\011' | dd of=future bs=1 seek=8 conv=notrunc status=none
// RUN: not %hearth index future --binary program -o out 2>&1 | FileCheck %s --check-prefix=FUTURE
// FUTURE: hearth: error: future: offset 8: raw profile version 9, this command reads version 2
//
// All bad inputs of one call are named:
// RUN: not %hearth index nowhere cut good flipped --binary program -o out 2>&1 | FileCheck %s --check-prefixes=MISSING,CUT,FLIPPED
// RUN: cmp out expected
//
// Wrong usage is exit code 2:
// RUN: (%hearth index -o out && exit 1; test $? = 2)
// RUN: (%hearth index good && exit 1; test $? = 2)
// RUN: (%hearth index good -o out --frobnicate && exit 1; test $? = 2)
// RUN: %hearth index --help | FileCheck %s --check-prefix=HELP
// HELP: Usage: hearth index
// RUN: cmp out expected
#include <stdlib.h>

int main(void) {
  char *volatile block = malloc(100);
  return block == NULL;
}
