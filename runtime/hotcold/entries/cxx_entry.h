/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The parts of operator new, under any of its names (cxx_entry.c). */
#ifndef HEARTH_CXX_ENTRY_H
#define HEARTH_CXX_ENTRY_H

#include <stddef.h>
#include <stdint.h>

/* A block for the hint, or NULL: the plain operator is to serve the request. */
void *hearth_hinted_new(size_t bytes, size_t alignment, uint8_t hint);

/* They stand in where the C++ library is absent, or has no operator new of its own, as far as C can. The first ends the
 * program, or throws, if there is no memory. */
void *hearth_plain_new(size_t bytes, size_t alignment);
void *hearth_plain_new_or_null(size_t bytes, size_t alignment);

#endif
