/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ends without exit(): functions that leave the program at once. exit() itself ends in init.c. */
#define _DEFAULT_SOURCE /* daemon */
#include "dump.h"
#include "os.h"
#include "running_profile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

HEARTH_EXPORT _Noreturn void _exit(int status);
HEARTH_EXPORT _Noreturn void _Exit(int status);
HEARTH_EXPORT int daemon(int keep_directory, int keep_streams);
HEARTH_EXPORT __attribute__((weak)) _Noreturn void abort(void);

static _Noreturn void leave_program(int status) {
  hearth_dump_at_end();
  hearth_os_exit(status);
}

void _exit(int status) { leave_program(status); }

void _Exit(int status) { leave_program(status); }

/* SIGABRT may be ignored, or its handler jump out. Weak, because a static C library has something else that it needs in
 * the object that defines this; there, the handler of SIGABRT does. */
void abort(void) {
  hearth_dump_at_end();
  hearth_os_abort();
}

/* The C library's ends the parent without calling _exit by its name. */
int daemon(int keep_directory, int keep_streams) {
  pid_t child = fork();

  if (child > 0)
    leave_program(0);
  if (child < 0 || setsid() < 0 || (!keep_directory && chdir("/") < 0))
    return -1;
  if (keep_streams)
    return 0;
  int null = open("/dev/null", O_RDWR);
  if (null < 0)
    return -1;
  for (int stream = 0; stream <= 2; ++stream)
    dup2(null, stream);
  if (null > 2)
    close(null);
  return 0;
}

/* quick_exit() runs these last of all, then leaves by a call within the C library. */
__attribute__((constructor)) static void watch_quick_exit(void) { at_quick_exit(hearth_dump_at_end); }
