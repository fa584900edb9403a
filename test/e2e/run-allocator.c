/* 'hearth run -- program' serves every block of a program as it is by Hearth's allocator; 'hearth flags malloc' links any compiler's
 * program with it, as a library or as a part of the program. Blocks lie in the order of requests then, without headers.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: gcc -O1 %s -o program && ./program | FileCheck %s --check-prefix=PLAIN
 * RUN: %hearth run -- ./program one two | FileCheck %s --check-prefixes=OURS,BOTH
 * RUN: %hearth run -- sh -c './program one two' | FileCheck %s --check-prefix=OURS
 * RUN: sh -c '%hearth run -- sh -c "exit 7"; test $? = 7'
 * RUN: gcc -O1 %s -o linked $(%hearth flags malloc) && ./linked | FileCheck %s --check-prefix=OURS
 * RUN: gcc -O1 %s -o contained $(%hearth flags malloc --static) && ./contained | FileCheck %s --check-prefix=OURS
 * RUN: gcc -O1 -static %s -o static $(%hearth flags malloc) && ./static | FileCheck %s --check-prefix=OURS
 * RUN: gcc -O1 -static-pie %s -o pie $(%hearth flags malloc --static) && ./pie | FileCheck %s --check-prefix=OURS
 * RUN: %clang -O1 %s -o clang $(%hearth flags malloc --link) && ./clang | FileCheck %s --check-prefix=OURS
 * RUN: env LD_PRELOAD=$(%hearth flags malloc --preload) ./program | FileCheck %s --check-prefix=OURS
 * PLAIN: 3{{[0-9]}} bytes apart
 * OURS: 16 bytes apart
 * BOTH: arguments: 2
 *
 * RUN: not %hearth run -- 2>&1 | FileCheck %s --check-prefix=WHICH
 * WHICH: which command?
 * RUN: %hearth run ./program one two | FileCheck %s --check-prefixes=OURS,BOTH
 * RUN: not %hearth run --layout=none -- ./program 2>&1 | FileCheck %s --check-prefix=UNKNOWN
 * UNKNOWN: unknown option '--layout=none'
 * RUN: not %hearth flags malloc --compile 2>&1 | FileCheck %s --check-prefix=LINKING
 * LINKING: 'malloc' is for linking
 */
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
  (void)arguments;
  char *volatile first = malloc(16), *volatile second = malloc(16);
  printf("%ld bytes apart, arguments: %d\n", (long)(second - first), count - 1);
  free(first);
  free(second);
  return 0;
}
