/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each frame of each call's inline chain is a place; all are sorted by function, line and column, and found by binary
 * search. Neighbours of one place with different discriminators make it crowded. */
#include "call_sites.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "compare.h"
#include "hearth/ir_facts.h"

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

static size_t first_from(const hearth_call_site *items, size_t count, const hearth_call_site *place) {
  return hearth_lower_bound(place, items, count, sizeof *items, call_site_by_place);
}

static bool call_site_has(const hearth_call_site *items, size_t count, uint64_t function, uint32_t line,
                          uint32_t column) {
  const hearth_call_site place = {.function = function, .line = line, .column = column};
  size_t i = first_from(items, count, &place);
  return i < count && call_site_by_place(&items[i], &place) == 0;
}

size_t hearth_call_sites_from(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column) {
  const hearth_call_site place = {.function = function, .line = line, .column = column};
  return first_from(sites->items, sites->count, &place);
}

bool hearth_call_sites_has(const hearth_call_sites *sites, uint64_t function, uint32_t line, uint32_t column) {
  return call_site_has(sites->items, sites->count, function, line, column);
}

/* -------------------------------------------------- crowded places ------------------------------------------------ */

bool hearth_is_crowded(const hearth_crowded_places *places, uint64_t function, uint32_t line, uint32_t column) {
  return call_site_has(places->items, places->count, function, line, column);
}

hearth_status hearth_crowded_places_find(hearth_crowded_places *places, const hearth_call_sites *sites,
                                         hearth_error *err) {
  size_t room = 0;
  for (size_t i = 1; i < sites->count; i++) {
    const hearth_call_site *last = &sites->items[i - 1], *site = &sites->items[i];
    if (call_site_by_place(last, site) != 0 || last->discriminator == site->discriminator ||
        (places->count && call_site_by_place(&places->items[places->count - 1], site) == 0))
      continue;
    if (!hearth_array_grow(&places->items, &room, places->count, sizeof *places->items))
      return hearth_error_nomem(err);
    places->items[places->count++] = *site;
  }
  return HEARTH_OK;
}

void hearth_crowded_places_free(hearth_crowded_places *places) {
  free(places->items);
  memset(places, 0, sizeof *places);
}
