/* A program as it is has its blocks placed by the profile of a recording: one return address by the height of the stack, in the
 * main thread alone, and in the programs that it forks and executes.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t
 * RUN: %clang -O1 -g -pthread -Wall %s -o program && %hearth record -q -o raw ./program > plain && FileCheck %s < plain
 * CHECK-COUNT-3: needed other, unused other, in a thread other
 *
 * No accesses were counted: this makes the blocks of one function the only ones without any.
 * RUN: %hearth index --format=text raw -o counted.text
 * RUN: awk '/^run/ { sub("accesses=0", "accesses=1") } /^context/ { cold = 0 } /unused/ { cold = 1 } \
 * RUN:   { print } /TotalSize/ && !cold { print "  TotalAccessCount " 100 * $2; \
 * RUN:   print "  TotalLifetimeAccessDensity " 1000 * $2 }' counted.text > accessed.text
 * RUN: %hearth index accessed.text -o profile && %hearth plan --paths profile | FileCheck %s --check-prefix=PATHS
 * PATHS: height 0.{{[05]}} % program+0x{{.*}} leaf
 * PATHS: by the height of the stack, too
 * RUN: %hearth plan --paths --json profile > paths.json && python3 -c 'import json, sys; p = json.load(sys.stdin); \
 * RUN:   s = p["as_whole_stacks"]; assert s["address"] < 0.6 and s["height"] > 0.99, s; \
 * RUN:   assert sum(a["bytes"] for a in p["addresses"]) == p["placed_bytes"]' < paths.json
 * RUN: not %hearth plan --json profile
 * RUN: %hearth run profile ./program | FileCheck %s --check-prefix=PLACED
 * PLACED-COUNT-3: needed other, unused cold, in a thread other
 * RUN: env ANOTHER=variable HEARTH_HOTCOLD=stats=stats %hearth run profile -- ./program and arguments \
 * RUN:   | FileCheck %s --check-prefix=PLACED
 * RUN: FileCheck %s --check-prefix=STATS < stats
 * RUN: %hearth run --list=kept profile ./program | FileCheck %s --check-prefix=PLACED && grep -q '^+' kept
 * STATS: "cold":{{.*}}"placed":100,
 *
 * Another build of the program, whose addresses are others, runs as without a profile.
 * RUN: %clang -O0 -g -pthread %s -o program && %hearth run profile ./program | FileCheck %s
 *
 * The profile keeps its paths in text, when it is merged, and stripped.
 * RUN: %hearth index --format=text profile -o one.text && %hearth index one.text -o again && cmp profile again
 * RUN: grep -c '^  path [0-9]* offset=[0-9]* height=[1-9]' one.text
 * RUN: %hearth index profile again -o merged && %hearth index --format=text merged -o merged.text
 * RUN: grep '^  path' one.text > paths && grep '^  path' merged.text | cmp paths -
 * RUN: %hearth strip profile -o stripped && %hearth plan --paths stripped | FileCheck %s --check-prefix=STRIPPED
 * STRIPPED: height 0.{{[05]}} % +0x
 *
 * Another layout is planned for on the way. Where nothing gains, the program runs as it is.
 * RUN: %clang -O1 -g -pthread %s -o program && %hearth index raw -o uncounted
 * RUN: %hearth run --layout=warm uncounted ./program | FileCheck %s --check-prefix=WARM
 * WARM-COUNT-3: needed hot, unused hot, in a thread hot
 * RUN: %hearth run --layout=warm --list=warm uncounted true && grep -c ' 223$' warm && cp uncounted same
 * RUN: %hearth plan --paths --layout=warm uncounted | FileCheck %s --check-prefix=ONE && cmp uncounted same
 * ONE: address 0.0 % program+0x{{.*}} leaf
 * RUN: (%hearth run --layout=none uncounted sh -c 'echo $LD_PRELOAD.$HEARTH_HOTCOLD.; ls /proc/self/fd; exit 7' 2>&1; \
 * RUN:   echo code $?) | FileCheck %s --check-prefix=NONE
 * NONE: hearth: uncounted: nothing is predicted to gain: the program runs as it is
 * NONE-NEXT: ..
 * NONE-NOT: 900
 * NONE: code 7
 * RUN: %hearth run -q --layout=none uncounted ./program 2>&1 | FileCheck %s
 * RUN: not %hearth run --layout=best uncounted ./program
 * RUN: grep -v '^  path' one.text > without && %hearth index without -o without.profile
 * RUN: (%hearth run without.profile ./program 2>&1; echo code $?) | FileCheck %s --check-prefix=OLD
 * OLD: without.profile: no call paths, which only 'hearth record' of this version or a newer one notes: record the program again
 * OLD: code 125
 * RUN: (%hearth run profile ./nothing 2>&1; echo code $?; %hearth run profile /dev/null 2>&1; echo code $?; \
 * RUN:   %hearth run profile sh -c 'exit 7'; echo code $?; %hearth run profile 2>&1; echo code $?) \
 * RUN:   | FileCheck %s --check-prefix=CODES
 * CODES: nothing
 * CODES: code 127
 * CODES: /dev/null
 * CODES: code 126
 * CODES: code 7
 * CODES: which command
 * CODES: code 2
 *
 * Where the limits leave no room for the pools, the program runs as it is, and a message says so.
 * RUN: (ulimit -v 2000000 && %hearth run --layout=warm uncounted ./program) > limited 2> said && FileCheck %s < limited
 * RUN: FileCheck %s --check-prefix=LIMITED < said
 * LIMITED: hearth hotcold: hints are ignored: cannot reserve address space
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 100, BYTES = 4000 };

static const char *class_of(const void *block) {
  static const char *const names[] = {"other", "cold", "hot"};
  int (*find)(const void *) = (int (*)(const void *))dlsym(RTLD_DEFAULT, "hearth_hotcold_class");
  return names[find ? find(block) : 0];
}

__attribute__((noinline)) static char *leaf(size_t bytes) {
  char *volatile block = malloc(bytes);
  return block;
}

__attribute__((noinline)) static char *needed(void) {
  char *volatile block = leaf(BYTES);
  return block;
}

__attribute__((noinline)) static char *unused(void) {
  volatile char room[400] = {0};
  char *volatile block = leaf(BYTES);
  return block + room[7];
}

static void *in_thread(void *argument) {
  (void)argument;
  return unused();
}

static void tell(void) {
  const char *a = "", *b = "";
  void *c;
  pthread_t thread;
  for (int i = 0; i < BLOCKS; i++) {
    a = class_of(needed());
    b = class_of(unused());
  }
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, &c);
  printf("needed %s, unused %s, in a thread %s\n", a, b, class_of(c));
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc > 1 && argv[1][0] == '2') {
    tell();
    return 0;
  }
  tell();
  if (fork() == 0) {
    tell();
    _exit(0);
  }
  wait(NULL);
  execl("/proc/self/exe", argv[0], "2", (char *)NULL);
  return 1;
}
