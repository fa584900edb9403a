/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operator new when malloc has no memory, which is the part that needs C++. */
#ifndef HEARTH_MALLOC_NEW_RETRY_H
#define HEARTH_MALLOC_NEW_RETRY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

/* operator_new.c: a block, or NULL. */
void *hearth_new_try(size_t bytes, size_t alignment, unsigned placement);

/* Asks the program's new handler for memory as long as there is one. The first throws std::bad_alloc in the end, the second
 * returns NULL, also if the handler throws. */
void *hearth_new_or_throw(size_t bytes, size_t alignment, unsigned placement);
void *hearth_new_or_null(size_t bytes, size_t alignment, unsigned placement);

/* What a form of operator new returns, or NULL if it throws. */
void *hearth_new_by(void *(*operator_new)(size_t bytes), size_t bytes);
void *hearth_new_aligned_by(void *(*operator_new)(size_t bytes, size_t alignment), size_t bytes, size_t alignment);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
