/* Preloaded: sends the process the signal SIGNAL when its output is complete but not in place. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

int rename(const char *from, const char *to) {
  (void)from, (void)to;
  raise(atoi(getenv("SIGNAL")));
  return 0;
}
