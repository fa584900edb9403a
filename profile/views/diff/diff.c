/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Both profiles' stacks are merged into one forest: equal frames get one number, equal (frame, caller) pairs one node.
 * Contexts are the same if they end in the same node, without a comparison of stacks. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "comparison.h"
#include "hearth/status.h"
#include "numbers.h"

/* -------------------------------------------------- matching -------------------------------------------------- */

static bool same_frame(const void *owner, uint32_t item, const void *key) {
  const hearth_diff_frame *x = &((const hearth_diff *)owner)->frames[item], *y = key;
  return x->function == y->function && x->line == y->line && x->column == y->column &&
         x->discriminator == y->discriminator && x->inlined == y->inlined;
}

static uint64_t frame_hash(const hearth_diff_frame *f) {
  return id_table_mix(f->function ^ id_table_mix((uint64_t)f->line << 32 | f->column) ^ f->discriminator);
}

static hearth_status add_frame(hearth_diff *d, const hearth_diff_frame *frame, uint32_t *ret, hearth_error *err) {
  uint64_t hash = frame_hash(frame);
  *ret = id_table_find(&d->frame_table, hash, same_frame, d, frame);
  if (*ret != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_check_memory(id_table_reserve(&d->frame_table), err));
  *ret = d->frame_count++;
  d->frames[*ret] = *frame;
  id_table_insert(&d->frame_table, hash, *ret);
  return HEARTH_OK;
}

/* The common number of each of one profile's frames. */
static hearth_status match_frames(hearth_diff *d, uint32_t side, uint32_t *frames, hearth_error *err) {
  hearth_profile *profile = d->sides[side].profile;
  for (uint32_t i = 0; i < hearth_profile_frame_count(profile); i++) {
    hearth_frame_info frame;
    hearth_function_info function;
    HEARTH_TRY(hearth_profile_get_frame(profile, i, &frame, err));
    HEARTH_TRY(hearth_profile_get_function(profile, frame.function, &function, err));
    hearth_diff_frame key = {.function = function.id,
                             .line = frame.line,
                             .column = frame.column,
                             .discriminator = frame.discriminator,
                             .inlined = d->tells_inlined && frame.inlined};
    HEARTH_TRY(add_frame(d, &key, &frames[i], err));
  }
  return HEARTH_OK;
}

/* A parent is a lower row: its common node is known when it is needed. */
static hearth_status match_nodes(hearth_diff *d, hearth_diff_side *side, const uint32_t *frames, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_stack_count(side->profile); i++) {
    uint32_t frame, parent;
    HEARTH_TRY(hearth_profile_get_stack(side->profile, i, &frame, &parent, err));
    hearth_pair pair = {frames[frame], parent == HEARTH_NONE ? HEARTH_NONE : side->nodes[parent]};
    HEARTH_TRY(hearth_pair_set_add(&d->nodes, pair, &side->nodes[i], err));
  }
  return HEARTH_OK;
}

static hearth_status match_side(hearth_diff *d, uint32_t number, hearth_error *err) {
  hearth_diff_side *side = &d->sides[number];
  uint32_t *frames;
  HEARTH_TRY(hearth_array_create(&side->nodes, hearth_profile_stack_count(side->profile), sizeof *side->nodes, err));
  HEARTH_TRY(hearth_array_create(&frames, hearth_profile_frame_count(side->profile), sizeof *frames, err));
  hearth_status status = match_frames(d, number, frames, err);
  HEARTH_THEN(status, match_nodes(d, side, frames, err));
  free(frames);
  return status;
}

static hearth_status diff_match_stacks(hearth_diff *d, hearth_error *err) {
  size_t room = 0;
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++)
    room += hearth_profile_frame_count(d->sides[i].profile);
  HEARTH_TRY(hearth_array_create(&d->frames, room, sizeof *d->frames, err));
  for (uint32_t i = 0; i < HEARTH_DIFF_SIDES; i++)
    HEARTH_TRY(match_side(d, i, err));
  return HEARTH_OK;
}

/* Put the wanted contexts of one side into entries; `by_node` holds the entry of each common node. */
static hearth_status diff_add_contexts(hearth_diff *d, int number, uint32_t *by_node, hearth_error *err) {
  hearth_diff_side *side = &d->sides[number];
  for (uint32_t i = 0; i < hearth_profile_context_count(side->profile); i++) {
    hearth_selected selected;
    HEARTH_TRY(hearth_selection_get(&side->selection, i, &selected, err));
    if (!selected.wanted)
      continue;
    uint32_t *at = &by_node[side->nodes[selected.node]];
    if (*at == HEARTH_NONE) {
      *at = d->entry_count++;
      d->entries[*at] = (hearth_diff_entry){.first = {HEARTH_NONE, HEARTH_NONE}};
    }
    side->next[i] = d->entries[*at].first[number];
    d->entries[*at].first[number] = i;
  }
  return HEARTH_OK;
}

static hearth_status match_contexts(hearth_diff *d, hearth_error *err) {
  size_t room = 0;
  uint32_t *by_node;
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++) {
    size_t count = hearth_profile_context_count(d->sides[i].profile);
    HEARTH_TRY(hearth_array_create(&d->sides[i].next, count, sizeof *d->sides[i].next, err));
    room += count;
  }
  HEARTH_TRY(hearth_array_create(&d->entries, room, sizeof *d->entries, err));
  HEARTH_TRY(hearth_array_create(&by_node, d->nodes.count, sizeof *by_node, err));
  memset(by_node, 0xff, d->nodes.count * sizeof *by_node); /* HEARTH_NONE */
  hearth_status status = HEARTH_OK;
  for (int i = 0; i < HEARTH_DIFF_SIDES && status == HEARTH_OK; i++)
    status = diff_add_contexts(d, i, by_node, err);
  free(by_node);
  return status;
}

/* -------------------------------------------------- weighing -------------------------------------------------- */

double hearth_diff_per_run(const hearth_diff *d, int side, uint64_t value) {
  uint64_t runs = d->sides[side].summary.runs;
  return (double)value / (double)(runs ? runs : 1);
}

hearth_status hearth_diff_mib(const hearth_diff *d, const hearth_diff_entry *entry, int side, hearth_mib *ret,
                              hearth_error *err) {
  memset(ret, 0, sizeof *ret);
  for (uint32_t i = entry->first[side]; i != HEARTH_NONE; i = d->sides[side].next[i]) {
    hearth_mib mib;
    HEARTH_TRY(hearth_profile_get_context(d->sides[side].profile, i, NULL, &mib, err));
    hearth_fill_live_bytes(&mib);
    hearth_mib_merge(ret, &mib);
  }
  return HEARTH_OK;
}

hearth_status hearth_diff_stack(const hearth_diff *d, const hearth_diff_entry *entry, int *ret_side, uint32_t *ret_node,
                                hearth_error *err) {
  *ret_side = entry->first[HEARTH_DIFF_B] != HEARTH_NONE ? HEARTH_DIFF_B : HEARTH_DIFF_A;
  return hearth_profile_get_context(d->sides[*ret_side].profile, entry->first[*ret_side], ret_node, NULL, err);
}

static hearth_change diff_change_of(const hearth_diff_entry *e) {
  if (e->first[HEARTH_DIFF_A] == HEARTH_NONE)
    return HEARTH_CHANGE_NEW;
  if (e->first[HEARTH_DIFF_B] == HEARTH_NONE)
    return HEARTH_CHANGE_VANISHED;
  if (e->hotness[HEARTH_DIFF_A] != e->hotness[HEARTH_DIFF_B])
    return HEARTH_CHANGE_CLASS;
  return e->bytes[HEARTH_DIFF_A] != e->bytes[HEARTH_DIFF_B] ? HEARTH_CHANGE_SIZE : HEARTH_CHANGE_NONE;
}

static void add_totals(hearth_diff_totals *to, const hearth_diff_totals *more) {
  for (size_t i = 0; i <= HEARTH_QUANTITY_COUNT; i++)
    to->of[i] += more->of[i];
}

static hearth_status weigh_side(const hearth_diff *d, hearth_diff_entry *e, int number, hearth_diff_totals *ret,
                                hearth_error *err) {
  const hearth_diff_side *side = &d->sides[number];
  hearth_mib mib;
  uint32_t node;
  *ret = (hearth_diff_totals){0};
  if (e->first[number] == HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_diff_mib(d, e, number, &mib, err));
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    ret->of[q] = hearth_diff_per_run(d, number, hearth_quantity_of(q, &mib));
  ret->of[HEARTH_MEASURE_CONTEXTS] = 1;
  HEARTH_TRY(hearth_profile_get_context(side->profile, e->first[number], &node, NULL, err));
  HEARTH_TRY(hearth_selection_classify(&side->selection, node, &mib, &e->hotness[number], err));
  e->bytes[number] = ret->of[HEARTH_QUANTITY_BYTES];
  return HEARTH_OK;
}

static void add_side(hearth_diff_side *side, const hearth_diff_entry *e, int number, const hearth_diff_totals *totals) {
  add_totals(&side->changes[e->change], totals);
  if (e->first[number] == HEARTH_NONE)
    return;
  add_totals(&side->all, totals);
  add_totals(&side->classes[e->hotness[number]], totals);
}

static hearth_status weigh(hearth_diff *d, hearth_error *err) {
  for (uint32_t i = 0; i < d->entry_count; i++) {
    hearth_diff_entry *e = &d->entries[i];
    hearth_diff_totals totals[HEARTH_DIFF_SIDES];
    for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
      HEARTH_TRY(weigh_side(d, e, side, &totals[side], err));
    e->change = diff_change_of(e);
    for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
      add_side(&d->sides[side], e, side, &totals[side]);
  }
  return HEARTH_OK;
}

static double diff_weight_of(const hearth_diff_entry *e) {
  double a = e->bytes[HEARTH_DIFF_A], b = e->bytes[HEARTH_DIFF_B], difference = a < b ? b - a : a - b;
  return e->change == HEARTH_CHANGE_SIZE ? difference : a > b ? a : b;
}

static int diff_compare_entries(const void *x, const void *y) {
  const hearth_diff_entry *a = x, *b = y;
  if (a->change != b->change)
    return a->change < b->change ? -1 : 1;
  double v = diff_weight_of(a), w = diff_weight_of(b);
  if (v != w)
    return v > w ? -1 : 1;
  for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
    if (a->first[side] != b->first[side])
      return a->first[side] < b->first[side] ? -1 : 1;
  return 0;
}

static void sort(hearth_diff *d) {
  qsort(d->entries, d->entry_count, sizeof *d->entries, diff_compare_entries);
  uint32_t at = 0;
  for (hearth_change change = 0; change <= HEARTH_CHANGE_COUNT; change++) {
    while (at < d->entry_count && d->entries[at].change < change)
      at++;
    d->first[change] = at;
  }
}

/* -------------------------------------------------- lifetime -------------------------------------------------- */

static hearth_status open_side(hearth_diff_side *side, hearth_profile *profile, const char *name,
                               const hearth_view_options *options, hearth_error *err) {
  hearth_view_options any_class;
  HEARTH_TRY(hearth_options_take(&any_class, sizeof any_class, options, err));
  any_class.only = HEARTH_CLASS_UNKNOWN;
  side->profile = profile;
  side->name = name;
  HEARTH_TRY(hearth_profile_get_summary(profile, &side->summary, err));
  HEARTH_TRY(hearth_names_init(&side->names, profile, &any_class, err));
  return hearth_selection_init(&side->selection, profile, &any_class, err);
}

static hearth_status check_schemes(const hearth_diff *d, hearth_error *err) {
  const hearth_diff_side *a = &d->sides[HEARTH_DIFF_A], *b = &d->sides[HEARTH_DIFF_B];
  if (a->summary.id_scheme == b->summary.id_scheme)
    return HEARTH_OK;
  const hearth_diff_side *llvm = a->summary.id_scheme == HEARTH_IDS_LLVM ? a : b;
  return hearth_error_set(err, HEARTH_E_MISMATCH,
                          "%s has LLVM's function ids and %s has Hearth's: only profiles of one kind can be compared",
                          llvm->name, llvm == a ? b->name : a->name);
}

static hearth_status diff_compare(hearth_diff *d, hearth_error *err) {
  HEARTH_TRY(check_schemes(d, err));
  HEARTH_TRY(diff_match_stacks(d, err));
  HEARTH_TRY(match_contexts(d, err));
  HEARTH_TRY(weigh(d, err));
  sort(d);
  return HEARTH_OK;
}

hearth_status hearth_diff_create(hearth_profile *const profiles[HEARTH_DIFF_SIDES],
                                 const char *const names[HEARTH_DIFF_SIDES], const hearth_view_options *options,
                                 hearth_diff **ret, hearth_error *err) {
  hearth_diff *d = calloc(1, sizeof *d);
  hearth_status status = d ? HEARTH_OK : hearth_error_nomem(err);
  *ret = NULL;
  for (int i = 0; i < HEARTH_DIFF_SIDES && status == HEARTH_OK; i++)
    status = open_side(&d->sides[i], profiles[i], names[i], options, err);
  HEARTH_THEN(status, diff_compare(d, err));
  if (status == HEARTH_OK)
    *ret = d;
  else
    hearth_diff_destroy(d);
  return status;
}

/* By common node: the context of B, plus one; then what A has there. */
static hearth_status sum_by_context(const hearth_diff *d, uint32_t *by_node, hearth_mib *sums, hearth_error *err) {
  const hearth_diff_side *a = &d->sides[HEARTH_DIFF_A], *b = &d->sides[HEARTH_DIFF_B];
  uint32_t node;
  hearth_mib mib;
  for (uint32_t i = 0; i < hearth_profile_context_count(b->profile); i++) {
    HEARTH_TRY(hearth_profile_get_context(b->profile, i, &node, NULL, err));
    by_node[b->nodes[node]] = i + 1;
  }
  for (uint32_t i = 0; i < hearth_profile_context_count(a->profile); i++) {
    HEARTH_TRY(hearth_profile_get_context(a->profile, i, &node, &mib, err));
    if (by_node[a->nodes[node]] == 0)
      continue;
    hearth_fill_live_bytes(&mib);
    hearth_mib_merge(&sums[by_node[a->nodes[node]] - 1], &mib);
  }
  return HEARTH_OK;
}

hearth_status hearth_diff_match_contexts(hearth_profile *const profiles[HEARTH_DIFF_SIDES], hearth_mib **ret,
                                         hearth_error *err) {
  uint32_t *by_node = NULL;
  hearth_diff *d = calloc(1, sizeof *d);
  HEARTH_TRY(hearth_check_memory(d, err));
  d->tells_inlined = true;
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++)
    d->sides[i].profile = profiles[i];
  hearth_status status =
      hearth_array_create(ret, hearth_profile_context_count(profiles[HEARTH_DIFF_B]), sizeof **ret, err);
  HEARTH_THEN(status, diff_match_stacks(d, err));
  HEARTH_THEN(status, hearth_array_create(&by_node, d->nodes.count, sizeof *by_node, err));
  HEARTH_THEN(status, sum_by_context(d, by_node, *ret, err));
  free(by_node);
  hearth_diff_destroy(d);
  if (status != HEARTH_OK) {
    free(*ret);
    *ret = NULL;
  }
  return status;
}

void hearth_diff_destroy(hearth_diff *d) {
  if (!d)
    return;
  for (int i = 0; i < HEARTH_DIFF_SIDES; i++) {
    hearth_selection_destroy(&d->sides[i].selection);
    hearth_names_destroy(&d->sides[i].names);
    free(d->sides[i].nodes);
    free(d->sides[i].next);
  }
  hearth_pair_set_destroy(&d->nodes);
  HEARTH_FREE(d->frame_table.slots, d->frames, d->entries, d);
}
