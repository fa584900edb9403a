/* A child writes a file of its own, with what it allocated itself, and leaves its parent's alone: all files together
 * count each block once. Forking while other threads allocate does not hang.
 *
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t > %t.children
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/parent //p' %t.children) AllocCount MaxSize LiveAtExit | FileCheck %s --check-prefix=PARENT
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/child //p' %t.children) AllocCount MaxSize LiveAtExit > %t.child
 * RUN: FileCheck %s --check-prefix=CHILD < %t.child
 * RUN: not grep -E 'MaxSize=(50|111|112|113|114|333) ' %t.child
 *
 * PARENT: AllocCount=100 MaxSize=111 LiveAtExit=0
 * PARENT: AllocCount=1 MaxSize=112 LiveAtExit=1
 * PARENT: AllocCount=1 MaxSize=113 LiveAtExit=0
 * PARENT: AllocCount=1 MaxSize=114 LiveAtExit=0
 * PARENT-NOT: MaxSize={{115|222|224}}
 * PARENT: AllocCount=1 MaxSize=333 LiveAtExit=0
 * CHILD: AllocCount=1 MaxSize=115 LiveAtExit=0
 * CHILD: AllocCount=7 MaxSize=222 LiveAtExit=0
 * CHILD: AllocCount=1 MaxSize=224 LiveAtExit=1
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;

static void *churn(void *closure) {
  while (!stop)
    free(malloc(50));
  return closure;
}

static int wait_for(pid_t child) {
  int status;

  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void) {
  pthread_t thread;

  for (int i = 0; i < 100; ++i)
    free(malloc(111));
  static void *volatile kept[4];
  kept[0] = malloc(112); /* stays */
  kept[1] = malloc(113); /* freed by both */
  kept[2] = malloc(114); /* the child resizes it */
  pthread_create(&thread, NULL, churn, NULL);
  for (int i = 0; i < 200; ++i) {
    pid_t child = fork();
    if (child == 0) {
      free(malloc(60));
      _exit(0);
    }
    if (wait_for(child) != 0)
      return 1;
  }
  stop = 1;
  pthread_join(thread, NULL);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 7; ++i)
      free(malloc(222));
    kept[3] = malloc(224);
    free(kept[1]);
    free(realloc(kept[2], 115));
    exit(5);
  }
  free(kept[1]);
  free(kept[2]);
  free(malloc(333));
  printf("parent %d\nchild %d\n", (int)getpid(), (int)child);
  return wait_for(child) == 5 ? 0 : 1;
}
