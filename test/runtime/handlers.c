/* The runtime's signal handlers are invisible to the program, and signal functions are as in the C library.
 *
 * RUN: %clang -O1 -Wno-deprecated-declarations %s -o %t.plain && %t.plain > %t.expected
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t && rm -f %t.prof*
 * RUN: HEARTH_OPTIONS=log_path=%t.prof %t > %t.out && diff %t.expected %t.out && grep -q handled %t.out
 * RUN: %S/Inputs/profiled.sh %clang %rt %s %t -static && HEARTH_OPTIONS=log_path=%t.prof %t > %t.out && diff %t.expected %t.out
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static void handler(int signal_number) { printf("handled %d\n", signal_number); }

static const char *name(sighandler_t what) {
  return what == SIG_DFL ? "default" : what == SIG_IGN ? "ignore" : what == SIG_ERR ? "error" : "a handler";
}

static void show(int signal_number) {
  struct sigaction action;
  int result = sigaction(signal_number, NULL, &action);

  if (result)
    printf("%d: %s\n", signal_number, strerror(errno));
  else if (action.sa_handler == SIG_DFL) /* flags and mask mean nothing then */
    printf("%d: default\n", signal_number);
  else
    printf("%d: %s, flags %x, blocks TERM %d\n", signal_number, name(action.sa_handler),
           (unsigned)action.sa_flags & ~0x4000000u, sigismember(&action.sa_mask, SIGTERM));
}

int main(void) {
  static const int tried[] = {SIGTERM, SIGSEGV, SIGABRT, SIGCHLD, SIGUSR1, SIGKILL, 32, 61, 65, 0};
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_NODEFER};

  sigaddset(&action.sa_mask, SIGTERM);
  for (size_t i = 0; i < sizeof tried / sizeof tried[0]; ++i) {
    int number = tried[i];
    show(number);
    printf("%s\n", name(signal(number, handler)));
    show(number);
    if (signal(number, handler) != SIG_ERR && number != SIGKILL)
      raise(number);
    sigaction(number, &action, NULL);
    show(number);
    printf("%s\n", name(signal(number, SIG_IGN)));
    printf("%s\n", name(signal(number, SIG_DFL)));
    show(number);
    printf("%s\n", name(sysv_signal(number, handler)));
    show(number);
    printf("%d\n", siginterrupt(number, 1));
    printf("%s\n", name(signal(number, handler)));
    show(number);
    printf("%d\n", siginterrupt(number, 0));
    show(number);
    printf("%s\n", name(signal(number, SIG_DFL)));
  }
  return 0;
}
