/* Makes the plan of a profile that is being written: allocation calls whose contexts differ, call sites that could tell
 * them apart, and those that are chosen. */
#include <stdlib.h>

#include "plan_internal.h"

enum { DEFAULT_SITES = 256, DEFAULT_GAIN_PPM = 500 };

hearth_status plan_grow(planner *p, void **items, size_t count, size_t *room, size_t item_size) {
  if (count < *room)
    return HEARTH_OK;
  size_t larger = *room ? *room * 2 : 64;
  void *moved = realloc(*items, larger * item_size);
  if (!moved || larger > UINT32_MAX)
    return hearth_error_nomem(p->err);
  *items = moved;
  *room = larger;
  return HEARTH_OK;
}

static hearth_status make_section(planner *p, packed_bytes *ret) {
  HEARTH_TRY(plan_find_leaves(p));
  if (p->leaf_count == 0)
    return HEARTH_OK;
  HEARTH_TRY(plan_find_candidates(p));
  HEARTH_TRY(plan_make_units(p));
  return plan_choose(p, (void **)&ret->data, &ret->size);
}

static void release(planner *p) {
  free(p->stack_ids);
  free(p->leaves);
  free(p->contexts);
  free(p->candidates);
  free(p->sets);
  free(p->members);
  free(p->units);
}

hearth_status writer_plan(writer *w) {
  planner p = {.w = w, .options = *w->plan_options, .err = w->err};
  p.options.max_sites = p.options.max_sites ? p.options.max_sites : DEFAULT_SITES;
  p.options.min_gain_ppm = p.options.min_gain_ppm ? p.options.min_gain_ppm : DEFAULT_GAIN_PPM;
  hearth_status status = make_section(&p, &w->plan);
  release(&p);
  return status;
}
