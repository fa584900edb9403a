/* Messages go to standard error as the program was started with it: also if it closed that, and never to a file of the
 * program's that has its number since.
 *
 * RUN: %clang -O1 -fno-builtin -I%include %s %hotcold_a -o %t && rm -f %t.file
 * RUN: (%t %t.file 2> %t.errors; test $? = 134) && FileCheck %s < %t.errors && count 0 < %t.file
 * RUN: rm -f %t.file && (%t %t.file child 2> %t.errors; test $? = 134) && FileCheck %s < %t.errors && count 0 < %t.file
 * A child keeps no pipe open, of which somebody waits for the end.
 * RUN: rm -f %t.file && (%t %t.file child 2>&1 >/dev/null || true) | count 0 && count 0 < %t.file
 *
 * CHECK: hearth hotcold: a pointer is not the start of a live block
 */
#include <fcntl.h>
#include <hearth/hotcold.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void end_badly(const char *path) {
  char *block = malloc_hot_cold(100, 0);
  close(2);
  if (open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) != 2)
    _exit(1);
  free(block + 16);
}

int main(int argc, char **argv) {
  int status = 0;
  free(malloc_hot_cold(100, 0));
  if (argc < 3 || fork() == 0)
    end_badly(argv[1]);
  wait(&status);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 0;
}
