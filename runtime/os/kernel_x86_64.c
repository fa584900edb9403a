/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Linux on x86-64. */
#include "kernel.h"

#include <cpuid.h>
#include <sys/syscall.h>

/* Debuggers and unwinders know the end of a signal handler by these very instructions. */
__asm__(".pushsection .text\n"
        ".type hearth_os_return_from_handler,@function\n"
        "nop\n" /* unwinders look up the address before the one that is returned to */
        "hearth_os_return_from_handler:\n"
        "mov $15, %rax\n" /* SYS_rt_sigreturn */
        "syscall\n"
        ".size hearth_os_return_from_handler, .-hearth_os_return_from_handler\n"
        ".popsection");
extern void hearth_os_return_from_handler(void) __attribute__((visibility("hidden")));

void hearth_kernel_add_restorer(hearth_kernel_action *action) {
  action->flags |= HEARTH_SA_RESTORER;
  action->restorer = hearth_os_return_from_handler;
}

/* The system call returns twice: in the new thread on `stack`, where it has nothing to return to. */
long hearth_kernel_begin_thread(unsigned long flags, void *stack, void *thread_pointer, int (*run)(void)) {
  register void *r10 __asm__("r10") = NULL;
  register void *r8 __asm__("r8") = thread_pointer;
  register int (*r9)(void) __asm__("r9") = run;
  long result;

  __asm__ volatile("syscall\n"
                   "test %%rax, %%rax\n"
                   "jnz 1f\n"
                   "xor %%ebp, %%ebp\n"
                   "call *%%r9\n"
                   "mov %%eax, %%edi\n"
                   "mov $60, %%eax\n" /* SYS_exit */
                   "syscall\n"
                   "1:\n"
                   : "=a"(result)
                   : "a"(SYS_clone), "D"(flags), "S"(stack), "d"(0), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

bool hearth_os_has_ticks(void) {
  unsigned a, b, c, d;

  return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1; /* invariant TSC: Intel SDM, volume 3, 18.17.1 */
}

unsigned hearth_os_address_bits(void) { return 47; } /* larger addresses are given only to programs that ask for them */
