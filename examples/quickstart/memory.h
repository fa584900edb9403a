/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one place where this program allocates. Every module calls store_alloc; it is small enough to be inlined, so the
 * single malloc below is reached from many calling contexts. All records have one size: nothing but the context tells an
 * entry of the index, which is read a million times, from an item of an order, which is never looked at again. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdlib.h>

enum { RECORD_BYTES = 32 }; /* of entries, orders, items and changes */

/* Print a message on stderr and exit with status 1. */
_Noreturn void memory_exhausted(size_t size_bytes);

/* Never returns NULL. The caller frees the block with store_free. */
static inline void *store_alloc(size_t size_bytes) {
  void *block = malloc(size_bytes);
  if (!block)
    memory_exhausted(size_bytes);
  return block;
}

/* `block` comes from store_alloc, or is NULL. */
static inline void store_free(void *block) { free(block); }

#endif
