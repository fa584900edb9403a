/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For entry points in assembly, x86-64: a call in front of the entry point's own work. It keeps the entry point's six
 * arguments, and leaves its result in rax. The stack is as at the start of a function. */
#ifndef HEARTH_RUNTIME_CALL_KEEPING_ARGUMENTS_H
#define HEARTH_RUNTIME_CALL_KEEPING_ARGUMENTS_H

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

#endif
