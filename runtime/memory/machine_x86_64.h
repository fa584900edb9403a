/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* machine.h for x86-64. */
#ifndef HEARTH_RUNTIME_MACHINE_X86_64_H
#define HEARTH_RUNTIME_MACHINE_X86_64_H

static inline uintptr_t hearth_os_thread_pointer(void) {
  uintptr_t self;

  __asm__("mov %%fs:0, %0" : "=r"(self));
  return self;
}

static inline uint64_t hearth_os_ticks(void) { return __builtin_ia32_rdtsc(); }

static inline void hearth_os_pause(void) { __builtin_ia32_pause(); }

static inline long hearth_os_call(long number, long a, long b, long c, long d, long e, long f) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  long result;

  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static inline uintptr_t hearth_code_address(uintptr_t address) { return address; }

/* The frame pointer is stored last, just below the return address. */
static inline uintptr_t hearth_frame_callers_part(uintptr_t frame, uintptr_t caller) {
  (void)caller;
  return frame + 2 * sizeof caller;
}

/* The value of rsp in the call. */
#define HEARTH_ROOT_OF_CALLED                                                                                          \
  __extension__({                                                                                                      \
    uintptr_t stack_pointer;                                                                                           \
    __asm__ volatile("mov %%rsp, %0" : "=r"(stack_pointer));                                                           \
    stack_pointer;                                                                                                     \
  })
#define HEARTH_ROOT_OF_THIS ((uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t))

/* In front of the entry point's own work. The result is in rax; the stack is as at the start of a function. */
#define HEARTH_CALL_KEEPING_ARGUMENTS(FUNCTION)                                                                        \
  "push %rdi\n"                                                                                                        \
  "push %rsi\n"                                                                                                        \
  "push %rdx\n"                                                                                                        \
  "push %rcx\n"                                                                                                        \
  "push %r8\n"                                                                                                         \
  "push %r9\n"                                                                                                         \
  "sub $8, %rsp\n"                                                                                                     \
  ".cfi_adjust_cfa_offset 56\n"                                                                                        \
  "call " FUNCTION "\n"                                                                                                \
  "add $8, %rsp\n"                                                                                                     \
  "pop %r9\n"                                                                                                          \
  "pop %r8\n"                                                                                                          \
  "pop %rcx\n"                                                                                                         \
  "pop %rdx\n"                                                                                                         \
  "pop %rsi\n"                                                                                                         \
  "pop %rdi\n"                                                                                                         \
  ".cfi_adjust_cfa_offset -56\n"

#define HEARTH_CHOOSE_AND_JUMP(CHOOSE, FIRST)                                                                          \
  HEARTH_CALL_KEEPING_ARGUMENTS(CHOOSE)                                                                                \
  "lea " FIRST "(%rip), %rdi\n"                                                                                        \
  "jmp *%rax\n"

#endif
