/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For the program's own allocators (arenas, pools): the runtime profiles their blocks as it profiles malloc's. Words:
 *
 *   allocator  hands out blocks; its name is the innermost frame of their contexts, in the file "(heap)"
 *   block      bytes [address, address + size) from when they are handed out until they are given back
 *
 * There is nothing to link: without a runtime, each call tests a byte.
 *
 *   static hearth_allocator nodes = HEARTH_ALLOCATOR("nodes");
 *
 *   node *node_new(pool *p) {
 *     node *n = ...;
 *     hearth_allocator_allocated(&nodes, n, sizeof *n, "node");
 *     return n;
 *
 * The call stack of a block begins where hearth_allocator_allocated is called. Any thread may call any function at any
 * time. Only calls for the same address need an order: it is the order of the block's events. A call in a signal
 * handler may be lost; it then counts as a dropped block. Strings are NUL-terminated and copied; 255 bytes are kept.
 *
 * Memory that an allocator takes from malloc is a block of malloc's, and is in the profile, too. */
#ifndef HEARTH_ALLOCATOR_H
#define HEARTH_ALLOCATOR_H

#include "hearth/rt.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Static: it must never end. */
typedef struct hearth_allocator {
  const char *name;
  void *blocks;        /* the runtime's; atomic */
  unsigned char state; /* 0: not asked yet; atomic */
} hearth_allocator;

#define HEARTH_ALLOCATOR(name) {name, 0, 0}
#define HEARTH_ALLOCATOR_OFF   1 /* state: nobody records it, now and later */
#define HEARTH_ALLOCATOR_ON    2

/* Do not call these. They are the runtime's side (libhearth_rt.a, libhearth_preload.so). */
void __hearth_allocator_allocated(hearth_allocator *allocator, const void *address, size_t size, const char *type);
void __hearth_allocator_freed(hearth_allocator *allocator, const void *address);
void __hearth_allocator_cleared(hearth_allocator *allocator);
void __hearth_allocator_set_type(hearth_allocator *allocator, const void *address, const char *type);

static inline int hearth_allocator_is_off_(const hearth_allocator *allocator) {
  return __builtin_expect(__atomic_load_n(&allocator->state, __ATOMIC_RELAXED) == HEARTH_ALLOCATOR_OFF, 1);
}

/* A block was handed out.
 *   size  requested bytes; may be 0
 *   type  of its contents; NULL: not known (yet)
 * If there is a block at this address already, it ends. */
static inline void hearth_allocator_allocated(hearth_allocator *allocator, const void *address, size_t size,
                                              const char *type) {
  void (*allocated)(hearth_allocator *allocator, const void *address, size_t size, const char *type);

  if (hearth_allocator_is_off_(allocator))
    return;
  HEARTH_FIND_OPTIONAL(allocated, __hearth_allocator_allocated);
  if (!allocated) {
    __atomic_store_n(&allocator->state, HEARTH_ALLOCATOR_OFF, __ATOMIC_RELAXED);
    return;
  }
  allocated(allocator, address, size, type);
  __asm__ volatile(""); /* something to come back to: the caller must not be missing from the stack */
}

/* The block at this address was given back; before another thread can be handed it. Nothing happens if there is none. */
static inline void hearth_allocator_freed(hearth_allocator *allocator, const void *address) {
  void (*freed)(hearth_allocator *allocator, const void *address);

  if (hearth_allocator_is_off_(allocator))
    return;
  HEARTH_FIND_OPTIONAL(freed, __hearth_allocator_freed);
  if (freed)
    freed(allocator, address);
}

/* All blocks were given back at once. */
static inline void hearth_allocator_cleared(hearth_allocator *allocator) {
  void (*cleared)(hearth_allocator *allocator);

  if (hearth_allocator_is_off_(allocator))
    return;
  HEARTH_FIND_OPTIONAL(cleared, __hearth_allocator_cleared);
  if (cleared)
    cleared(allocator);
}

/* Set the type of the contents of the block at this address; it replaces an earlier type. `allocator` NULL: the block
 * is malloc's. Nothing happens if there is no such block. */
static inline void hearth_allocator_set_type(hearth_allocator *allocator, const void *address, const char *type) {
  void (*set_type)(hearth_allocator *allocator, const void *address, const char *type);

  if (allocator && hearth_allocator_is_off_(allocator))
    return;
  HEARTH_FIND_OPTIONAL(set_type, __hearth_allocator_set_type);
  if (set_type)
    set_type(allocator, address, type);
}

#ifdef __cplusplus
}
#endif

#endif
