/* A handler of SIGABRT that allocates, as crash reporters do, gets memory after misuse of blocks of each size.
 *
 * RUN: %clang -O1 -fno-builtin %s -o %t
 * RUN: env LD_PRELOAD=%malloc %t 2>&1 | FileCheck %s
 *
 * CHECK: 3 reports
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void report(int signal) {
  (void)signal;
  for (size_t bytes = 10; bytes < 10000000; bytes *= 10) {
    char *text = malloc(bytes);
    memset(text, 1, bytes);
    free(text);
  }
  _exit(7);
}

int main(void) {
  static const size_t sizes[] = {100, 5000, 500000};
  int reports = 0, status;
  for (int i = 0; i < 3; i++) {
    pid_t child = fork();
    if (!child) {
      signal(SIGABRT, report);
      alarm(600); /* a handler that waits for a lock for ever */
      void *volatile block = malloc(sizes[i]), *volatile neighbour = malloc(sizes[i]); /* keeps the place mapped */
      (void)neighbour;
      free(block);
      free(block);
      _exit(0);
    }
    waitpid(child, &status, 0);
    reports += WIFEXITED(status) && WEXITSTATUS(status) == 7;
  }
  printf("%d reports\n", reports);
}
