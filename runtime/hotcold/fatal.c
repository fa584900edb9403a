#include "fatal.h"

#include "../message_file.h"
#include "../own_writes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* Before code of the program can close or replace it. */
__attribute__((constructor(101))) static void start(void) { hearth_message_file_begin(); }

void hearth_hotcold_warn(const char *what, const char *detail) {
  static const char prefix[] = "hearth hotcold: ";
  int saved_errno = errno;
  struct iovec parts[] = {{(char *)prefix, sizeof prefix - 1},
                          {(char *)what, strlen(what)},
                          {(char *)detail, strlen(detail)},
                          {(char *)"\n", 1}};
  hearth_own_writes before = hearth_own_writes_begin(0);
  /* Nobody is left to tell when standard error cannot be written. */
  ssize_t written = writev(hearth_message_file(), parts, sizeof parts / sizeof *parts);
  (void)written;
  hearth_own_writes_end(before);
  errno = saved_errno;
}

_Noreturn void hearth_hotcold_fatal(const char *what, const char *detail) {
  hearth_hotcold_warn(what, detail);
  abort();
}
