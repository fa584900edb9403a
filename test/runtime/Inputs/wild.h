/* Code that uses the frame pointer for something else. */
#include <stdint.h>
#include <stdlib.h>

/* Call malloc with any value in the frame pointer. */
__attribute__((noinline)) static void wild(uintptr_t frame_pointer) {
  void *block;

  __asm__ volatile("push %%rbp\n\t"
                   "mov %%rsp, %%r12\n\t"
                   "and $-16, %%rsp\n\t"
                   "mov %1, %%rbp\n\t"
                   "mov $1005, %%edi\n\t"
                   "call malloc\n\t"
                   "mov %%r12, %%rsp\n\t"
                   "pop %%rbp"
                   : "=&a"(block)
                   : "r"(frame_pointer)
                   : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
  free(block);
}
