/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For the functions that programs find as malloc and operator new, the runtime's and the allocator's: their names for
 * the loader, operator new without memory, and sanitizers, which come before both. */
#ifndef HEARTH_ENTRY_POINTS_H
#define HEARTH_ENTRY_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(hidden)

/* Functions by the names that the dynamic loader finds them by. A module's table of symbols is memory: what it says
 * is changed here, so that lookups find a function of ours whichever way they go. At the start of the program, while
 * there is one thread; in static programs there is nothing to find. */

typedef struct hearth_loader_mapping {
  uintptr_t start, end;
  bool writable, executable;
} hearth_loader_mapping;

/* Runtime and allocator ask for the mapping of an address, each in its way. False: it is not known. */
typedef bool hearth_loader_find(const void *address, hearth_loader_mapping *ret_mapping);

/* Have the program's definition of `name`, and the modules that are bound to it, be `function`. Returns what it was;
 * NULL: there is none, or the system refuses the change. */
void *hearth_loader_replace(hearth_loader_find *find, const char *name, void *function);

#define HEARTH_LOADER_NAMES_MOST 64

/* Where the module that has `function` under the first of the names is the first that defines a name, the others'
 * definitions of it give way. Lookups that pass by it (RTLD_DEEPBIND, dlsym with a library's handle) then find the
 * same. */
void hearth_loader_unify(hearth_loader_find *find, const char *const *names, size_t count, const void *function);

/* operator new when there is no memory, which is the part that needs C++ (new_retry.cpp). */

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

/* Sanitizers that have a malloc of their own. It comes before all others, whatever is linked or preloaded. */

/* Not by dlsym: for an absent symbol, it makes a message with a malloc that may not have begun. */
extern __attribute__((weak)) void __asan_init(void);
extern __attribute__((weak)) void __tsan_init(void);
extern __attribute__((weak)) void __msan_init(void);
extern __attribute__((weak)) void __hwasan_init(void);

/* "NAME: REMEDY" for the program's sanitizer; NULL: it has none. */
static inline const char *hearth_sanitizer_find(void) {
  return __asan_init     ? "AddressSanitizer: build without -fsanitize=address"
         : __tsan_init   ? "ThreadSanitizer: build without -fsanitize=thread"
         : __msan_init   ? "MemorySanitizer: build without -fsanitize=memory"
         : __hwasan_init ? "HWAddressSanitizer: build without -fsanitize=hwaddress"
                         : NULL;
}

#ifdef __cplusplus
}
#endif

#endif
