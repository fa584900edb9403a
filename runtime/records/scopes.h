/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The scopes that a thread is in (hearth/context.h), and the contexts that they make of others: a stack with the
 * scopes' names in front of its outermost call, and the name of a heap behind its innermost one. */
#ifndef HEARTH_RUNTIME_SCOPES_H
#define HEARTH_RUNTIME_SCOPES_H

#include "block.h"
#include "unwind.h"

#include <stdbool.h>
#include <stdint.h>

#define HEARTH_SCOPE_DEPTH 32 /* scopes that are kept; those within them are not */

/* The most addresses of a stack in the depot: calls, scopes and a heap. */
#define HEARTH_STACK_MOST (HEARTH_DEPTH_MOST + HEARTH_SCOPE_DEPTH + 1)

/* Outermost first. The owner's alone; its signal handlers enter and leave scopes in pairs. */
typedef struct hearth_open_scopes {
  uint32_t count; /* may exceed HEARTH_SCOPE_DEPTH */
  uint32_t known; /* the first ones, which have `pcs` and `hashes` filled in */
  const char *names[HEARTH_SCOPE_DEPTH];
  uint64_t pcs[HEARTH_SCOPE_DEPTH];
  uint64_t hashes[HEARTH_SCOPE_DEPTH]; /* of all pcs up to this one */
} hearth_open_scopes;

extern _Thread_local hearth_open_scopes hearth_scopes __attribute__((tls_model("initial-exec"), visibility("hidden")));

#define HEARTH_SCOPE_SLOTS 64

/* Contexts that a thread made lately, by the parts that they were made of. */
typedef struct hearth_scope_cache {
  struct {
    uint64_t names;   /* hash of scopes and heap; 0: empty */
    uint32_t context; /* without them */
    uint32_t made;
  } slots[HEARTH_SCOPE_SLOTS];
} hearth_scope_cache;

/* `context` with this thread's scopes and, unless it is 0, the heap of this pc. A context without stack does not
 * change. `cache`: this thread's; NULL: none is to be used. */
uint32_t hearth_scopes_extend(uint32_t context, uint64_t heap_pc, hearth_scope_cache *cache);

/* The context of an allocation, once its stack's is known. */
static inline uint32_t hearth_scopes_apply(uint32_t context, hearth_scope_cache *cache) {
  return __builtin_expect(hearth_scopes.count == 0, true) ? context : hearth_scopes_extend(context, 0, cache);
}

/* Names that the program gives: of scopes, heaps and types. Each is kept once and numbered; nothing is ever removed.
 * Lock-free: any thread may add and look up at any time. */

#define HEARTH_NO_NAME   UINT32_MAX
#define HEARTH_NAME_MOST 255 /* bytes that are kept of one */

/* False: no address space. */
bool hearth_context_names_create(void);

/* The number of a NUL-terminated name, which is copied; HEARTH_NO_NAME: there is no room. */
uint32_t hearth_context_name(const char *name);

/* Numbers ever given out are below this; a few may have no name, and then the empty one. */
uint32_t hearth_context_name_limit(void);

/* Write a name. Returns its bytes. */
uint32_t hearth_context_name_copy(uint32_t number, char ret_text[HEARTH_NAME_MOST + 1]);

/* Memory that is in use, in bytes. */
uint64_t hearth_context_names_memory(void);

#endif
