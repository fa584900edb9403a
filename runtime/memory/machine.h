/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The needs of the runtime and of the allocator from processor and kernel: a port must supply all of them.
 *
 * Of the processor, in a header (machine_*.h) of its own and a section of kernel.h. Nothing else names a processor,
 * but for stacks/, where the rules of call frame information are those of x86-64.
 *
 *   hearth_os_thread_pointer()    differs for each thread; early. The thread's part of its stack lies below it
 *   hearth_os_ticks()             a counter that goes on evenly on all processors; only if hearth_os_has_ticks() (os.h)
 *   hearth_os_pause()             for loops that wait for another thread
 *   hearth_os_call(N, 6 arguments) a system call; its result, below 0 a negated error number
 *   hearth_code_address(address)  a return address as it was stored, without what protects it
 *   hearth_frame_callers_part(frame, caller)
 *                                 where the part of the stack begins that belongs to the caller of the function with this
 *                                 frame, as far as the frame's two words tell
 *   HEARTH_ROOT_OF_CALLED         what that is, or is below, for the functions that the present one calls
 *   HEARTH_ROOT_OF_THIS           ... and for those that its caller calls
 *
 * Text of assembly, for entry points:
 *   HEARTH_CHOOSE_AND_JUMP(CHOOSE, FIRST)  calls CHOOSE, keeps the arguments, and jumps to the function that this returned,
 *                                 with the address of FIRST for the first argument */
#ifndef HEARTH_RUNTIME_MACHINE_H
#define HEARTH_RUNTIME_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#include "machine_x86_64.h"
#elif defined(__aarch64__)
#include "machine_aarch64.h"
#else
#error "this processor is not supported"
#endif

/* Of the kernel (machine_linux.c): whole pages, for both heaps. Nothing here allocates, takes a lock or changes errno,
 * and all of it works before the C library and the program's own relocations are ready: malloc is called that early by
 * some dynamic loaders and IFUNC resolvers.
 *
 * System calls are made directly: a program may replace mmap and its like by functions that allocate. The allocator
 * makes only those that the C library's malloc makes, so that seccomp filters that let it pass let the allocator
 * pass, too. */

#define HEARTH_PAGE_BYTES         ((size_t)4096)
#define HEARTH_WHOLE_PAGES(bytes) (((bytes) + HEARTH_PAGE_BYTES - 1) & ~(HEARTH_PAGE_BYTES - 1))

#pragma GCC visibility push(hidden)

/* Sizes in bytes; addresses and sizes are multiples of HEARTH_PAGE_BYTES. */

/* Address space without access, aligned to a power of two of at least a page. NULL: there is none. */
void *hearth_system_reserve(size_t bytes, size_t alignment);
/* Readable and writable from now on; zero. false: the system has no memory. */
bool hearth_system_open(void *start, size_t bytes);
/* Readable memory that may be executed; writable, or no longer. */
bool hearth_system_protect(void *start, size_t bytes, bool executable, bool writable);
/* Back to the system: contents are lost. Discarded pages stay readable and read as zero. */
void hearth_system_discard(void *start, size_t bytes);
void hearth_system_release(void *start, size_t bytes);
/* Asks for huge pages. */
void hearth_system_make_huge(void *start, size_t bytes);
/* Moves pages to another open place; the old place stays open and reads as zero. false: nothing was moved. */
bool hearth_system_move(void *from, void *to, size_t bytes);

/* A number that another process cannot guess. */
uintptr_t hearth_system_random(void);

/* Zeroed memory; pages are taken when they are touched, so a generous size costs address space only. NULL: none. */
void *hearth_system_map(size_t bytes);
/* The same for a sparse table of any size, also of parts of a page: not in core files, and on small pages. */
void *hearth_system_map_sparse(size_t bytes);
/* The same at this address. NULL: something is there. */
void *hearth_system_map_at(void *start, size_t bytes);
/* What one of these has given. */
void hearth_system_unmap(void *start, size_t bytes);
/* The first range of hearth_system_map, of a MiB or more, that ends behind `at`; without one, nothing is set. */
void hearth_system_next_table(uintptr_t at, uintptr_t *ret_start, uintptr_t *ret_end);
/* Locks all memory, as mlockall does, but each page when it is used. Returns 0 or a negated error number. */
#define HEARTH_SYSTEM_LOCK_ON_FAULT 4 /* MCL_ONFAULT */
int hearth_system_lock_all(int flags);
/* Locks pages and has them in memory, as far as that is possible. */
void hearth_system_lock_pages(void *start, size_t bytes);
/* No huge pages there. */
void hearth_system_keep_small(void *start, size_t bytes);
/* Clears the accessed bits of the range's pages, as far as it is mapped. false: the system refuses. */
bool hearth_system_forget_accesses(void *start, size_t bytes);
/* Has whole pages that are about to be written to at once, if the system can do so: that takes less than a fault for
 * each. */
void hearth_system_populate(void *start, size_t bytes);
/* Has whole pages read as zeros in forked children. false: the system cannot. */
bool hearth_system_wipe_on_fork(void *start, size_t bytes);

#pragma GCC visibility pop

/* The whole pages of [begin, end). false: they have less than `least` bytes, which is at least one page's. */
static inline bool hearth_pages_within(void *begin, void *end, size_t least, char **ret_first, char **ret_end) {
  *ret_first = (char *)HEARTH_WHOLE_PAGES((uintptr_t)begin);
  *ret_end = (char *)((uintptr_t)end & ~(HEARTH_PAGE_BYTES - 1));
  return *ret_end >= *ret_first + least;
}

#endif
