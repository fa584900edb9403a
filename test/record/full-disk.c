/* On a full disk, what cannot be written again and again is told once: heap dumps, profiles as the program runs, snapshots.
 * The program goes on: the signal that comes with the error is not for it, also where a signal handler dumps. */
/* RUN: %clang -O1 %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: sh -c 'ulimit -f 0; %hearth record --mode=live -o dump -- %t' 2>&1 | FileCheck %s
 * CHECK: hearth: cannot write the heap dump {{.*}}/dump.{{.*}}: file too large{{$}}
 * CHECK-NOT: {{.}}
 * RUN: sh -c 'ulimit -f 0; %hearth record -o profile -- %t' 2>&1 | FileCheck %s --check-prefix=PROFILE
 * PROFILE: hearth: cannot write the profile {{.*}}/profile: file too large{{$}}
 * PROFILE-NOT: {{.}}
 * RUN: sh -c 'ulimit -f 0; HEARTH_OPTIONS=snapshot=1 %hearth record -o snapshot -- %t' 2>&1 | grep -c 'cannot write the profile' | FileCheck %s --check-prefix=KINDS
 * KINDS: {{^}}2{{$}}
 * RUN: sh -c 'ulimit -f 0; %hearth record --mode=trace -o trace -- date' 2>&1 | FileCheck %s --check-prefix=TRACE
 * TRACE: hearth: cannot write the trace {{.*}}/trace: file too large{{$}}
 * TRACE-NOT: hearth
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  for (int i = 1; i <= 20; ++i) {
    char *volatile block = malloc((size_t)i * 100000); /* a peak */
    free(block);
    raise(61); /* asks for a dump */
    usleep(2000);
  }
  return 0;
}
