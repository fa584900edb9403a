/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* libhint_scopes.so, preloaded into a program that `hearth record` records: hinted functions that call the plain one, in a scope
 * that is named after the hint. So the recording has the whole stack of each block beside the hint that the program chose
 * (verify_placements.c). Plain functions are the recorder's. */
#define _GNU_SOURCE /* reallocarray, pvalloc */
#include "hint_scopes.h"

#include "hearth/context.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The runtime reads the name until the scope is left. */
typedef struct hint_scope {
  char name[sizeof HINT_SCOPE + 3];
  hearth_scope_token token;
} hint_scope;

static void enter(hint_scope *scope, uint8_t hint) {
  snprintf(scope->name, sizeof scope->name, HINT_SCOPE "%03u", (unsigned)hint);
  scope->token = hearth_context_push("hearth", scope->name);
}

#define HINTED(result, name, plain, parameters, arguments)                                                             \
  __attribute__((visibility("default"))) result name parameters;                                                       \
  result name parameters {                                                                                             \
    hint_scope scope;                                                                                                  \
    enter(&scope, hint);                                                                                               \
    result made = plain arguments;                                                                                     \
    hearth_context_pop(scope.token);                                                                                   \
    return made;                                                                                                       \
  }

HINTED(void *, malloc_hot_cold, malloc, (size_t size, uint8_t hint), (size))
HINTED(void *, calloc_hot_cold, calloc, (size_t count, size_t size, uint8_t hint), (count, size))
HINTED(void *, realloc_hot_cold, realloc, (void *block, size_t size, uint8_t hint), (block, size))
HINTED(void *, reallocarray_hot_cold, reallocarray, (void *block, size_t count, size_t size, uint8_t hint),
       (block, count, size))
HINTED(void *, memalign_hot_cold, memalign, (size_t alignment, size_t size, uint8_t hint), (alignment, size))
HINTED(void *, aligned_alloc_hot_cold, aligned_alloc, (size_t alignment, size_t size, uint8_t hint), (alignment, size))
HINTED(int, posix_memalign_hot_cold, posix_memalign, (void **ret, size_t alignment, size_t size, uint8_t hint),
       (ret, alignment, size))
HINTED(void *, valloc_hot_cold, valloc, (size_t size, uint8_t hint), (size))
HINTED(void *, pvalloc_hot_cold, pvalloc, (size_t size, uint8_t hint), (size))
HINTED(char *, strdup_hot_cold, strdup, (const char *string, uint8_t hint), (string))
HINTED(char *, strndup_hot_cold, strndup, (const char *string, size_t most, uint8_t hint), (string, most))

/* operator new, which C programs lack. */
#define NEW_FORMS(plain)                                                                                               \
  __attribute__((weak)) void *plain(size_t size);                                                                      \
  __attribute__((weak)) void *plain##RKSt9nothrow_t(size_t size, const void *nothrow);                                 \
  __attribute__((weak)) void *plain##St11align_val_t(size_t size, size_t alignment);                                   \
  __attribute__((weak)) void *plain##St11align_val_tRKSt9nothrow_t(size_t size, size_t alignment,                      \
                                                                   const void *nothrow);                               \
  HINTED(void *, plain##12__hot_cold_t, plain, (size_t size, uint8_t hint), (size))                                    \
  HINTED(void *, plain##RKSt9nothrow_t12__hot_cold_t, plain##RKSt9nothrow_t,                                           \
         (size_t size, const void *nothrow, uint8_t hint), (size, nothrow))                                            \
  HINTED(void *, plain##St11align_val_t12__hot_cold_t, plain##St11align_val_t,                                         \
         (size_t size, size_t alignment, uint8_t hint), (size, alignment))                                             \
  HINTED(void *, plain##St11align_val_tRKSt9nothrow_t12__hot_cold_t, plain##St11align_val_tRKSt9nothrow_t,             \
         (size_t size, size_t alignment, const void *nothrow, uint8_t hint), (size, alignment, nothrow))
NEW_FORMS(_Znwm)
NEW_FORMS(_Znam)
