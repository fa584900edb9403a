/* Runs another program in a child, as gcc's driver does. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  free(malloc(100));
  if (vfork() == 0) {
    execlp("echo", "echo", "in the child", (char *)NULL);
    _exit(1);
  }
  return wait(NULL) < 0;
}
