/* A program with rights that its caller lacks makes files only where its build says, and no folders; else it says at once that
 * nothing is recorded. REQUIRES: root
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t && rm -rf %t.dir && mkdir %t.dir && cp %t %t.dir/p && cd %t.dir
 * RUN: chgrp 65534 p && chmod g+s p && HEARTH_OPTIONS=log_path=%t.dir/chosen ./p 2>&1 | FileCheck %s --check-prefix=NONE
 * RUN: ls | count 1
 * NONE: hearth: nothing is recorded: the program has rights that its caller lacks (set-user-id or the like), and its build names no absolute path for profiles
 * NONE-NEXT: ran
 * NONE-NOT: {{.}}
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t.named -DFOLDER='"%t.dir/folder"' && cp %t.named named && chgrp 65534 named
 * RUN: chmod g+s named && ./named 2>&1 | FileCheck %s --check-prefix=FOLDER
 * FOLDER: ran
 * FOLDER-NEXT: hearth: cannot write the profile {{.*}}/folder/profile.{{[0-9]+}}: No such file or directory
 * RUN: mkdir folder && ./named && %hearth index -q folder/profile.* -o heap
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef FOLDER
const char *__memprof_default_options(void);
const char *__memprof_default_options(void) { return "log_path=" FOLDER "/profile"; }
#endif

int main(void) {
  free(malloc(10));
  puts("ran");
  return fflush(stdout);
}
