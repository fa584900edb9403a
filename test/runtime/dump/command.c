/* A profile has the peak of the program's blocks, its threads' too; its command line only if it was told to have one.
 *
 * RUN: %S/../Inputs/profiled.sh %clang %rt %s %t
 * RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
 * RUN: HEARTH_OPTIONS=log_path=plain %t secret && %hearth index -q plain.[0-9]* -o plain.prof
 * RUN: not grep -a secret plain.* && %hearth show plain.prof | FileCheck %s
 * RUN: HEARTH_OPTIONS=log_path=on:command=on %t 'told of' && %hearth index -q on.[0-9]* -o on.prof
 * RUN: %hearth show on.prof | FileCheck %s --check-prefixes=CHECK,ON
 *
 * CHECK: peak 1.0 MiB live
 * ON: command {{.*}}command.c.tmp told of
 *
 * A child's peak is its own: its parent's blocks do not count.
 * RUN: not --crash env HEARTH_OPTIONS=log_path=child %t fork child && %hearth index -q child.* -o child.prof
 * RUN: %hearth show --text child.prof | grep '^facts peak=5000 '
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  (void)argv;
  for (int i = 0; i < 10000; i++) /* short-lived ones are no peak, however many */
    free(malloc(1000));
  for (int i = 0; i < 10; i++) {
    char *volatile block = malloc(1 << 20);
    memset(block, 1, 1 << 20);
    if (argc > 2 && i == 0 && fork() == 0) {
      free(malloc(5000));
      free(block);
      return 0;
    }
    free(block);
  }
  if (argc > 2 && wait(NULL) > 0)
    raise(SIGKILL); /* and its profile is not there */
  return 0;
}
