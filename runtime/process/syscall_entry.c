/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* syscall(): programs use it to end, or to have another program take their place, without the functions that are named
 * after that. It does the same as the C library's in all else. It is in assembly, like the C library's: nothing lies on
 * the stack when the kernel is entered, so a call that makes a child in the same memory works the same as without the
 * runtime. */
#include "dump.h"
#include "os.h"
#include "process.h"
#include "running_profile.h"

#include <errno.h>
#include <sys/syscall.h>

HEARTH_EXPORT long syscall(long number, ...);

/* The assembly below calls this, with the first three arguments of the system call. */
void hearth_before_syscall(long number, long first, long second) __attribute__((visibility("hidden"), used));
long hearth_syscall_failed(long result) __attribute__((visibility("hidden"), used));

void hearth_before_syscall(long number, long first, long second) {
  if (number == SYS_execve)
    hearth_leave_for((const char *)first);
  else if (number == SYS_execveat)
    hearth_leave_for((const char *)second);
  else
    hearth_dump_at_end();
}

long hearth_syscall_failed(long result) {
  errno = (int)-result;
  return -1;
}

__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall,%function\n"
        "syscall:\n"
        ".cfi_startproc\n" HEARTH_SYSCALL_ENTRY("hearth_before_syscall",
                                                "hearth_syscall_failed") ".cfi_endproc\n"
                                                                         ".size syscall, .-syscall\n"
                                                                         ".popsection");
