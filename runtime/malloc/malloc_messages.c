/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Messages are put together on the stack and written by one system call. No descriptor is kept for them, as a profiled
 * program does: daemons close theirs so that nobody waits for the end of a pipe. */
#define _GNU_SOURCE
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct stat at_start; /* st_nlink 0: there was no standard error */

/* Before code of the program can close or replace it. */
__attribute__((constructor(101))) static void look_at_standard_error(void) {
  if (fstat(STDERR_FILENO, &at_start))
    at_start.st_nlink = 0;
}

static bool is_same(const struct stat *a, const struct stat *b) {
  return a->st_nlink && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_for_messages(void) {
  struct stat now, output;
  if (fstat(STDERR_FILENO, &now))
    return false;
  return is_same(&at_start, &now) || (fstat(STDOUT_FILENO, &output) == 0 && is_same(&output, &now)) ||
         (S_ISREG(now.st_mode) && fcntl(STDERR_FILENO, F_GETFL) & O_APPEND);
}

/* Where nobody reads a pipe, or a file may not become larger, the system sends a signal that would end the program.
 * It is taken back. Nobody is left to tell when standard error cannot be written. */
static void write_to_standard_error(const struct iovec *parts, int count) {
  sigset_t sent, blocked, pending;
  const struct timespec at_once = {0};
  sigemptyset(&sent);
  sigaddset(&sent, SIGPIPE);
  sigaddset(&sent, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &sent, &blocked);
  sigpending(&pending);
  if (writev(STDERR_FILENO, parts, count) < 0 && !sigismember(&pending, errno == EPIPE ? SIGPIPE : SIGXFSZ))
    sigtimedwait(&sent, NULL, &at_once);
  pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void hearth_malloc_warn(const char *what, const char *detail) {
  static const char prefix[] = "hearth malloc: ";
  int saved_errno = errno;
  struct iovec parts[] = {{(char *)prefix, sizeof prefix - 1},
                          {(char *)what, strlen(what)},
                          {(char *)detail, strlen(detail)},
                          {(char *)"\n", 1}};
  if (is_for_messages())
    write_to_standard_error(parts, sizeof parts / sizeof *parts);
  errno = saved_errno;
}

_Noreturn void hearth_fatal(const char *what, const void *address) {
  char digits[2 + 16 + 1] = "0x";
  for (int i = 0; i < 16; i++)
    digits[2 + i] = "0123456789abcdef"[(uintptr_t)address >> (60 - 4 * i) & 15];
  hearth_malloc_warn(what, digits);
  abort();
}
