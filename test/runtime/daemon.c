/* Becoming a daemon by two forks and a new session, with all descriptors closed, as servers do: the last process writes its
 * profile when it is asked to end, at the place where the first was started; of the two before, the first writes what it
 * allocated and the second, which allocated nothing, writes none.
 *
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t && rm -rf %t.dir && mkdir %t.dir
 * RUN: cd %t.dir && HEARTH_OPTIONS=log_path=prof:dump_interval=0.01 %t > pids
 * RUN: test $(ls %t.dir | grep -c '^prof') = 2
 * RUN: python3 %S/Inputs/raw_print.py %t.dir/prof.$(sed -n 's/first //p' %t.dir/pids) MaxSize AllocCount LiveAtExit | FileCheck %s --check-prefix=FIRST
 * RUN: python3 %S/Inputs/raw_print.py %t.dir/prof.$(sed -n 's/daemon //p' %t.dir/pids) MaxSize AllocCount LiveAtExit | FileCheck %s --check-prefix=DAEMON
 * FIRST: MaxSize=111 AllocCount=1 LiveAtExit=1
 * FIRST-NOT: MaxSize=222
 * DAEMON: dropped_blocks=0
 * DAEMON-NOT: MaxSize=111
 * DAEMON: MaxSize=222 AllocCount=5 LiveAtExit=0
 * DAEMON: MaxSize=333 AllocCount=1 LiveAtExit=1
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile kept[2];

static void serve(int ready) {
  const pid_t self = getpid();

  if (chdir("/") != 0)
    _exit(1);
  umask(077);
  for (int fd = 0; fd < 64; ++fd)
    if (fd != ready)
      close(fd);
  open("/dev/null", O_RDWR);
  for (int i = 0; i < 5; ++i)
    free(malloc(222));
  kept[1] = malloc(333);
  if (write(ready, &self, sizeof self) != sizeof self)
    _exit(1);
  for (;;)
    pause();
}

int main(void) {
  int ends[2];
  pid_t server;

  kept[0] = malloc(111);
  if (pipe(ends) != 0)
    return 1;
  pid_t child = fork();
  if (child == 0) {
    setsid();
    if (fork() == 0)
      serve(ends[1]);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  close(ends[1]);
  if (read(ends[0], &server, sizeof server) != sizeof server)
    return 1;
  kill(server, SIGTERM);
  char rest;
  while (read(ends[0], &rest, 1) > 0) /* until the server has ended */
    ;
  printf("first %d\ndaemon %d\n", (int)getpid(), (int)server);
  return 0;
}
