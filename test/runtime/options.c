/* Where options come from, who wins, and what is said about mistakes.
 *
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
 * The program's own setting, over the compiler's file name; then the environment over it.
 * RUN: cd %t.dir && %t && ls by-program.*
 * RUN: cd %t.dir && MEMPROF_OPTIONS=log_path=by-memprof %t && ls by-memprof.*
 * RUN: cd %t.dir && MEMPROF_OPTIONS=log_path=no HEARTH_OPTIONS=log_path=by-hearth %t && ls by-hearth.* && not ls no.*
 * RUN: cd %t.dir && HEARTH_OPTIONS="log_path='with:colon':verbosity=1" %t 2>&1 | FileCheck %s --check-prefix=VERBOSE
 * RUN: cd %t.dir && ls with:colon.*
 *
 * RUN: cd %t.dir && HEARTH_OPTIONS=help=1 %t 2>&1 | FileCheck %s --check-prefix=HELP
 * RUN: cd %t.dir && MEMPROF_OPTIONS=print_text=1 HEARTH_OPTIONS=foo=1:stack_depth=1000:bar %t 2>&1 \
 * RUN:   | FileCheck %s --check-prefix=WRONG
 *
 * VERBOSE: hearth: profile written to {{/.*}}/with:colon.{{[0-9]+}}, {{[0-9]+}} bytes
 *
 * HELP: log_path={{/.*}}/by-program (1 to 4095 characters)
 * HELP: format=hearth (hearth|llvm)
 * HELP: stack_depth=64 (0 to 255)
 * HELP: dump_at_exit=1 (0 to 1)
 *
 * WRONG: hearth: MEMPROF_OPTIONS: unknown options ignored: print_text (help=1 lists the options)
 * WRONG-NEXT: hearth: HEARTH_OPTIONS: option stack_depth cannot be '1000' (0 to 255); ignored
 * WRONG-NEXT: hearth: HEARTH_OPTIONS: unknown options ignored: foo, bar (help=1 lists the options)
 * WRONG-NOT: {{.}}
 */
#include "hearth/rt.h"

#include <stdlib.h>

const char *__memprof_default_options(void) {
  free(malloc(10)); /* may allocate */
  return "log_path=by-program";
}

int main(void) { return 0; }
