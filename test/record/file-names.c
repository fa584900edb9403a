/* Names of profiles: patterns, and programs that run others. */
/* RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -Wl,--build-id=0xabcdef %s -o parent && %clang -O1 -Wl,--build-id=none %s -o child
 * RUN: %hearth record -q -o 'all/%%e-%%h-%%m-%%%%-x' -- ./parent && ls all | FileCheck %s --check-prefix=ALL
 * ALL: {{^}}parent-{{[^-]+}}-abcdef-%-x{{$}}
 * The process id is there once:
 * RUN: %hearth record -q -o 'id/%%p.raw' -- ./parent && ls id | FileCheck %s --check-prefix=ID
 * ID: {{^[0-9]+}}.raw{{$}}
 * RUN: env 'HEARTH_OPTIONS=log_path=own' %hearth record -q --mode=trace -- ./parent && ls *.trace.* | FileCheck %s --check-prefix=TRACE
 * TRACE: {{^}}parent.trace.{{[0-9]+$}}
 * Without build id:
 * RUN: %hearth record -q -o 'none/%%m' -- ./child && ls none | FileCheck %s --check-prefix=NONE
 * NONE: {{^no-build-id$}}
 *
 * Each process has the name of its own program, also with patterns, and where nothing is written but that.
 * RUN: cd %t && mkdir two && cd two && %hearth record --follow-children -- ../parent ../child 2>&1 | FileCheck %s --check-prefix=TOLD
 * TOLD: the profile is {{.*}}/two/parent.profraw.{{[0-9]+$}}
 * TOLD: those of child processes are {{.*}}/two/PROGRAM.profraw.PID
 * RUN: ls %t/two | FileCheck %s --check-prefix=TWO
 * TWO: {{^}}child.profraw.{{[0-9]+$}}
 * TWO-NEXT: {{^}}parent.profraw.{{[0-9]+$}}
 * TWO-NOT: {{.}}
 * RUN: cd %t && mkdir given && cd given && %hearth record -q --follow-children -o raw -- ../parent ../child && ls | FileCheck %s --check-prefix=GIVEN
 * GIVEN: {{^}}raw{{$}}
 * GIVEN-NEXT: {{^}}raw.{{[0-9]+$}}
 *
 * A directory is no pattern; a letter that is none stays.
 * RUN: cd %t && mkdir 100%%early && cd 100%%early && %hearth record -q -o p -- ../parent 2>&1 | count 0 && ls p
 * RUN: cd %t && %hearth record -q -o 'a%%z' -- ./parent 2>&1 | count 0 && ls a%%z
 *
 * Of a long name the beginning; of a script its own.
 * RUN: cd %t && cp parent $(printf 'x%%.0s' $(seq 250)) && mkdir long && cd long && %hearth record -q -- ../x* && ls | FileCheck %s --check-prefix=LONG
 * LONG: {{^x{180}[.]profraw[.][0-9]+$}}
 * RUN: cd %t && mkdir script && echo 'exit 0' | sed '1i #!/bin/sh' > work && chmod +x work && cd script && %hearth record -q -- ../work && ls work.profraw.*
 * A path that is too long is an error:
 * RUN: cd %t && %hearth record -q -o "$(printf 'y%%.0s' $(seq 252))" -- ./parent 2>&1 | FileCheck %s --check-prefix=CUT
 * CUT: cannot write the profile {{.*}}: File name too long
 *
 * A device stays one, in each mode; a pipe or a folder is refused.
 * RUN: cd %t && for mode in aggregate trace live; do %hearth record --mode=$mode -o /dev/null -- ./parent 2>&1 | FileCheck %s --allow-empty --check-prefix=DEVICE || exit 1; done
 * DEVICE-NOT: {{the (profile|trace|last heap dump) is}}
 * RUN: %hearth record -q --mode=live --follow-children -o /dev/null -- ./parent ./child && test -c /dev/null && not ls /dev/null.*
 * RUN: mkfifo pipe && not %hearth record -o pipe -- ./parent 2>&1 | FileCheck %s --check-prefix=PIPE
 * RUN: not %hearth record -o . -- ./parent 2>&1 | FileCheck %s --check-prefix=PIPE
 * PIPE: error: -o {{.*}}: neither a file nor a device such as /dev/null
 *
 * The instrumented program's own:
 * RUN: %S/../runtime/Inputs/profiled.sh %clang %rt %s %t/linked && cd %t && mkdir linked.d && cd linked.d && ../linked && ls | FileCheck %s --check-prefix=LINKED
 * RUN: cd %t && env HEARTH_OPTIONS=log_path=/dev/null ./linked 2>&1 | count 0 && test -c /dev/null && not ls /dev/null.*
 * LINKED: {{^}}memprof.profraw.linked.{{[0-9]+[.][0-9]+$}}
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  free(malloc(100));
  if (argc > 1 && fork() == 0) {
    execl(argv[1], argv[1], (char *)NULL);
    _exit(1);
  }
  return argc > 1 && wait(NULL) < 0;
}
