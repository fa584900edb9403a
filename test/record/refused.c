/* What nothing can be preloaded into is refused before it runs, with the reason. */
/* RUN: %clang -O1 %s -o %t.dynamic && %clang -O1 -static %s -o %t.static && %clang -O1 -DOWN -rdynamic %s -o %t.own
 * RUN: cp %t.dynamic %t.suid && chmod u+s %t.suid && echo '#! %t.static' > %t.script && chmod +x %t.script
 * RUN: bash -c '%hearth record -o %t.raw -- %t.static; echo $?' 2>&1 | FileCheck %s --check-prefix=STATIC
 * STATIC: hearth: error: {{.*}}.static: statically linked, nothing can be preloaded
 * STATIC-NEXT: 125
 * RUN: bash -c '%hearth record -o %t.raw -- %t.script; echo $?' 2>&1 | FileCheck %s --check-prefix=STATIC
 * RUN: bash -c '%hearth record -o %t.raw -- %t.suid; echo $?' 2>&1 | FileCheck %s --check-prefix=SUID
 * SUID: hearth: error: {{.*}}.suid: set-user-id, set-group-id or with capabilities
 * SUID-NEXT: 125
 * RUN: bash -c '%hearth record -o %t.raw -- %t.own; echo $?' 2>&1 | FileCheck %s --check-prefix=OWN
 * OWN: hearth: error: {{.*}}.own: defines malloc itself
 * OWN-NEXT: 125
 * RUN: bash -c '%hearth record -- %t.none; echo $?' 2>&1 | FileCheck %s --check-prefix=NONE
 * NONE: hearth: error: {{.*}}.none: No such file or directory
 * NONE-NEXT: 127
 * RUN: bash -c '%hearth record -- %s; echo $?' 2>&1 | FileCheck %s --check-prefix=DENIED
 * DENIED: hearth: error: {{.*}}refused.c: Permission denied
 * DENIED-NEXT: 126
 * RUN: echo text > %t.text && chmod +x %t.text
 * RUN: bash -c '%hearth record -o %t.raw -- %t.text; echo $?' 2>&1 | FileCheck %s --check-prefix=TEXT
 * TEXT: hearth: error: {{.*}}.text: not an ELF executable or shared library (only dynamically linked 64-bit
 * TEXT-NEXT: 125
 * RUN: bash -c '%hearth record -o %t.text/more/raw -- %t.dynamic; echo $?' 2>&1 | FileCheck %s --check-prefix=FOLDER
 * FOLDER: hearth: error: {{.*}}.text/more/raw: cannot be written: Not a directory; name another file with -o
 * FOLDER-NEXT: 125
 * RUN: bash -c '%hearth record; echo $?' 2>&1 | FileCheck %s --check-prefix=USAGE
 * USAGE: hearth: error: which command?
 * USAGE: {{^2$}}
 */
#include <stddef.h>
#include <stdio.h>

#ifdef OWN
void *malloc(size_t size);
void *malloc(size_t size) { return size ? NULL : NULL; }
#endif

int main(void) { return puts("ran") < 0; }
