/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each context's series is added to that of its owner; all but the largest are summed in the last one. */
#include "owner_series.h"

#include <stdlib.h>

enum { SERIES_MOST = 12 };

static uint32_t owner_of(const hearth_page_model *model, uint32_t node) {
  for (;;) {
    hearth_pair pair = model->nodes.pairs[node];
    uint32_t function = hearth_page_model_place(model, pair.first).function;
    if (!model->functions[function].wrapper || pair.second == HEARTH_NONE)
      return function;
    node = pair.second;
  }
}

static void add(hearth_page_owner_series *to, const hearth_histogram *more) {
  for (uint32_t i = 0; i < HEARTH_TALLY_MOMENTS && i < more->size; i++) {
    to->bytes[i] += more->counts[i];
    to->sum += (double)more->counts[i];
  }
}

static int compare(const void *x, const void *y) {
  const hearth_page_owner_series *a = x, *b = y;
  if (a->sum != b->sum)
    return a->sum > b->sum ? -1 : 1;
  return (a->function > b->function) - (a->function < b->function);
}

static void sum_others(hearth_page_model *model, uint32_t count) {
  hearth_page_owner_series *last = &model->owners[SERIES_MOST];
  if (count <= SERIES_MOST) {
    model->owner_count = count;
    return;
  }
  for (uint32_t i = SERIES_MOST + 1; i < count; i++)
    add(last, &(hearth_histogram){.counts = model->owners[i].bytes, .size = HEARTH_TALLY_MOMENTS});
  last->function = HEARTH_NONE;
  model->owner_count = SERIES_MOST + 1;
}

hearth_status hearth_page_owner_series_read(hearth_page_model *model, hearth_profile *profile, hearth_error *err) {
  model->owners = calloc((size_t)model->function_count + 1, sizeof *model->owners);
  if (!model->owners)
    return hearth_error_nomem(err);
  for (uint32_t i = 0; i < model->function_count; i++)
    model->owners[i].function = i;
  for (uint32_t i = 0; i < model->context_count; i++) {
    hearth_histogram series;
    HEARTH_TRY(hearth_profile_get_histogram(profile, model->contexts[i].row, &series, err));
    add(&model->owners[owner_of(model, model->contexts[i].node)], &series);
  }
  qsort(model->owners, model->function_count, sizeof *model->owners, compare);
  sum_others(model, model->function_count);
  while (model->owner_count > 0 && model->owners[model->owner_count - 1].sum <= 0)
    model->owner_count--;
  return HEARTH_OK;
}
