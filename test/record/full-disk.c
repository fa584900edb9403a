/* On a full disk, what cannot be written again and again is told once: heap dumps, profiles as the program runs.
 * The program goes on: the signal that comes with the error is not for it, also where a signal handler dumps. */
/* RUN: %clang -O1 %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: sh -c 'ulimit -f 0; %hearth record --mode=live -o dump -- %t' 2>&1 | FileCheck %s
 * CHECK: hearth: cannot write the heap dump {{.*}}/dump.{{.*}}: File too large{{$}}
 * CHECK-NOT: {{.}}
 * RUN: sh -c 'ulimit -f 0; %hearth record -o profile -- %t' 2>&1 | FileCheck %s --check-prefix=PROFILE
 * PROFILE: hearth: cannot write the profile {{.*}}/profile: File too large (log_path, or -o of {{.*}}, names another place){{$}}
 * PROFILE-NOT: {{.}}
 * RUN: sh -c 'ulimit -f 0; %hearth record --mode=trace -o trace -- date' 2>&1 | FileCheck %s --check-prefix=TRACE
 * TRACE: hearth: cannot write the trace {{.*}}/trace: File too large{{$}}
 * TRACE-NOT: hearth
 *
 * A device that takes nothing stays (making one takes root's rights).
 * RUN: if mknod device c 1 7; then %hearth record --mode=trace -o device -- date 2>&1 | grep 'cannot write the trace .*device: No space' && test -c device; fi
 *
 * With room for the beginning, or for a part: neither is taken for all that the program did.
 * RUN: %clang -O1 -g -fno-builtin %s -o %t
 * RUN: dash -c 'ulimit -f 2; %hearth record -q --mode=trace -o begun -- %t many' 2>&1 | FileCheck %s --check-prefix=EARLY
 * RUN: dash -c 'ulimit -f 40; %hearth record -q --mode=trace -o part -- %t many' 2>&1 | FileCheck %s --check-prefix=EARLY
 * EARLY: hearth: the trace {{.*}} ends early: File too large
 * RUN: not %hearth index --symbols begun -o out 2>&1 | FileCheck %s --check-prefix=PART
 * RUN: %trace_stat part && %hearth index --symbols part -o out 2>&1 | FileCheck %s --check-prefix=PART
 * PART: hearth: warning: {{begun|part}}: the program's end is not in the trace, and what it did last is not counted: there was no room for it,
 * RUN: %if views %{ %hearth report part -o part.html 2>&1 | FileCheck %s --check-prefix=PART %}
 * RUN: %hearth record -q --mode=trace -o whole -- %t many && %hearth index --symbols whole -o out 2>&1 | FileCheck %s --check-prefix=WHOLE
 * WHOLE-NOT: warning
 * WHOLE: out: {{.*}} 1 run
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < 200000 && argc > 1; i++)
    free(malloc(100));
  for (int i = 1; i <= 20; ++i) {
    char *volatile block = malloc((size_t)i * 100000); /* a peak */
    free(block);
    raise(61); /* asks for a dump */
    usleep(2000);
  }
  return 0;
}
