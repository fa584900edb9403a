/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Where Linux differs from processor to processor, for os_linux.c: a port adds a section. */
#ifndef HEARTH_RUNTIME_KERNEL_H
#define HEARTH_RUNTIME_KERNEL_H

#include "os.h"

#include <sys/auxv.h>
#include <sys/syscall.h>

#define HEARTH_SA_RESTORER 0x04000000ul /* not in the C library's headers */

/* Of rt_sigaction. */
typedef struct hearth_kernel_action {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)(void); /* where handlers return to, if flags have HEARTH_SA_RESTORER */
  uint64_t mask;
} hearth_kernel_action;

/* Each section defines
 *
 *   hearth_kernel_add_restorer   add a restorer, if the kernel has none of its own
 *   hearth_kernel_begin_thread   begin a thread: `run` on `stack`, with flags of clone. The thread ends with what it
 *                                returns. Returns the thread's number, or a negated error number. The system call
 *                                returns twice: in the new thread on `stack`, where it has nothing to return to
 *   hearth_os_has_ticks, hearth_os_address_bits   os.h */

#if defined(__x86_64__)
#include <cpuid.h>

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

static void hearth_kernel_add_restorer(hearth_kernel_action *action) {
  action->flags |= HEARTH_SA_RESTORER;
  action->restorer = hearth_os_return_from_handler;
}

static long hearth_kernel_begin_thread(unsigned long flags, void *stack, void *thread_pointer, int (*run)(void)) {
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

#elif defined(__aarch64__)

/* Handlers return to the kernel's own page. */
static void hearth_kernel_add_restorer(hearth_kernel_action *action) { (void)action; }

static long hearth_kernel_begin_thread(unsigned long flags, void *stack, void *thread_pointer, int (*run)(void)) {
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

#else
#error "this processor is not supported"
#endif

#endif
