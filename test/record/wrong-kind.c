/* A file of another kind than a command takes is named for what it is, with the command that takes it. */
/* REQUIRES: views, traces
 * RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-builtin %s -o %t && rm -rf %t.d && mkdir %t.d && cd %t.d
 * RUN: %hearth record -q -o raw -- %t && %hearth record -q --mode=trace -o trace -- %t && %hearth record -q --mode=live -o dump -- %t
 * RUN: %hearth index -q raw -o prof && %hearth index -q raw --format=llvm -o llvm.prof && %hearth trace trace > trace.txt
 * RUN: for file in raw trace dump.1 trace.txt; do not %hearth show $file || exit 1; done 2>&1 | FileCheck %s --check-prefix=SHOW
 * SHOW: error: raw: not an indexed Hearth profile: it is a raw profile: use 'hearth index'
 * SHOW: error: trace: not an indexed Hearth profile: it is a trace: use 'hearth trace', 'hearth report' or 'hearth index'
 * SHOW: error: dump.1: not an indexed Hearth profile: it is a heap dump: use 'hearth heap'
 * SHOW: error: trace.txt: not an indexed Hearth profile: it is the text of a trace: use the trace itself
 * RUN: not %hearth report raw -o page.html 2>&1 | FileCheck %s --check-prefix=REPORT
 * REPORT: raw: not an indexed Hearth profile: it is a raw profile: use 'hearth index'
 * RUN: for file in raw prof dump.1 llvm.prof %t; do not %hearth trace $file || exit 1; done 2>&1 | FileCheck %s --check-prefix=TRACE
 * TRACE: error: raw: not a trace, as 'hearth record --mode=trace' writes them: it is a raw profile: use 'hearth index'
 * TRACE: error: prof: {{.*}}: it is an indexed profile: use 'hearth show' or 'hearth report'
 * TRACE: error: dump.1: {{.*}}: it is a heap dump: use 'hearth heap'
 * TRACE: error: llvm.prof: {{.*}}: it is an indexed profile of LLVM: use 'hearth merge'
 * TRACE: error: {{.*}}: it is a program or library: 'hearth index' takes it with --binary
 * RUN: for file in raw prof trace %s; do not %hearth heap $file || exit 1; done 2>&1 | FileCheck %s --check-prefix=HEAP
 * HEAP: error: raw: not a heap dump: it is a raw profile: use 'hearth index'
 * HEAP: error: prof: not a heap dump, as 'hearth record --mode=live' writes them: it is an indexed profile: use 'hearth show' or 'hearth report'
 * HEAP: error: trace: {{.*}}: it is a trace: use 'hearth trace'
 * HEAP: error: {{.*}}wrong-kind.c: not a heap dump, as 'hearth record --mode=live' writes them{{$}}
 * RUN: not %hearth index trace.txt -o out 2>&1 | FileCheck %s --check-prefix=INDEX
 * INDEX: error: trace.txt: not a heap profile: it is the text of a trace: use the trace itself
 */
#include <stdlib.h>

int main(void) {
  free(malloc(10));
  return 0;
}
