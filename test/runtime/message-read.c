/* Messages may be read by a thread of the program, which allocates before it reads: no dump waits for it with all threads
 * stopped.
 *
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof.*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof:verbosity=1:dump_at_exit=0 timeout -s KILL 600 %t | FileCheck %s
 *
 * CHECK: hearth: profile written to
 */
#include "hearth/rt.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *read_messages(void *file) {
  static char buffer[1 << 20];
  size_t used = 0;

  while (!strstr(buffer, "written")) {
    usleep(50000); /* the message waits for room by now */
    free(malloc(10));
    ssize_t size = read(*(int *)file, buffer + used, sizeof buffer - 1 - used);
    if (size <= 0)
      exit(1);
    used += (size_t)size;
  }
  printf("%s", strstr(buffer, "hearth: "));
  return NULL;
}

/* Begin anew, with a pipe that has no room left as standard error, and its other end as standard input. */
static void fill_stderr(char *self) {
  int ends[2];

  if (pipe(ends) != 0 || dup2(ends[1], 2) != 2 || dup2(ends[0], 0) != 0)
    exit(1);
  int flags = fcntl(2, F_GETFL);
  fcntl(2, F_SETFL, flags | O_NONBLOCK);
  while (write(2, ".", 1) == 1)
    ;
  fcntl(2, F_SETFL, flags);
  execl(self, self, "filled", (char *)NULL);
  exit(1);
}

int main(int argc, char **argv) {
  pthread_t reader;
  int file = 0;

  if (argc < 2)
    fill_stderr(argv[0]);

  if (pthread_create(&reader, NULL, read_messages, &file) != 0)
    return 1;
  int result = __memprof_profile_dump();
  pthread_join(reader, NULL);
  return result;
}
