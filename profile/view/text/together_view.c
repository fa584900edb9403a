/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Copies of the sums, sorted. */
#include "together_view.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "print.h"

static int compare(uint64_t x, uint64_t y) { return (x < y) - (x > y); }

static int compare_rows(const void *a, const void *b) {
  const hearth_together_row *x = a, *y = b;
  int order = compare(x->touched.lines, y->touched.lines);
  return order ? order : (x->context > y->context) - (x->context < y->context);
}

static int compare_pairs(const void *a, const void *b) {
  const hearth_together_pair *x = a, *y = b;
  int order = compare(x->lines, y->lines);
  if (order == 0)
    order = compare(x->windows, y->windows);
  if (order == 0)
    order = compare(y->a, x->a);
  return order ? order : compare(y->b, x->b);
}

static hearth_status copy(void *to, const void *from, size_t count, size_t size, hearth_error *err) {
  void *made;
  HEARTH_TRY(hearth_array_create(to, count, size, err));
  memcpy(&made, to, sizeof made);
  if (count > 0)
    memcpy(made, from, count * size);
  return HEARTH_OK;
}

hearth_status hearth_together_view_init(hearth_together_view *view, hearth_profile *profile, size_t most,
                                        hearth_error *err) {
  *view = (hearth_together_view){.profile = profile};
  uint32_t contexts = hearth_profile_context_count(profile);
  HEARTH_TRY(hearth_names_init(&view->names, profile, NULL, err));
  HEARTH_TRY(hearth_profile_get_together(profile, &view->together, err));
  const hearth_together *t = &view->together;
  HEARTH_TRY(copy(&view->rows, t->rows, t->row_count, sizeof *view->rows, err));
  HEARTH_TRY(copy(&view->pairs, t->pairs, t->pair_count, sizeof *view->pairs, err));
  HEARTH_TRY(hearth_array_create(&view->positions, contexts, sizeof *view->positions, err));
  qsort(view->rows, t->row_count, sizeof *view->rows, compare_rows);
  qsort(view->pairs, t->pair_count, sizeof *view->pairs, compare_pairs);
  memset(view->positions, 0xff, contexts * sizeof *view->positions);
  for (size_t i = 0; i < t->row_count; i++)
    view->positions[view->rows[i].context] = (uint32_t)i;
  view->row_count = t->row_count < most ? t->row_count : most;
  view->pair_count = t->pair_count < most ? t->pair_count : most;
  return HEARTH_OK;
}

void hearth_together_view_destroy(hearth_together_view *view) {
  hearth_names_destroy(&view->names);
  free(view->rows);
  free(view->pairs);
  free(view->positions);
}

double hearth_together_per_window(const hearth_together_view *view, uint64_t sum) {
  return hearth_ratio((double)sum, (double)view->together.totals.windows);
}
