/* A child writes a file of its own and leaves its parent's alone; forking while other threads allocate does not hang.
 *
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -f %t.prof.* && HEARTH_OPTIONS=log_path=%t.prof %t %t.prof > %t.children
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/parent //p' %t.children) AllocCount MaxSize | FileCheck %s --check-prefix=PARENT
 * RUN: python3 %S/Inputs/raw_print.py %t.prof.$(sed -n 's/child //p' %t.children) AllocCount MaxSize | FileCheck %s --check-prefix=CHILD
 *
 * PARENT: AllocCount=1 MaxSize=111
 * PARENT-NOT: MaxSize=222
 * PARENT: AllocCount=1 MaxSize=333
 * CHILD: AllocCount=1 MaxSize=111
 * CHILD: AllocCount=1 MaxSize=222
 * CHILD-NOT: MaxSize=333
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

  free(malloc(111));
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
    free(malloc(222));
    exit(5);
  }
  free(malloc(333));
  printf("parent %d\nchild %d\n", (int)getpid(), (int)child);
  return wait_for(child) == 5 ? 0 : 1;
}
