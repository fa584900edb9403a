/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Walks a debug location outwards through inlining; each frame's function, line offset and column give its stack id.
 * The ids of subprograms are kept in a hash table, as many calls share them. Then recursion is folded, from the
 * outermost frame inwards. */
#include "module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "array.h"
#include "hearth/expect.h"
#include "hearth/ids.h"
#include "hearth/ir_facts.h"
#include "id_table.h"

#define NOWHERE UINT32_C(0x40000000) /* a line offset that no function has; columns stay */

typedef struct subprogram {
  LLVMMetadataRef key;
  uint64_t id_now;
  uint64_t id; /* in the profile */
  uint32_t line;
  const hearth_moved_function *moved; /* NULL: it did not change */
} subprogram;

struct hearth_locator {
  enum hearth_id_scheme scheme;
  const hearth_moved_calls *moved;
  const hearth_call_sites *crowded;
  subprogram *subprograms;
  size_t count, capacity;
  id_table by_key;
};

hearth_locator *hearth_locator_create(enum hearth_id_scheme scheme, const hearth_moved_calls *moved,
                                      const hearth_call_sites *crowded) {
  hearth_locator *locator = calloc(1, sizeof *locator);
  if (locator)
    *locator = (hearth_locator){.scheme = scheme, .moved = moved, .crowded = crowded};
  return locator;
}

void hearth_locator_destroy(hearth_locator *locator) {
  if (!locator)
    return;
  free(locator->subprograms);
  free(locator->by_key.slots);
  free(locator);
}

static const hearth_moved_function *location_find_moved(const hearth_moved_calls *moved, uint64_t id) {
  if (!moved || !moved->n_functions)
    return NULL;
  return bsearch(&id, moved->functions, moved->n_functions, sizeof *moved->functions, hearth_compare_u64);
}

static int moved_by_place(const void *a, const void *b) {
  const hearth_moved_call *x = a, *y = b;
  return hearth_compare_places(x->line, x->column, y->line, y->column);
}

/* Put a place of that function where it was in the profile. */
static void move(const hearth_moved_calls *moved, const hearth_moved_function *function, hearth_location *place) {
  const hearth_moved_call key = {.line = place->line, .column = place->column};
  hearth_expect(function->first + function->count <= moved->n_calls);
  const hearth_moved_call *calls = moved->calls + function->first;
  const hearth_moved_call *call =
      function->count ? bsearch(&key, calls, function->count, sizeof key, moved_by_place) : NULL;
  if (call) {
    place->line = call->old_line;
    place->column = call->old_column;
  } else {
    place->line ^= NOWHERE;
  }
}

static subprogram identify(const hearth_locator *locator, LLVMMetadataRef key) {
  size_t name_length, file_length;
  const char *name = hearth_ir_subprogram_name(key, &name_length);
  const char *file = hearth_ir_subprogram_file(key, &file_length);
  char path[4096]; /* the base name is at the end: cut at the front */
  size_t skip = file_length < sizeof path ? 0 : file_length - (sizeof path - 1);
  memcpy(path, file ? file + skip : "", file ? file_length - skip : 0);
  path[file ? file_length - skip : 0] = '\0';
  if (!name)
    name = "";
  uint64_t now = locator->scheme == HEARTH_IDS_LLVM ? hearth_llvm_function_id(name, name_length)
                                                    : hearth_function_id(name, name_length, path);
  const hearth_moved_function *moved = location_find_moved(locator->moved, now);
  return (subprogram){.key = key,
                      .id_now = now,
                      .id = moved && moved->old_id ? moved->old_id : now,
                      .line = hearth_ir_subprogram_line(key),
                      .moved = moved};
}

static bool has_key(const void *owner, uint32_t item, const void *key) {
  return ((const hearth_locator *)owner)->subprograms[item].key == key;
}

/* Without memory to remember it, it is identified anew each time. */
static subprogram lookup(hearth_locator *locator, LLVMMetadataRef key) {
  uint64_t hash = id_table_mix((uintptr_t)key);
  uint32_t item = id_table_find(&locator->by_key, hash, has_key, locator, key);
  if (item != HEARTH_NONE)
    return locator->subprograms[item];
  subprogram found = identify(locator, key);
  if (id_table_reserve(&locator->by_key) &&
      hearth_array_grow(&locator->subprograms, &locator->capacity, locator->count, sizeof found)) {
    id_table_insert(&locator->by_key, hash, (uint32_t)locator->count);
    locator->subprograms[locator->count++] = found;
  }
  return found;
}

/* Keep each cycle of calls once, as profiles do: of equal frames the outermost, without the frames between. */
static size_t fold_recursion(hearth_location *chain, size_t n) {
  size_t kept = n; /* chain[kept..n) is kept of the frames seen so far, from the outside on */
  for (size_t i = n; i-- > 0;) {
    size_t same = kept;
    while (same < n && (!chain[i].id || chain[same].id != chain[i].id))
      same++;
    if (same < n)
      kept = same;
    else
      chain[--kept] = chain[i];
  }
  memmove(chain, chain + kept, (n - kept) * sizeof *chain);
  return n - kept;
}

/* Where a function was inlined, by way of others, into itself, the frame that called it may have been called further
 * out before, and folding then leaves out the frames outside of it here: callers from there on cannot be compared. */
static size_t cut_recursion(const hearth_location *chain, size_t n) {
  for (size_t i = 2; i < n; i++)
    for (size_t callee = 0; callee + 2 <= i; callee++)
      if (chain[callee].function == chain[i].function)
        return i;
  return n;
}

size_t hearth_locate(hearth_locator *locator, LLVMValueRef instruction, hearth_location chain[HEARTH_CHAIN_MAX]) {
  size_t n = 0;
  LLVMMetadataRef location = hearth_ir_instruction_location(instruction);
  for (; location && n < HEARTH_CHAIN_MAX; location = LLVMDILocationGetInlinedAt(location)) {
    LLVMMetadataRef scope = hearth_ir_scope_subprogram(LLVMDILocationGetScope(location));
    if (!scope)
      break;
    subprogram function = lookup(locator, scope);
    uint32_t line = LLVMDILocationGetLine(location);
    hearth_location *frame = &chain[n++];
    frame->function = function.id;
    frame->line = line - function.line;
    frame->column = LLVMDILocationGetColumn(location);
    frame->discriminator = hearth_ir_location_discriminator(location);
    frame->moved = function.moved != NULL;
    frame->alone =
        locator->crowded && !hearth_call_sites_has(locator->crowded, function.id_now, frame->line, frame->column);
    if (function.moved)
      move(locator->moved, function.moved, frame);
    frame->id = line && frame->column ? hearth_stack_id(function.id, frame->line, frame->column) : 0;
  }
  return cut_recursion(chain, fold_recursion(chain, n));
}

bool hearth_locate_function(hearth_locator *locator, LLVMValueRef function, uint64_t *ret_id) {
  LLVMMetadataRef key = LLVMGetSubprogram(function);
  if (key)
    *ret_id = lookup(locator, key).id;
  return key != NULL;
}

bool hearth_locate_moved(hearth_locator *locator, LLVMValueRef function) {
  LLVMMetadataRef key = LLVMGetSubprogram(function);
  return key && lookup(locator, key).moved;
}

void hearth_describe_inlining(LLVMValueRef instruction, char *buffer, size_t size) {
  LLVMMetadataRef location = hearth_ir_instruction_location(instruction);
  size_t used = 0;
  buffer[0] = '\0';
  while (location && (location = LLVMDILocationGetInlinedAt(location)) && used < size) {
    LLVMMetadataRef scope = hearth_ir_scope_subprogram(LLVMDILocationGetScope(location));
    if (!scope)
      return;
    size_t name_length, file_length;
    const char *name = hearth_ir_subprogram_name(scope, &name_length);
    const char *file = hearth_ir_subprogram_file(scope, &file_length);
    int n = snprintf(buffer + used, size - used, "%sinto %.*s at %.*s:%u", used ? ", " : " inlined ", (int)name_length,
                     name ? name : "", (int)file_length, file ? file : "", LLVMDILocationGetLine(location));
    used += n > 0 ? (size_t)n : 0;
  }
}

/* ------------------------------------------------ call sites ------------------------------------------------ */

/* Each frame of each call's inline chain is a place; all are sorted by function, line and column, and found by binary
 * search. Neighbours of one place with different discriminators make it crowded. */

typedef struct collection {
  hearth_call_sites *sites;
  hearth_locator *locator;
  bool failed; /* out of memory */
} collection;

static void call_site_visit(LLVMValueRef instruction, void *data) {
  collection *c = data;
  hearth_location chain[HEARTH_CHAIN_MAX];
  if (c->failed || !hearth_ir_is_caller(instruction))
    return;
  for (size_t i = 0, n = hearth_locate(c->locator, instruction, chain); i < n; i++) {
    if (!chain[i].id)
      continue;
    c->failed = !hearth_array_grow(&c->sites->items, &c->sites->room, c->sites->count, sizeof *c->sites->items);
    if (c->failed)
      return;
    c->sites->items[c->sites->count++] = (hearth_call_site){.function = chain[i].function,
                                                            .line = chain[i].line,
                                                            .column = chain[i].column,
                                                            .discriminator = chain[i].discriminator,
                                                            .inlined = i ? chain[i - 1].function : 0,
                                                            .call = instruction};
  }
}

static int call_site_by_place(const void *a, const void *b) {
  const hearth_call_site *x = a, *y = b;
  if (x->function != y->function)
    return x->function < y->function ? -1 : 1;
  return hearth_compare_places(x->line, x->column, y->line, y->column);
}

hearth_status hearth_call_sites_collect(hearth_call_sites *sites, LLVMModuleRef module, hearth_locator *locator,
                                        hearth_error *err) {
  collection c = {.sites = sites, .locator = locator};
  hearth_ir_for_each_instruction(module, call_site_visit, &c);
  if (c.failed)
    return hearth_error_nomem(err);
  if (sites->count)
    qsort(sites->items, sites->count, sizeof *sites->items, call_site_by_place);
  return HEARTH_OK;
}

void hearth_call_sites_free(hearth_call_sites *sites) {
  free(sites->items);
  memset(sites, 0, sizeof *sites);
}

size_t hearth_call_sites_from(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column) {
  const hearth_call_site place = {.function = function, .line = line, .column = column};
  return hearth_lower_bound(&place, sites->items, sites->count, sizeof place, call_site_by_place);
}

bool hearth_call_sites_has(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column) {
  const hearth_call_site place = {.function = function, .line = line, .column = column};
  size_t i = hearth_call_sites_from(sites, function, line, column);
  return i < sites->count && call_site_by_place(&sites->items[i], &place) == 0;
}

hearth_status hearth_call_sites_find_crowded(hearth_call_sites *crowded, const hearth_call_sites *sites,
                                             hearth_error *err) {
  for (size_t i = 1; i < sites->count; i++) {
    const hearth_call_site *last = &sites->items[i - 1], *site = &sites->items[i];
    if (call_site_by_place(last, site) != 0 || last->discriminator == site->discriminator ||
        (crowded->count && call_site_by_place(&crowded->items[crowded->count - 1], site) == 0))
      continue;
    if (!hearth_array_grow(&crowded->items, &crowded->room, crowded->count, sizeof *crowded->items))
      return hearth_error_nomem(err);
    crowded->items[crowded->count++] = *site;
  }
  return HEARTH_OK;
}
