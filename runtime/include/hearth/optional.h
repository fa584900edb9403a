/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The calls of context.h and allocator.h into a runtime that may be absent. */
#ifndef HEARTH_OPTIONAL_H
#define HEARTH_OPTIONAL_H

/* Set the pointer `to` to the function `symbol`, or NULL if neither a library that is linked nor a preloaded one has
 * it. A weak declaration is not enough: in code that is not position-independent, linkers settle its address for good,
 * and a preloaded library comes too late. An address in the global offset table stays open until the program starts. */
#if defined(__x86_64__)
#define HEARTH_FIND_OPTIONAL(to, symbol) __asm__(".weak " #symbol "\n\tmovq " #symbol "@GOTPCREL(%%rip), %0" : "=r"(to))
#elif defined(__aarch64__)
#define HEARTH_FIND_OPTIONAL(to, symbol)                                                                               \
  __asm__(".weak " #symbol "\n\tadrp %0, :got:" #symbol "\n\tldr %0, [%0, :got_lo12:" #symbol "]" : "=r"(to))
#else /* there is no runtime */
#define HEARTH_FIND_OPTIONAL(to, symbol) ((to) = 0)
#endif

#endif
