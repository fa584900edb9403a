/* Messages go to standard error, and to a log in its place, but never to a file of the program's that has its number.
 *
 * RUN: %clang -O1 -fno-builtin -I%include %s %malloc_a -o %t && rm -f %t.file
 * RUN: (%t %t.file 2> %t.errors; test $? = 134) && count 0 < %t.errors && count 0 < %t.file
 * RUN: (%t %t.file log 2> %t.errors; test $? = 134) && count 0 < %t.errors && FileCheck %s < %t.file
 * RUN: (%t 2> %t.errors; test $? = 134) && FileCheck %s < %t.errors
 * No descriptor is kept: whoever reads from a pipe that the program has closed comes to its end.
 * RUN: sh -c '%t close & echo $! > %t.pid' 2>&1 >/dev/null | count 0 && kill $(cat %t.pid)
 *
 * CHECK: hearth malloc: free or realloc of a pointer that is no block's
 */
#include <fcntl.h>
#include <hearth/malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The program's file, or its log, becomes descriptor 2. */
static void replace_standard_error(const char *path, int flags) {
  close(2);
  if (open(path, O_WRONLY | O_CREAT | O_TRUNC | flags, 0666) != 2)
    _exit(1);
}

int main(int argc, char **argv) {
  char *block = malloc_hot_cold(100, 0);
  if (argc > 1 && strcmp(argv[1], "close") == 0) {
    close(2);
    alarm(600); /* one that kept it ends, too, and is not there to be killed */
    pause();
  }
  if (argc > 1)
    replace_standard_error(argv[1], argc > 2 ? O_APPEND : 0);
  free(block + 16);
  return 0;
}
