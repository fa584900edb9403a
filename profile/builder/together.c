/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The builder's sums over windows: an array beside the contexts, and pairs of contexts, which a hash table finds. All
 * sums saturate, so that their order does not matter; a profile without counted accesses has none. */
#include <stdlib.h>

#include "builder_tables.h"

static bool are_unrecorded(const hearth_builder *builder) {
  return builder->unrecorded & UINT64_C(1) << HEARTH_COL_TotalAccessCount;
}

static void add(const hearth_builder *builder, uint64_t *sum, uint64_t value) {
  *sum = hearth_merge_SUM(*sum, hearth_repeat_SUM(value, builder->weight));
}

void hearth_builder_free_together(builder_together *together) {
  free(together->touched);
  free(together->pairs);
  free(together->pairs_by_contexts.slots);
}

void hearth_builder_add_windows(hearth_builder *builder, const hearth_together_totals *totals) {
  hearth_together_totals *sums = &builder->together.totals;
  if (are_unrecorded(builder))
    return;
  add(builder, &sums->windows, totals->windows);
  add(builder, &sums->window_ns, totals->window_ns);
  add(builder, &sums->sampled_pages, totals->sampled_pages);
  add(builder, &sums->pages, totals->pages);
  add(builder, &sums->lost_pairs, totals->lost_pairs);
}

static hearth_status reserve_touched(hearth_builder *builder, size_t context, hearth_error *err) {
  builder_together *t = &builder->together;
  size_t more = context < t->touched_count ? 0 : context + 1 - t->touched_count;
  HEARTH_TRY(hearth_builder_reserve(&t->touched, &t->touched_room, t->touched_count, more, sizeof *t->touched, err));
  for (; more > 0; more--)
    t->touched[t->touched_count++] = (hearth_touched){0};
  return HEARTH_OK;
}

hearth_status hearth_builder_add_touched(hearth_builder *builder, uint32_t node, const hearth_touched *touched,
                                         hearth_error *err) {
  uint32_t context = builder->nodes[node].context;
  if (context == HEARTH_NONE || are_unrecorded(builder) || !builder_was_touched(touched))
    return HEARTH_OK;
  HEARTH_TRY(reserve_touched(builder, context, err));
  hearth_touched *sums = &builder->together.touched[context];
  add(builder, &sums->windows, touched->windows);
  add(builder, &sums->blocks, touched->blocks);
  add(builder, &sums->lines, touched->lines);
  add(builder, &sums->pages, touched->pages);
  add(builder, &sums->live, touched->live);
  return HEARTH_OK;
}

static bool equal_pair(const void *owner, uint32_t row, const void *key) {
  const hearth_together_pair *pair = (const hearth_together_pair *)owner + row, *wanted = key;
  return pair->a == wanted->a && pair->b == wanted->b;
}

static hearth_status intern_pair(builder_together *t, uint32_t a, uint32_t b, hearth_together_pair **ret,
                                 hearth_error *err) {
  hearth_together_pair wanted = {.a = a < b ? a : b, .b = a < b ? b : a};
  uint64_t hash = id_table_mix((uint64_t)wanted.a << 32 | wanted.b);
  uint32_t row = id_table_find(&t->pairs_by_contexts, hash, equal_pair, t->pairs, &wanted);
  if (row == HEARTH_NONE) {
    HEARTH_TRY(hearth_builder_reserve(&t->pairs, &t->pair_room, t->pair_count, 1, sizeof *t->pairs, err));
    if (!id_table_reserve(&t->pairs_by_contexts))
      return hearth_error_nomem(err);
    row = (uint32_t)t->pair_count++;
    t->pairs[row] = wanted;
    id_table_insert(&t->pairs_by_contexts, hash, row);
  }
  *ret = &t->pairs[row];
  return HEARTH_OK;
}

hearth_status hearth_builder_add_pair(hearth_builder *builder, uint32_t a, uint32_t b, uint64_t windows, uint64_t lines,
                                      hearth_error *err) {
  uint32_t first = builder->nodes[a].context, second = builder->nodes[b].context;
  hearth_together_pair *pair = NULL;
  bool is_none = (windows == 0 && lines == 0) || first == second || first == HEARTH_NONE || second == HEARTH_NONE;
  if (is_none || are_unrecorded(builder))
    return HEARTH_OK;
  HEARTH_TRY(intern_pair(&builder->together, first, second, &pair, err));
  add(builder, &pair->windows, windows);
  add(builder, &pair->lines, lines);
  return HEARTH_OK;
}
