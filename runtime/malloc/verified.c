/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Enters the scope, calls the plain function, leaves the scope. */
#include "verified.h"

#include "hearth/context.h"
#include "hearth/hints.h"

#include <malloc.h>
#include <stdlib.h>

enum { MALLOC_ALIGNMENT = 16, PREFIX = sizeof HEARTH_HINT_SCOPE - 1 };

/* The runtime reads the name until the scope is left. */
struct hint_scope {
  char name[PREFIX + 4];
  hearth_scope_token token;
};

static void enter(struct hint_scope *scope, uint8_t hint) {
  *scope = (struct hint_scope){.name = HEARTH_HINT_SCOPE};
  scope->name[PREFIX] = (char)('0' + hint / 100);
  scope->name[PREFIX + 1] = (char)('0' + hint / 10 % 10);
  scope->name[PREFIX + 2] = (char)('0' + hint % 10);
  scope->token = hearth_context_push("hearth", scope->name);
}

static void *leave(const struct hint_scope *scope, void *block) {
  hearth_context_pop(scope->token);
  return block;
}

void *hearth_verified_alloc(size_t bytes, size_t alignment, uint8_t hint) {
  struct hint_scope scope;
  enter(&scope, hint);
  return leave(&scope, alignment <= MALLOC_ALIGNMENT ? malloc(bytes) : memalign(alignment, bytes));
}

void *hearth_verified_calloc(size_t bytes, uint8_t hint) {
  struct hint_scope scope;
  enter(&scope, hint);
  return leave(&scope, calloc(1, bytes));
}

void *hearth_verified_realloc(void *block, size_t bytes, uint8_t hint) {
  struct hint_scope scope;
  enter(&scope, hint);
  return leave(&scope, realloc(block, bytes));
}
