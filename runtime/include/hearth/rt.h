/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiling runtime: functions that a profiled program may call. All of it is optional: linking libhearth_rt.a is
 * enough to get a profile when the program exits. The names are those of LLVM's MemProf interface, so that either
 * runtime can be linked; declare the functions weak to link with neither.
 *
 * Every function may be called from any thread. In a signal handler, call only the first, and only if you must. */
#ifndef HEARTH_RT_H
#define HEARTH_RT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Write the complete profile so far: all blocks freed since the start (or the last reset) and, with their lifetimes up
 * to now, all blocks that are live. The file (option log_path, with patterns and process id) is replaced as a whole; if
 * writing fails, the previous file stays. The records do not change: two dumps never count a block twice. Returns 0, or
 * 1 after a message on stderr. */
int __memprof_profile_dump(void);

/* Forget the blocks freed so far, files of parts included. Live blocks stay live and are recorded when they
 * are freed. */
void __memprof_profile_reset(void);

/* Count one access to the granule (16 bytes) of `address`, as an instrumented load or store does. */
void __memprof_record_access(const volatile void *address);

/* Count one access for each 8 bytes of [address, address + size), the last ones possibly fewer; size in bytes. */
void __memprof_record_access_range(const volatile void *address, unsigned long size);

/* May be defined by the program: options as in the environment variable HEARTH_OPTIONS ("key=value:key=value"), which
 * wins over it. Called once, before constructors run; blocks allocated in it are not profiled. The string is copied. */
const char *__memprof_default_options(void);

#ifdef __cplusplus
}
#endif

/* The calls of context.h and allocator.h into a runtime that may be absent. */

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
