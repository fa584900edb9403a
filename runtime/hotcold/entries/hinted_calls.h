/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hints for allocations in libraries that were compiled without a profile: by the function that the return address lies
 * in, and the bits of the thread's contexts, which the program sets; in programs as they are, by return address and height of the stack
 * (docs/formats/library-calls.md). Off until there is a list, or the program has told where its word is; in the adapter without these functions (hinted_calls_absent.c), for good. */
#ifndef HEARTH_LIBRARY_CALLS_H
#define HEARTH_LIBRARY_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where an interposed function was called from, and where the stack was then: as the profiling runtime has both. */
struct hearth_caller {
  uintptr_t address, stack;
};

#if defined(__x86_64__)
/* Behind the return address. */
#define HEARTH_CALLERS_STACK ((uintptr_t)__builtin_dwarf_cfa())
#else
/* The caller's frame record. */
#define HEARTH_CALLERS_STACK (*(const uintptr_t *)__builtin_frame_address(0))
#endif
#define HEARTH_CALLER ((struct hearth_caller){(uintptr_t)__builtin_return_address(0), HEARTH_CALLERS_STACK})

/* The return addresses known so far (calls/known_calls.h); NULL: there is no list, and no call has a hint. */
extern struct hearth_known_set *_Atomic hearth_known_calls;

/* Read the list, once; a list that cannot be read is a warning, and no hint. "" for none. */
void hearth_library_calls_open(const char *path);

/* The hint of a call; false if it has none. */
bool hearth_library_calls_find(struct hearth_caller caller, uint8_t *ret_hint);

static inline bool hearth_library_hint(struct hearth_caller caller, uint8_t *ret_hint) {
  return __builtin_expect(atomic_load_explicit(&hearth_known_calls, memory_order_acquire) != NULL, 0) &&
         hearth_library_calls_find(caller, ret_hint);
}

#endif
