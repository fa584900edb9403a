/* A program that gives up its rights, and cannot write its profile then, says so once, at its end; also in a child. One that can
 * write it, or takes its rights back, does not, nor does a child that runs another program. REQUIRES: root
 *
 * RUN: %clang -O1 %s -o %t && rm -rf %t.own %t.all && mkdir -m 755 %t.own && mkdir -m 777 %t.all
 * RUN: %hearth record -q -o %t.own/user -- %t user 2>&1 | FileCheck %s --check-prefix=LOST
 * RUN: %hearth record -q -o %t.own/new/folder/user -- %t user 2>&1 | FileCheck %s --check-prefix=LOST
 * RUN: %hearth record -q -o %t.own/jail -- %t jail %t.own 2>&1 | FileCheck %s --check-prefix=LOST
 * RUN: %hearth record -q --follow-children -o %t.own/child -- %t child 2>&1 | FileCheck %s --check-prefix=LOST
 * RUN: %hearth record -q -o %t.own/back -- %t back 2>&1 | FileCheck %s --check-prefix=KEPT
 * RUN: %hearth record -q -o %t.own/vfork -- %t vfork 2>&1 | FileCheck %s --check-prefix=KEPT
 * RUN: %hearth record -q -o %t.all/user -- %t user 2>&1 | FileCheck %s --check-prefix=KEPT
 * RUN: %hearth record -q --mode=trace -o %t.own/trace -- %t user 2>&1 | FileCheck %s --check-prefix=KEPT
 * RUN: ls %t.own/back %t.own/vfork %t.own/trace %t.all/user
 * RUN: %hearth record -q -o /dev/null -- %t user 2>&1 | FileCheck %s --check-prefix=KEPT
 *
 * LOST: before
 * LOST-NEXT: after
 * LOST: hearth: cannot write the profile {{.*}}/{{(user|jail|child)}}{{.*}}: {{Permission denied|No such file or directory}}
 * LOST-NOT: cannot write
 *
 * KEPT: before
 * KEPT-NEXT: after
 * KEPT-NOT: {{.}}
 */
#define _GNU_SOURCE
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static void say(const char *text) {
  if (write(2, text, strlen(text)) < 0)
    abort();
}

static int give_up(void) {
  return setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0;
}

static int fork_child(int (*make)(void)) {
  int status = 1;
  int child = make();

  if (child == 0) {
    if (give_up())
      _exit(1);
    if (make == fork)
      exit(0);
    execl("/bin/true", "true", NULL);
    _exit(1);
  }
  waitpid(child, &status, 0);
  return status;
}

int main(int argc, char **argv) {
  int failed = 0;

  free(malloc(100));
  say("before\n");
  switch (argv[argc > 1][0]) {
  case 'j':
    failed = chroot(argv[2]) != 0 || chdir("/") != 0 || give_up();
    break;
  case 'u':
    failed = give_up();
    break;
  case 'b':
    failed = seteuid(NOBODY) != 0 || seteuid(0) != 0 || setresuid(0, NOBODY, 0) != 0 || setresuid(0, 0, 0) != 0;
    break;
  case 'c': {
    int child = fork();
    if (child == 0 && (give_up() || !(argv[0] = malloc(10))))
      _exit(1);
    if (child > 0)
      return waitpid(child, &failed, 0) < 0 || failed;
    break;
  }
  case 'v':
    failed = fork_child(vfork);
    break;
  }
  say("after\n");
  return failed;
}
