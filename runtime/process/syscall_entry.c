/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* syscall(): programs use it to end, or to have another program take their place, without the functions that are named
 * after that. It does the same as the C library's in all else. It is in assembly, like the C library's: nothing lies on
 * the stack when the kernel is entered, so a call that makes a child in the same memory works the same as without the
 * runtime. */
#include "call_keeping_arguments.h"
#include "dump.h"
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

_Static_assert(SYS_execve == 59 && SYS_exit_group == 231 && SYS_execveat == 322, "as below");

__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall,@function\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "cmp $231, %rdi\n"
        "je 1f\n"
        "cmp $59, %rdi\n"
        "je 1f\n"
        "cmp $322, %rdi\n"
        "je 1f\n"
        "0:\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "mov %rdx, %rsi\n"
        "mov %rcx, %rdx\n"
        "mov %r8, %r10\n"
        "mov %r9, %r8\n"
        "mov 8(%rsp), %r9\n"
        "syscall\n"
        "cmp $-4095, %rax\n"
        "jae 2f\n"
        "ret\n"
        /* The arguments are kept, and the stack is aligned. */
        "1:\n" HEARTH_CALL_KEEPING_ARGUMENTS("hearth_before_syscall") "jmp 0b\n"
                                                                      "2:\n"
                                                                      "mov %rax, %rdi\n"
                                                                      "sub $8, %rsp\n"
                                                                      ".cfi_adjust_cfa_offset 8\n"
                                                                      "call hearth_syscall_failed\n"
                                                                      "add $8, %rsp\n"
                                                                      ".cfi_adjust_cfa_offset -8\n"
                                                                      "ret\n"
                                                                      ".cfi_endproc\n"
                                                                      ".size syscall, .-syscall\n"
                                                                      ".popsection");
