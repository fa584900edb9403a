/* Accesses of global variables of a program and of its libraries are counted exactly, by name. Those of a
 * library that was closed are left out; a child begins anew.
 *
 * RUN: rm -rf %t && mkdir %t
 * RUN: %clang -O1 -g %s -DLIBRARY -fPIC -shared $(%hearth flags instrument) -mllvm -memprof-globals -o %t/library.so
 * RUN: %clang -O1 -g %s $(%hearth flags instrument) -mllvm -memprof-globals -o %t/program -rdynamic -ldl
 *
 * RUN: HEARTH_OPTIONS=log_path=%t/open %t/program %t/library.so open
 * RUN: %hearth index -q %t/open.* -o %t/open.prof 2> %t/messages; %hearth show --text %t/open.prof | FileCheck %s --check-prefixes=CHECK,LIBRARY
 * RUN: HEARTH_OPTIONS=log_path=%t/closed %t/program %t/library.so closed
 * RUN: %hearth index -q %t/closed.* -o %t/closed.prof 2> %t/messages; %hearth show --text %t/closed.prof | FileCheck %s --implicit-check-not='global of_library'
 * CHECK-DAG: global written globals.c line={{[0-9]+}} kind=1 local=0 size=400 accesses=1000 touched_lines={{[1-7]}}
 * CHECK-DAG: global walked globals.c line={{[0-9]+}} kind=1 local=1 size=4096 accesses=1024 touched_lines=64
 * CHECK-DAG: global table globals.c line={{[0-9]+}} kind=2 local=1 size=32 accesses=30 touched_lines=1
 * CHECK-DAG: global initialised globals.c line={{[0-9]+}} kind=0 local=0 size=4 accesses=1 touched_lines=1
 * CHECK-DAG: global untouched globals.c line={{[0-9]+}} kind=1 local=0 size=2000 accesses=0 touched_lines=0
 * LIBRARY-DAG: global of_library globals.c line={{[0-9]+}} kind=0 local=0 size=8 accesses=200 touched_lines=1
 *
 * RUN: HEARTH_OPTIONS=log_path=%t/forked.%%p %t/program %t/library.so fork > %t/pid
 * RUN: %hearth index -q %t/forked.$(cat %t/pid) -o %t/forked.prof 2> %t/messages; %hearth show --text %t/forked.prof | FileCheck %s --check-prefix=CHILD
 * CHILD-DAG: global written globals.c line={{[0-9]+}} kind=1 local=0 size=400 accesses=7 touched_lines=1
 * CHILD-DAG: global walked globals.c line={{[0-9]+}} kind=1 local=1 size=4096 accesses=0 touched_lines=0
 */
#ifdef LIBRARY
volatile long of_library = 1;

void touch_library(void) {
  for (int i = 0; i < 100; i++)
    of_library++;
}
#else
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "Inputs/forked.h"

volatile int written[100];
static volatile int walked[1024];
static const volatile int table[8] = {1, 2, 3};
volatile int initialised = 1;
char untouched[2000];
static void *volatile kept;

__attribute__((noinline)) static void touch(void) {
  for (int i = 0; i < 1000; i++)
    written[i % 100] = i;
  for (int i = 0; i < 1024; i++)
    walked[i] = i;
  for (int i = 0; i < 30; i++)
    (void)table[i % 8];
  (void)initialised;
}

__attribute__((noinline)) static void touch_again(void) {
  for (int i = 0; i < 7; i++)
    written[3] = i;
  kept = malloc(10);
}

int main(int argc, char **argv) {
  if (argc < 3)
    return untouched[argc];
  touch();
  kept = malloc(100);
  if (strcmp(argv[2], "fork") == 0)
    return touch_in_child(touch_again);
  void *library = dlopen(argv[1], RTLD_NOW);
  void (*touch_library)(void) = (void (*)(void))dlsym(library, "touch_library");
  touch_library();
  if (strcmp(argv[2], "closed") == 0)
    dlclose(library);
  return 0;
}
#endif
