/* A program that runs is recorded, twice, and goes on unharmed: its blocks stay its own allocator's, whoever frees them. Threads that
 * were there, and libraries that are loaded later, are recorded, too.
 *
 * REQUIRES: attach
 * RUN: %clang -O1 -g -fPIC -shared -DLIBRARY %s -o %t.so && %clang -O1 -g %s -o %t -pthread
 * RUN: timeout 600 bash %S/Inputs/attach.sh %hearth %t.trace %t %t.so 2>&1 | FileCheck %s
 * CHECK: hearth: error: [[#]]: is being recorded
 * CHECK-NEXT: again: 125
 * CHECK: hearth: recording to {{.*}}.trace.1; ^C ends it
 * CHECK-NEXT: hearth: the trace is {{.*}}.trace.1
 * CHECK-NEXT: hearth: to see it: hearth report {{.*}}.trace.1 -o report.html
 * CHECK-NEXT: program: 7
 * RUN: %hearth index -q --symbols %t.trace.1 -o %t.1.prof && %hearth show %t.1.prof | FileCheck %s --check-prefix=SHOW
 * RUN: %hearth index -q --symbols %t.trace.2 -o %t.2.prof && %hearth show %t.2.prof | FileCheck %s --check-prefix=SHOW
 * SHOW: by 1551 allocations
 * The last one that was freed through the pointer is not known to be; the one before had its address:
 * SHOW-NEXT: at exit {{ *}}124 B live
 * SHOW: {{ }}500 {{.*}} work
 * SHOW: {{ }}1001 {{.*}} serve
 * SHOW: {{ }}50 {{.*}} in_library
 *
 * A main thread that waits for a lock is left alone; the other thread is on another stack.
 * RUN: timeout 600 bash %S/Inputs/attach.sh %hearth %t.trace %t %t.so beside 2>&1 | FileCheck %s
 * RUN: %hearth index -q --symbols %t.trace.1 -o %t.1.prof && %hearth show %t.1.prof | FileCheck %s --check-prefix=SHOW
 *
 * What cannot be recorded is told with its cause:
 * RUN: %clang -O1 -static %s -o %t.static -pthread
 * RUN: timeout 600 bash -c 'coproc { exec %t.static none; }; echo 1 >&${COPROC[1]}; read -u ${COPROC[0]} done; %hearth record --pid=$COPROC_PID; echo $?; kill $COPROC_PID' 2>&1 | FileCheck %s --check-prefix=STATIC
 * STATIC: has no libc.so.6: it is linked statically, or not to glibc
 * STATIC-NEXT: 125
 * RUN: not %hearth record --pid=2147483646 2>&1 | FileCheck %s --check-prefix=NONE
 * NONE: 2147483646: no such process
 * RUN: not %hearth record --pid=1 true 2>&1 | FileCheck %s --check-prefix=BOTH
 * BOTH: either a command or --pid
 * RUN: not %hearth record --pid=1 --mode=live 2>&1 | FileCheck %s --check-prefix=LIVE
 * LIVE: --pid writes a trace
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef LIBRARY

void in_library(void);
void in_library(void) {
  for (int i = 0; i < 50; i++) {
    void *volatile block = malloc(10);
    free(block);
  }
}

#else

enum { OLD = 100 };
static void *old[OLD];
static sem_t begin, end;
static char *volatile kept;

static void *work(void *unused) {
  void *volatile block;
  for (;;) {
    sem_wait(&begin);
    for (int i = 0; i < 500; i++) {
      block = malloc(200);
      free(block);
    }
    sem_post(&end);
  }
  return unused;
}

/* The C library's own functions, as the program found them when it began. */
static void (*volatile *frees)(void *);

static void serve(const char *library) {
  static int round;
  for (int i = 0; i < 1000; i++)
    (*frees)(memset(malloc(64), round, 64));
  sem_post(&begin);
  sem_wait(&end);
  void *handle = dlopen(library, RTLD_NOW);
  void (*in_library)(void) = handle ? (void (*)(void))dlsym(handle, "in_library") : NULL;
  if (in_library)
    in_library();
  if (handle)
    dlclose(handle);
  free(old[round++ % OLD]);
  kept = realloc(kept, 60);
}

static void obey(const char *library) {
  char order;
  while (read(0, &order, 1) == 1 && order != '0')
    if (order != '\n') {
      char text[] = "done ?\n";
      text[5] = order;
      serve(library);
      if (write(1, text, 7) != 7)
        return;
    }
}

static pthread_mutex_t obeys = PTHREAD_MUTEX_INITIALIZER;

static void *obey_beside(void *library) {
  pthread_mutex_lock(&obeys);
  sem_post(&end);
  obey(library);
  pthread_mutex_unlock(&obeys);
  return library;
}

int main(int argc, char **argv) {
  pthread_t thread, other;
  frees = malloc(sizeof *frees);
  *frees = free;
  for (int i = 0; i < OLD; i++)
    old[i] = malloc(1000);
  sem_init(&begin, 0, 0);
  sem_init(&end, 0, 0);
  pthread_create(&thread, NULL, work, NULL);
  if (argc > 2) {
    pthread_create(&other, NULL, obey_beside, argv[1]);
    sem_wait(&end);
    pthread_mutex_lock(&obeys);
  } else if (argc > 1) {
    obey(argv[1]);
  }
  return 7;
}

#endif
