/* Libraries that are closed while the program runs, and others that are loaded at their addresses: each keeps its own
 * blocks, whether the last one is still open at the end or not. Another thread than the one that closes them remembers its
 * stacks, too. One that comes back is itself again.
 *
 * REQUIRES: traces
 * RUN: %clang -DSIZE=222 -DNAME=from_one -DLIBRARY -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-builtin -fPIC -shared -Wl,--build-id %s -o %t.one.so
 * RUN: %clang -DSIZE=333 -DNAME=from_other -DLIBRARY -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-builtin -fPIC -shared -Wl,--build-id %s -o %t.other.so
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t -rdynamic -ldl && rm -rf %t.dir && mkdir %t.dir
 * RUN: %clang -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-builtin %s -o %t.plain -ldl -lpthread
 *
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/back %t open %t.one.so %t.one.so 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
 * RUN: python3 %S/Inputs/raw_print.py %t.dir/back.* MaxSize AllocCount | FileCheck %s --check-prefix=BACK
 * SILENT-NOT: hearth
 * BACK: mapping: library-reloaded.c.tmp.one.so build-id
 * BACK-NOT: mapping: library-reloaded.c.tmp.one.so
 * BACK: MaxSize=222 AllocCount=2 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp+0x
 * BACK: MaxSize=222 AllocCount=2 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp+0x
 *
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/open %t open %t.one.so %t.other.so 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/closed %t closed %t.one.so %t.other.so 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
 * RUN: python3 %S/Inputs/raw_print.py %t.dir/open.* MaxSize AllocCount | FileCheck %s --check-prefixes=APART,ONCE
 * RUN: python3 %S/Inputs/raw_print.py %t.dir/closed.* MaxSize AllocCount | FileCheck %s --check-prefixes=APART,ONCE
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/turns %t closed %t.one.so %t.other.so %t.one.so %t.other.so %t.one.so
 * RUN: python3 %S/Inputs/raw_print.py %t.dir/turns.* MaxSize AllocCount | FileCheck %s --check-prefixes=APART,TURNS
 * RUN: %hearth record -o %t.dir/record -- %t.plain closed %t.one.so %t.other.so %t.one.so %t.other.so %t.one.so
 * RUN: python3 %S/Inputs/raw_print.py %t.dir/record MaxSize AllocCount | FileCheck %s --check-prefix=RECORD
 * APART-DAG: mapping: library-reloaded.c.tmp.one.so build-id
 * APART-DAG: mapping: library-reloaded.c.tmp.other.so build-id
 * ONCE: MaxSize=222 AllocCount=1 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp+0x
 * ONCE: MaxSize=222 AllocCount=1 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp+0x
 * ONCE: MaxSize=333 AllocCount=1 | library-reloaded.c.tmp.other.so+0x{{.*}} library-reloaded.c.tmp+0x
 * ONCE: MaxSize=333 AllocCount=1 | library-reloaded.c.tmp.other.so+0x{{.*}} library-reloaded.c.tmp+0x
 * TURNS: MaxSize=222 AllocCount=3 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp+0x
 * TURNS: MaxSize=222 AllocCount=3 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp+0x
 * TURNS: MaxSize=333 AllocCount=2 | library-reloaded.c.tmp.other.so+0x{{.*}} library-reloaded.c.tmp+0x
 * TURNS: MaxSize=333 AllocCount=2 | library-reloaded.c.tmp.other.so+0x{{.*}} library-reloaded.c.tmp+0x
 * RECORD: MaxSize=222 AllocCount=3 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp.plain+0x
 * RECORD: MaxSize=222 AllocCount=3 | library-reloaded.c.tmp.one.so+0x{{.*}} library-reloaded.c.tmp.plain+0x
 * RECORD: MaxSize=333 AllocCount=2 | library-reloaded.c.tmp.other.so+0x{{.*}} library-reloaded.c.tmp.plain+0x
 * RECORD: MaxSize=333 AllocCount=2 | library-reloaded.c.tmp.other.so+0x{{.*}} library-reloaded.c.tmp.plain+0x
 *
 * The same in the layout of LLVM, which has no paths, and in a trace.
 * RUN: %hearth index -q %t.dir/turns.* -o %t.dir/turns.prof && %hearth show %t.dir/turns.prof | FileCheck %s --check-prefix=SHOW
 * RUN: HEARTH_OPTIONS=format=llvm:log_path=%t.dir/llvm %t closed %t.one.so %t.other.so %t.one.so %t.other.so %t.one.so
 * RUN: %hearth index -q %t.dir/llvm.* --binary=%t --binary=%t.one.so --binary=%t.other.so -o %t.dir/llvm.prof
 * RUN: %hearth show %t.dir/llvm.prof | FileCheck %s --check-prefix=SHOW
 * RUN: %hearth record --mode=trace -o %t.dir/trace -- %t.plain closed %t.one.so %t.other.so %t.one.so %t.other.so %t.one.so
 * RUN: %hearth trace %t.dir/trace | grep -c 'mapping .*library-reloaded.c.tmp.one.so"' | grep -x 1
 * RUN: %hearth trace %t.dir/trace | grep -c 'mapping .*library-reloaded.c.tmp.other.so"' | grep -x 1
 * SHOW-DAG: 1.3 KiB {{.*}} 6 {{.*}} from_one
 * SHOW-DAG: 1.3 KiB {{.*}} 4 {{.*}} from_other
 *
 * Code that the program itself maps over that of a library is not noticed in time: both are left out, which is said.
 * RUN: HEARTH_OPTIONS=log_path=%t.dir/over %t over %t.one.so %t.other.so 2>&1 | FileCheck %s --check-prefix=TOLD
 * RUN: python3 %S/Inputs/raw_print.py %t.dir/over.* MaxSize AllocCount | FileCheck %s --check-prefix=OVER
 * TOLD: hearth: code of {{/.*[.]so.*}} ({{[1-9][0-9]*}} bytes) is left out of the profile, and so is the code loaded in its place later
 * OVER-NOT: mapping: library-reloaded.c.tmp.one.so
 * OVER-NOT: mapping: library-reloaded.c.tmp.other.so
 * OVER: MaxSize=222 AllocCount=1 | ?+0x{{.*}} library-reloaded.c.tmp+0x
 */
#include <stdlib.h>

#ifdef LIBRARY

static __attribute__((noinline)) void *NAME(void) { return malloc(SIZE); }

void *get(void) { return NAME(); }

#else

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef void *function(void);

static function *volatile current;
static pthread_barrier_t turn;

static void *work(void *unused) {
  (void)unused;
  for (;;) {
    pthread_barrier_wait(&turn);
    if (!current)
      return NULL;
    free(current());
    pthread_barrier_wait(&turn);
  }
}

/* Returns where the library's function is. */
static function *call(const char *path, int keep_open) {
  void *library = dlopen(path, RTLD_NOW);
  if (!library)
    exit(fprintf(stderr, "%s\n", dlerror()));
  current = (function *)dlsym(library, "get");
  free(current());
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn);
  if (!keep_open)
    dlclose(library);
  return current;
}

/* The first pages of `path`, and those with the function: both libraries have them at the same places. */
static int map_over(struct link_map *library, uintptr_t code, const char *path) {
  int fd = open(path, O_RDONLY);

  code &= ~(uintptr_t)4095;
  return mmap((void *)library->l_addr, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) != MAP_FAILED &&
         mmap((void *)code, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, code - library->l_addr) != MAP_FAILED;
}

static int call_over(const char *path, const char *other) {
  struct link_map *library = dlopen(path, RTLD_NOW);

  function *get = (function *)dlsym(library, "get");
  free(get());
  return map_over(library, (uintptr_t)get, other) ? 0 : 1;
}

int main(int argc, char **argv) {
  function *before = NULL;
  pthread_t worker;

  if (strcmp(argv[1], "over") == 0)
    return call_over(argv[2], argv[3]);
  pthread_barrier_init(&turn, NULL, 2);
  pthread_create(&worker, NULL, work, NULL);
  for (int i = 2; i < argc; i++) {
    function *at = call(argv[i], i == argc - 1 && strcmp(argv[1], "open") == 0);
    if (before && at != before)
      return fprintf(stderr, "not loaded where the first was: this tests nothing\n"), 1;
    before = at;
  }
  current = NULL;
  pthread_barrier_wait(&turn);
  pthread_join(worker, NULL);
  return 0;
}
#endif
