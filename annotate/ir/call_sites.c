/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each frame of each call's inline chain is a place; all are sorted by function, line and column, and found by binary
 * search. Neighbours of one place with different discriminators make it crowded. */
#include "call_sites.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "hearth/ir_facts.h"
#include "location.h"

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
