/* Libraries that are closed while the program runs: one that nothing took the place of, or that came back itself, is
 * resolved. Where another one is loaded at its addresses, an address does not tell which is meant: both are left out, which
 * is said, and everything else stays.
 *
 * RUN: %clang -DSIZE=222 -DLIBRARY -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-builtin -fPIC -shared -Wl,--build-id %s -o %t.one.so
 * RUN: %clang -DSIZE=333 -DLIBRARY -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-builtin -fPIC -shared -Wl,--build-id %s -o %t.other.so
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t -rdynamic -ldl && rm -f %t.back.* %t.taken.*
 *
 * RUN: HEARTH_OPTIONS=log_path=%t.back %t %t.one.so %t.one.so 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
 * RUN: python3 %S/Inputs/raw_print.py %t.back.* MaxSize AllocCount | FileCheck %s --check-prefix=BACK
 * SILENT-NOT: mappings
 * BACK: mapping: library-reloaded.c.tmp.one.so build-id
 * BACK: MaxSize=111 AllocCount=1 | library-reloaded.c.tmp+0x
 * BACK: MaxSize=222 AllocCount=1 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp+0x
 * BACK: MaxSize=222 AllocCount=1 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp+0x
 *
 * RUN: HEARTH_OPTIONS=log_path=%t.taken %t %t.one.so %t.other.so 2>&1 | FileCheck %s --check-prefix=TOLD
 * RUN: python3 %S/Inputs/raw_print.py %t.taken.* MaxSize AllocCount | FileCheck %s --check-prefix=TAKEN
 * RUN: %hearth index %t.taken.* -o %t.prof && %hearth show %t.prof | FileCheck %s --check-prefix=SHOW
 * TOLD: hearth: code of {{/.*[.]so.*}} ({{[1-9][0-9]*}} bytes) is left out of the profile, and so is the code loaded in its place later
 * TAKEN-NOT: mapping: library-reloaded.c.tmp.one.so
 * TAKEN-NOT: mapping: library-reloaded.c.tmp.other.so
 * TAKEN: MaxSize=111 AllocCount=1 | library-reloaded.c.tmp+0x
 * TAKEN: MaxSize=222 AllocCount=1 | ?+0x{{.*}} library-reloaded.c.tmp+0x
 * TAKEN: MaxSize=333 AllocCount=1 | ?+0x{{.*}} library-reloaded.c.tmp+0x
 * SHOW: heap profile of 1 run
 */
#include <stdlib.h>

#ifdef LIBRARY

void *get(void) { return malloc(SIZE); }

#else

#include <dlfcn.h>
#include <stdio.h>

static void *volatile kept;

/* Returns where the library's function is. */
static void *call(const char *path, int keep_open) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library)
    exit(fprintf(stderr, "%s\n", dlerror()));
  void *(*get)(void) = (void *(*)(void))dlsym(library, "get");
  free(get());
  if (!keep_open)
    dlclose(library);
  return (void *)get;
}

int main(int argc, char **argv) {
  kept = malloc(111);
  void *before = call(argv[1], 0);
  void *after = call(argv[argc - 1], 1);
  if (before != after)
    return fprintf(stderr, "not loaded where the first was: this tests nothing\n"), 1;
  return 0;
}
#endif
