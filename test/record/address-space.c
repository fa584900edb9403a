/* Where the address space is limited, the program runs unrecorded, with its arguments, environment and result, and a message names
 * the limit: also if there is room for blocks but not for call stacks, in a child with a limit of its own, and if the dynamic
 * loader or an interpreter was told to run it.
 *
 * RUN: %clang -O1 %s -o %t && rm -f %t.prof* && echo '#! %t script' > %t.script && chmod +x %t.script
 * RUN: bash -c 'ulimit -v 2000000; %hearth record -o %t.prof -- %t "a b" ""; echo $?' 2>&1 | FileCheck %s
 * RUN: bash -c 'ulimit -v 2000000; LD_PRELOAD=libm.so.6 %hearth record --mode=trace -o %t.prof -- %t "a b" ""; echo $?' 2>&1 \
 * RUN:   | FileCheck %s --check-prefixes=CHECK,LIBM
 * RUN: bash -c 'ulimit -v 33700000; %hearth record -o %t.prof -- %t "a b" ""; echo $?' 2>&1 \
 * RUN:   | FileCheck %s --check-prefix=STACKS
 * RUN: %hearth record --follow-children -o %t.child -- bash -c 'ulimit -v 2000000; %t "a b" ""; echo $?' 2>&1 | FileCheck %s
 * RUN: bash -c 'ulimit -v 2000000; %hearth record -o %t.prof -- $(readelf -l %t | sed -n "s,.*interpreter: \(.*\)],\1,p") %t "a b" ""; echo $?' 2>&1 | FileCheck %s
 * RUN: bash -c 'ulimit -v 2000000; %hearth record -o %t.prof -- %t.script ""; echo $?' 2>&1 | FileCheck %s --check-prefix=SCRIPT
 * RUN: bash -c 'ulimit -d 1000000; %hearth record -o %t.prof -- %t "a b" ""; echo $?' 2>&1 | FileCheck %s --check-prefix=DATA
 * RUN: not ls %t.prof*
 *
 * CHECK: hearth: the address space is limited to 2000000 KiB (ulimit -v), which is too little to record in; the program runs unrecorded
 * CHECK-NEXT: [a b][] 0 hearth
 * LIBM-SAME: , libm.so.6
 * CHECK-NEXT: 3
 * STACKS: hearth: the address space is limited to 33700000 KiB
 * STACKS-NEXT: [a b][] 0 hearth
 * STACKS-NEXT: 3
 * DATA: hearth: the address space is limited to 1000000 KiB (ulimit -d)
 * DATA-NEXT: [a b][] 0 hearth
 * SCRIPT: the program runs unrecorded
 * SCRIPT-NEXT: [script][{{.*}}.script][] 0 hearth
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

int main(int argc, char **argv) {
  int ours = 0;
  const char *preloaded = getenv("LD_PRELOAD");

  for (char **at = environ; *at; at++)
    ours += strncmp(*at, "HEARTH_RECORD=", 14) == 0 || (strncmp(*at, "LD_PRELOAD=", 11) == 0 && strstr(*at, "hearth"));
  for (int i = 1; i < argc; i++)
    printf("[%s]", argv[i]);
  printf(" %d hearth%s%s\n", ours, preloaded ? ", " : "", preloaded ? preloaded : "");
  return 3;
}
