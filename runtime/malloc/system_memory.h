/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the heap asks of the system: whole pages. A port supplies these.
 *
 * System calls are made directly: a program may replace mmap and its like by functions that allocate. Only those that the C
 * library's malloc makes, so that seccomp filters that let it pass let this pass, too. errno is kept by all. */
#ifndef HEARTH_MALLOC_SYSTEM_MEMORY_H
#define HEARTH_MALLOC_SYSTEM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEARTH_PAGE_BYTES = 4096 };

#pragma GCC visibility push(hidden)

/* Address space without access, aligned to a power of two of at least a page. NULL: there is none. */
void *hearth_system_reserve(size_t bytes, size_t alignment);
/* Readable and writable from now on. false: the system has no memory. */
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

#pragma GCC visibility pop

#endif
