/* Ends by the signal of this number: SIGSEGV by a store to nowhere, SIGABRT by abort, others as sent by itself. */
#include <signal.h>
#include <stdlib.h>

static void *volatile kept;
static volatile int *volatile nowhere;

int main(int argc, char **argv) {
  int number = argc > 1 ? atoi(argv[1]) : 0;

  kept = malloc(111);
  if (number == SIGSEGV)
    *nowhere = 1;
  if (number == SIGABRT)
    abort();
  raise(number);
  return 0;
}
