/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Linux on 64-bit Arm. */
#include "kernel.h"

#include <sys/auxv.h>
#include <sys/syscall.h>

/* Handlers return to the kernel's own page. */
void hearth_kernel_add_restorer(hearth_kernel_action *action) { (void)action; }

/* The system call returns twice: in the new thread on `stack`, where it has nothing to return to. */
long hearth_kernel_begin_thread(unsigned long flags, void *stack, void *thread_pointer, int (*run)(void)) {
  register long x8 __asm__("x8") = SYS_clone;
  register long x0 __asm__("x0") = (long)flags;
  register void *x1 __asm__("x1") = stack;
  register void *x2 __asm__("x2") = NULL;
  register void *x3 __asm__("x3") = thread_pointer;
  register void *x4 __asm__("x4") = NULL;
  register int (*x5)(void) __asm__("x5") = run;

  __asm__ volatile("svc #0\n"
                   "cbnz x0, 1f\n"
                   "mov x29, xzr\n"
                   "mov x30, xzr\n"
                   "blr x5\n"
                   "mov x8, #93\n" /* SYS_exit */
                   "svc #0\n"
                   "1:\n"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

/* The architecture has the counter go on evenly. */
bool hearth_os_has_ticks(void) { return true; }

/* Kernels are built for 36 to 52 bits. What the kernel hands to a program lies at the top of its addresses, and
 * those above 48 bits are given only to programs that ask for them. */
unsigned hearth_os_address_bits(void) {
  uint64_t top = getauxval(AT_RANDOM);

  return top ? 64 - (unsigned)__builtin_clzll(top) : 48;
}
