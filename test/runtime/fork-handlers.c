/* Fork handlers of a library whose constructor ran before the runtime's: they run while the runtime holds its locks, in
 * the child even before it has forgotten its parent's blocks. They may allocate and free; all blocks are counted once.
 *
 * RUN: %clang -shared -fPIC -DLIBRARY -fno-builtin -O1 -fno-omit-frame-pointer %s -o %t.so
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t %t.so
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof timeout 600 %t > %t.children
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/parent //p' %t.children) AllocCount MaxSize | FileCheck %s --check-prefix=PARENT
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/child //p' %t.children) AllocCount MaxSize | FileCheck %s --check-prefix=CHILD
 *
 * PARENT: AllocCount=1 MaxSize=71
 * PARENT-NEXT: AllocCount=1 MaxSize=72
 * PARENT-NEXT: AllocCount=5 MaxSize=111
 * CHILD-NOT: MaxSize={{71|72|111}}
 * CHILD: AllocCount=1 MaxSize=73
 * CHILD-NEXT: AllocCount=3 MaxSize=222
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LIBRARY
static void *volatile before;

static void prepare(void) { before = malloc(71); }

static void parent(void) {
  free(malloc(72));
  free(before);
}

static void child(void) {
  free(before);
  free(malloc(73));
}

__attribute__((constructor)) static void watch(void) { pthread_atfork(prepare, parent, child); }

void use_library(void) {}
#else
void use_library(void);

int main(void) {
  int status;

  use_library();
  for (int i = 0; i < 5; ++i)
    free(malloc(111));
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 3; ++i)
      free(malloc(222));
    exit(0);
  }
  printf("parent %d\nchild %d\n", (int)getpid(), (int)child);
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
#endif
