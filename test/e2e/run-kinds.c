/* Programs of each kind run with their blocks placed as they run without: threads that free each other's blocks, a library that is
 * opened and closed as the program runs, an end by a signal, children.
 *
 * RUN: rm -rf %t && mkdir %t && cd %t && %clang -O2 -g -shared -fPIC -DLIBRARY %s -o library.so
 * RUN: %clang -O2 -g -pthread -Wall %s -o program
 * RUN: for kind in threads library abort kill children; do \
 * RUN:   (%hearth record -q -o $kind.raw ./program $kind; echo code $?) > $kind.plain 2> /dev/null; \
 * RUN:   FileCheck %s --check-prefix=$kind < $kind.plain || exit 1; \
 * RUN:   %hearth index -q --symbols $kind.raw -o $kind.heap || exit 1; \
 * RUN:   for i in 1 2 3; do \
 * RUN:     (HEARTH_HOTCOLD=sites-warning=off %hearth run --layout=calls $kind.heap ./program $kind; echo code $?) \
 * RUN:       > $kind.placed 2> /dev/null; cmp $kind.plain $kind.placed || exit 1; done; done
 * threads: sum 8000000
 * threads: code 0
 * library: sum 300
 * library: code 0
 * abort: code 134
 * kill: code 143
 * children: sum 20
 * children: code 0
 */
#ifdef LIBRARY
#include <stdlib.h>
char *make(int value) {
  char *block = malloc(48);
  *block = (char)value;
  return block;
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, BLOCKS = 20000, ROUNDS = 100, BYTES = 40 };
static int *_Atomic blocks[BLOCKS];
static _Atomic long sum;

__attribute__((noinline)) static int *make(int value) {
  int *volatile block = malloc(BYTES);
  *block = value;
  return block;
}

static void *exchange(void *argument) {
  long own = 0;
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < BLOCKS; i++) {
      int *block = make(1);
      own += *block;
      free(__atomic_exchange_n((int **)&blocks[i], block, __ATOMIC_ACQ_REL));
    }
  sum += own;
  return argument;
}

static void run_threads(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, exchange, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
}

static void open_library(void) {
  for (int i = 0; i < 3; i++) {
    void *library = dlopen("./library.so", RTLD_NOW);
    char *(*make_there)(int) = (char *(*)(int))dlsym(library, "make");
    for (int k = 0; k < 100; k++) {
      char *block = make_there(1);
      sum += *block;
      free(block);
    }
    dlclose(library);
  }
}

static void have_children(void) {
  for (int i = 0; i < 20; i++) {
    int status, *block = make(i);
    pid_t child = fork();
    if (child == 0) {
      free(make(2));
      _exit(*block);
    }
    waitpid(child, &status, 0);
    sum += WEXITSTATUS(status) == i;
    free(block);
  }
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  for (int i = 0; i < 1000; i++)
    blocks[i] = make(i);
  if (!strcmp(kind, "threads"))
    run_threads();
  else if (!strcmp(kind, "library"))
    open_library();
  else if (!strcmp(kind, "children"))
    have_children();
  else if (!strcmp(kind, "abort"))
    abort();
  else
    kill(getpid(), SIGTERM);
  printf("sum %ld\n", (long)sum);
  return 0;
}
#endif
