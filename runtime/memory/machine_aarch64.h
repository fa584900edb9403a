/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* machine.h for 64-bit Arm (Procedure Call Standard for the Arm 64-bit Architecture, 2023Q3; Arm ARM, D11 for the
 * counter). */
#ifndef HEARTH_RUNTIME_MACHINE_AARCH64_H
#define HEARTH_RUNTIME_MACHINE_AARCH64_H

static inline uintptr_t hearth_os_thread_pointer(void) {
  uintptr_t self;

  __asm__("mrs %0, tpidr_el0" : "=r"(self));
  return self;
}

static inline uint64_t hearth_os_ticks(void) {
  uint64_t ticks;

  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}

static inline void hearth_os_pause(void) { __asm__ volatile("yield"); }

static inline long hearth_os_call(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;

  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

/* Pointer authentication signs return addresses; xpaclri takes the signature off, and does nothing on older processors. */
static inline uintptr_t hearth_code_address(uintptr_t address) {
  register uintptr_t x30 __asm__("x30") = address;

  __asm__("hint #7" : "+r"(x30));
  return x30;
}

/* The two words may lie anywhere in a function's frame: where the caller's two are is all that they tell. */
static inline uintptr_t hearth_frame_callers_part(uintptr_t frame, uintptr_t caller) {
  (void)frame;
  return caller;
}

#define HEARTH_ROOT_OF_CALLED ((uintptr_t)__builtin_frame_address(0))
#define HEARTH_ROOT_OF_THIS   (*(const uintptr_t *)__builtin_frame_address(0))

/* In front of the entry point's own work. The result is in x16. */
#define HEARTH_CALL_KEEPING_ARGUMENTS(FUNCTION)                                                                        \
  "stp x29, x30, [sp, #-80]!\n"                                                                                        \
  ".cfi_adjust_cfa_offset 80\n"                                                                                        \
  ".cfi_rel_offset x29, 0\n"                                                                                           \
  ".cfi_rel_offset x30, 8\n"                                                                                           \
  "mov x29, sp\n"                                                                                                      \
  "stp x0, x1, [sp, #16]\n"                                                                                            \
  "stp x2, x3, [sp, #32]\n"                                                                                            \
  "stp x4, x5, [sp, #48]\n"                                                                                            \
  "str x6, [sp, #64]\n"                                                                                                \
  "bl " FUNCTION "\n"                                                                                                  \
  "mov x16, x0\n"                                                                                                      \
  "ldp x0, x1, [sp, #16]\n"                                                                                            \
  "ldp x2, x3, [sp, #32]\n"                                                                                            \
  "ldp x4, x5, [sp, #48]\n"                                                                                            \
  "ldr x6, [sp, #64]\n"                                                                                                \
  "ldp x29, x30, [sp], #80\n"                                                                                          \
  ".cfi_adjust_cfa_offset -80\n"                                                                                       \
  ".cfi_restore x29\n"                                                                                                 \
  ".cfi_restore x30\n"

#define HEARTH_CHOOSE_AND_JUMP(CHOOSE, FIRST)                                                                          \
  "hint #34\n" /* bti c: calls may come here */                                                                        \
      HEARTH_CALL_KEEPING_ARGUMENTS(CHOOSE) "adrp x0, " FIRST "\n"                                                     \
                                            "add x0, x0, :lo12:" FIRST "\n"                                            \
                                            "br x16\n"

#endif
