/* The end of a program whose profile is to be that of a forked child: it runs `touch`, the parent prints its number. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int touch_in_child(void (*touch)(void)) {
  pid_t child = fork();
  if (child == 0) {
    touch();
    return 0;
  }
  printf("%d\n", child);
  return waitpid(child, NULL, 0) != child;
}
