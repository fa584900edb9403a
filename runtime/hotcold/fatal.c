#include "fatal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

void hearth_hotcold_warn(const char *what, const char *detail) {
  static const char prefix[] = "hearth hotcold: ";
  int saved_errno = errno;
  struct iovec parts[] = {{(char *)prefix, sizeof prefix - 1},
                          {(char *)what, strlen(what)},
                          {(char *)detail, strlen(detail)},
                          {(char *)"\n", 1}};
  /* Nobody is left to tell when standard error cannot be written. */
  ssize_t written = writev(STDERR_FILENO, parts, sizeof parts / sizeof *parts);
  (void)written;
  errno = saved_errno;
}

_Noreturn void hearth_hotcold_fatal(const char *what, const char *detail) {
  hearth_hotcold_warn(what, detail);
  abort();
}
