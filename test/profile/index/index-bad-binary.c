// A binary that cannot be symbolised is one message, naming the file, the reason and the remedy.
//
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -fno-omit-frame-pointer -Wl,--build-id %s %rt -lpthread -o program
// RUN: env HEARTH_OPTIONS=log_path=%t/raw ./program
//
// RUN: %clang -O1 -gmlt -Wl,--build-id %s -o plain-gmlt
// RUN: not %hearth index raw.* --binary plain-gmlt -o out 2>&1 | FileCheck %s --check-prefixes=GMLT,END
// GMLT: hearth: error: plain-gmlt: {{.*}}(compile with -fdebug-info-for-profiling beside -gmlt)
//
// RUN: %clang -O1 -Wl,--build-id %s -o no-debug
// RUN: not %hearth index raw.* --binary no-debug -o out 2>&1 | FileCheck %s --check-prefixes=NODEBUG,END
// NODEBUG: hearth: error: no-debug: no debug information (compile with -gmlt -fdebug-info-for-profiling, do not strip)
//
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -Wl,--build-id=none %s -o no-id
// RUN: not %hearth index raw.* --binary no-id -o out 2>&1 | FileCheck %s --check-prefixes=NOID,END
// NOID: hearth: error: no-id: no build id{{.*}}(link with -Wl,--build-id)
//
// RUN: %clang -O2 -gmlt -fdebug-info-for-profiling -Wl,--build-id %s -o other
// RUN: not %hearth index raw.* --binary other -o out 2>&1 | FileCheck %s --check-prefixes=OTHER,END
// OTHER: hearth: error: raw.{{[0-9]+}}: written by another build: other has build id [[ID:[0-9a-f]+]]
// OTHER-NOT: program has [[ID]]
// OTHER-SAME: program has {{[0-9a-f]+}}
// RUN: %hearth index raw.* --binary program --binary other -o used 2>&1 | FileCheck %s --check-prefixes=UNUSED,END
// UNUSED: hearth: warning: other: its build id {{[0-9a-f]+}} is in none of the raw profiles
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -gno-column-info -Wl,--build-id %s %rt -lpthread -o columns
// RUN: env HEARTH_OPTIONS=log_path=%t/columns.raw ./columns
// RUN: not %hearth index columns.raw.* --binary columns -o out 2>&1 | FileCheck %s --check-prefixes=COLUMNS
// COLUMNS: hearth: error: out: not written: no allocation has a column{{.*}}-gno-column-info
//
// RUN: %clang -O1 -gmlt -fdebug-info-for-profiling -c %s -o object.o
// RUN: not %hearth index raw.* --binary object.o -o out 2>&1 | FileCheck %s --check-prefixes=OBJECT,END
// OBJECT: hearth: error: object.o: not a linked 64-bit little-endian ELF file
// RUN: not %hearth index raw.* --binary %s -o out 2>&1 | FileCheck %s --check-prefixes=TEXT,END
// TEXT: index-bad-binary.c: not an ELF executable
// RUN: not %hearth index raw.* --binary nowhere -o out 2>&1 | FileCheck %s --check-prefixes=MISSING,END
// MISSING: hearth: error: nowhere: cannot be opened: No such file or directory
// RUN: not %hearth index raw.* --binary . -o out 2>&1 | FileCheck %s --check-prefixes=FOLDER,END
// FOLDER: hearth: error: .: not a regular file
//
// Every bad file of one call has its message:
// RUN: not %hearth index raw.* --binary no-debug --binary nowhere -o out 2>&1 | FileCheck %s --check-prefixes=NODEBUG,MISSING
//
// No error leaves a file behind.
// RUN: not ls out
// END-NOT: error:
#include <stdlib.h>

int main(void) {
  char *volatile block = malloc(100);
  return block == NULL;
}
