/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* operator new when there is no memory, which is the part that needs C++. */
#ifndef HEARTH_NEW_RETRY_H
#define HEARTH_NEW_RETRY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

typedef struct hearth_new_heap {
  void *(*allocate)(const void *request); /* a block, or NULL */
  void (*fail)(size_t bytes);             /* ends the program: it has no std::bad_alloc */
} hearth_new_heap;

/* Asks the program's new handler for memory as long as there is one. The first throws std::bad_alloc in the end, the
 * second returns NULL, also if the handler throws. */
void *hearth_new_or_throw(const hearth_new_heap *heap, const void *request, size_t bytes);
void *hearth_new_or_null(const hearth_new_heap *heap, const void *request);

/* Throws at once. */
__attribute__((noreturn)) void hearth_new_refuse(const hearth_new_heap *heap, size_t bytes);

/* What a form of operator new returns, or NULL if it throws. */
void *hearth_new_by(void *(*operator_new)(size_t bytes), size_t bytes);
void *hearth_new_aligned_by(void *(*operator_new)(size_t bytes, size_t alignment), size_t bytes, size_t alignment);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
