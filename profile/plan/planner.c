/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes the plan of a profile that is being written, in steps: the placement of each context (placements.c),
 * allocation calls with cold contexts and others, the call sites that tell these apart (sites.c), and the
 * bytes of the PLAN section. A walk over all stack nodes, callers first, finds the sites whose bit is always clear
 * when they are called. */
#include "planner.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "array.h"
#include "hearth/status.h"

/* ------------------------------------------------- leaves -------------------------------------------------- */

/* Allocation calls with cold contexts and others. Where contexts agree the compiler gives the hint. */

#define CONTEXTS_MAX 100000u /* of all allocation calls but the one that matters most */

static hearth_status leaf_add_contexts(planner *p, uint32_t frame) {
  const writer *w = p->w;
  for (uint32_t i = plan_first_row(p, frame); i < w->context_ends[frame]; i++) {
    const plan_row *row = &p->rows[i];
    if (row->is_light)
      continue;
    HEARTH_TRY(hearth_rows_reserve(&p->contexts, &p->context_room, p->context_count, 1, sizeof *p->contexts, p->err));
    p->contexts[p->context_count++] = (plan_context){.caller = w->parents[w->leaves[w->contexts.order[i]]],
                                                     .bytes = row->bytes,
                                                     .allocs = row->allocs,
                                                     .accesses = row->accesses,
                                                     .is_cold = plan_lies_apart(p->placements[i])};
  }
  return HEARTH_OK;
}

/* Contexts of one allocation call that do not lie apart share a placement, unless it has no pool id and classes are
 * all that is known: then most of their bytes decide. The others share one, too. */
static void set_placements(const planner *p, size_t first, size_t end, plan_leaf *leaf) {
  uint64_t bytes[HEARTH_PLACEMENTS] = {0};
  leaf->warm = HEARTH_CLASS_NOTCOLD;
  leaf->cold = HEARTH_CLASS_COLD;
  for (size_t k = first; k < end; k++) {
    uint32_t frame = p->leaf_frames[k].frame;
    for (uint32_t i = plan_first_row(p, frame); i < p->w->context_ends[frame]; i++) {
      bytes[p->placements[i]] += p->rows[i].bytes;
      if (p->placements[i] == HEARTH_PLACEMENT_DORMANT)
        leaf->cold = HEARTH_PLACEMENT_DORMANT;
    }
  }
  for (hearth_placement i = HEARTH_CLASS_NOTCOLD; i < HEARTH_PLACEMENT_DORMANT; i++)
    leaf->warm = bytes[i] > bytes[leaf->warm] ? i : leaf->warm;
}

static bool leaf_contexts_differ(const planner *p, const plan_leaf *leaf) {
  const plan_context *contexts = p->contexts + leaf->first_context;
  for (size_t i = 1; i < leaf->context_count; i++)
    if (contexts[i].is_cold != contexts[0].is_cold)
      return true;
  return false;
}

static hearth_status add_leaves(planner *p) {
  for (size_t i = 0, end; i < p->leaf_frame_count; i = end) {
    size_t first = p->context_count;
    end = hearth_plan_end_of_leaf(p, i);
    if (p->leaf_frames[i].id == 0)
      continue;
    for (size_t k = i; k < end; k++)
      HEARTH_TRY(leaf_add_contexts(p, p->leaf_frames[k].frame));
    plan_leaf leaf = {.stack_id = p->leaf_frames[i].id,
                      .frame = p->leaf_frames[i].frame,
                      .first_context = (uint32_t)first,
                      .context_count = (uint32_t)(p->context_count - first)};
    set_placements(p, i, end, &leaf);
    if (!leaf_contexts_differ(p, &leaf)) {
      p->context_count = first;
      continue;
    }
    HEARTH_TRY(hearth_rows_reserve(&p->leaves, &p->leaf_room, p->leaf_count, 1, sizeof *p->leaves, p->err));
    plan_sums all = {0};
    for (size_t k = first; k < p->context_count; k++)
      plan_add_context(&all, &p->contexts[k]);
    leaf.is_cold = plan_is_mostly_cold(p, &all);
    p->leaves[p->leaf_count++] = leaf;
  }
  return HEARTH_OK;
}

static uint64_t at_stake(const planner *p, const plan_leaf *leaf) {
  uint64_t weights[2] = {0};
  for (uint32_t i = 0; i < leaf->context_count; i++) {
    const plan_context *context = &p->contexts[leaf->first_context + i];
    weights[context->is_cold] += plan_context_weight(p, context);
  }
  return weights[0] < weights[1] ? weights[0] : weights[1];
}

static int compare_by_stake(const void *a, const void *b) {
  const plan_leaf *x = a, *y = b;
  return x->at_stake != y->at_stake ? (x->at_stake < y->at_stake) - (x->at_stake > y->at_stake)
                                    : (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

/* Of a profile with very many contexts, the allocation calls whose hints matter most, so that planning takes no longer
 * than indexing. */
static void keep_what_matters(planner *p) {
  size_t kept = 0, contexts = 0;
  if (p->context_count <= CONTEXTS_MAX)
    return;
  for (size_t i = 0; i < p->leaf_count; i++)
    p->leaves[i].at_stake = at_stake(p, &p->leaves[i]);
  qsort(p->leaves, p->leaf_count, sizeof *p->leaves, compare_by_stake);
  while (kept < p->leaf_count && (kept == 0 || contexts + p->leaves[kept].context_count <= CONTEXTS_MAX))
    contexts += p->leaves[kept++].context_count;
  p->leaf_count = kept;
  qsort(p->leaves, p->leaf_count, sizeof *p->leaves, hearth_compare_u64);
}

static hearth_status find_leaves(planner *p) {
  HEARTH_TRY(add_leaves(p));
  keep_what_matters(p);
  return HEARTH_OK;
}

/* ------------------------------------------------- bytes --------------------------------------------------- */

/* A site is alone unless a stack has it twice. */
static hearth_status find_alone(planner *p) {
  const writer *w = p->w;
  uint64_t *words; /* of each stack node: the bits that are set while it is the innermost one */
  HEARTH_TRY(hearth_array_create(&words, w->nodes.count, sizeof *words, p->err));
  for (uint32_t i = 0; i < p->site_count; i++)
    p->sites[i].is_alone = 1;
  for (uint32_t i = 0; p->site_count > 0 && i < w->nodes.count; i++) { /* callers come first */
    uint64_t id = p->stack_ids[w->node_frames[i]];
    hearth_plan_site *site = bsearch(&id, p->sites, p->site_count, sizeof *p->sites, hearth_compare_u64);
    uint64_t bit = site ? UINT64_C(1) << site->bit : 0,
             outside = w->parents[i] == HEARTH_NONE ? 0 : words[w->parents[i]];
    words[i] = outside | bit;
    if (outside & bit)
      site->is_alone = 0;
  }
  free(words);
  return HEARTH_OK;
}

static hearth_plan_table planner_table_of(const planner *p, const plan_leaf *leaf) {
  hearth_plan_table table = {.stack_id = leaf->stack_id,
                             .frame = leaf->frame,
                             .placements = {leaf->is_cold ? leaf->cold : leaf->warm, leaf->cold}};
  for (uint32_t i = leaf->first_context; i < leaf->first_context + leaf->context_count; i++) {
    const plan_context *context = &p->contexts[i];
    bool is_set = context->bits != 0, is_right = context->is_cold == (is_set || leaf->is_cold);
    table.mask |= context->bits;
    table.bytes[is_set] = hearth_merge_SUM(table.bytes[is_set], context->bytes);
    table.right_bytes[is_set] = hearth_merge_SUM(table.right_bytes[is_set], is_right ? context->bytes : 0);
  }
  return table;
}

static uint8_t *planner_append(uint8_t *at, const void *rows, size_t size) {
  memcpy(at, rows, size);
  return at + size;
}

static hearth_status write_section(const planner *p, writer_section *ret) {
  hearth_indexed_plan header = {.site_count = p->site_count,
                                .table_count = (uint32_t)p->leaf_count,
                                .call_count = p->call_count,
                                .context_count = p->w->contexts.count};
  size_t sites_size = p->site_count * sizeof(hearth_plan_site), tables_size = p->leaf_count * sizeof(hearth_plan_table),
         calls_size = p->call_count * sizeof *p->calls, placements_size = ((size_t)header.context_count + 7) / 8 * 8,
         size = sizeof header + sites_size + tables_size + calls_size + placements_size;
  uint8_t *section;
  HEARTH_TRY(hearth_layout_parse(p->options.layout ? p->options.layout : "one", p->call_count, p->has_dormant,
                                 header.pools, p->err));
  HEARTH_TRY(hearth_array_create(&section, size, 1, p->err));
  uint8_t *at = section + sizeof header;
  at = planner_append(at, p->sites, sites_size);
  for (size_t i = 0; i < p->leaf_count; i++) {
    const hearth_plan_table table = planner_table_of(p, &p->leaves[i]);
    at = planner_append(at, &table, sizeof table);
  }
  at = planner_append(at, p->calls, calls_size);
  planner_append(at, p->placements, header.context_count);
  header.id = XXH3_64bits(section + sizeof header, size - sizeof header); /* of all that is behind it */
  header.id += !header.id;
  memcpy(section, &header, sizeof header);
  *ret = (writer_section){section, size, 1};
  return HEARTH_OK;
}

static hearth_status make_section(planner *p, writer_section *ret) {
  HEARTH_TRY(hearth_plan_place_contexts(p));
  if (p->is_empty)
    return HEARTH_OK;
  HEARTH_TRY(find_leaves(p));
  HEARTH_TRY(hearth_plan_choose_sites(p));
  HEARTH_TRY(find_alone(p));
  return write_section(p, ret);
}

static hearth_status make_plan(const writer *w, const void *state, writer_section *ret) {
  planner p = {.w = w, .err = w->err};
  HEARTH_TRY(hearth_options_take(&p.options, sizeof p.options, state, w->err));
  HEARTH_TRY(hearth_options_take(&p.classify, sizeof p.classify, p.options.classify, w->err));
  hearth_status status = make_section(&p, ret);
  HEARTH_FREE(p.stack_ids, p.may_be_site, p.leaf_frames, p.rows, p.placements, p.leaves, p.contexts);
  return status;
}

hearth_status hearth_builder_write_planned(hearth_builder *builder, const hearth_plan_options *options, void **ret_data,
                                           size_t *ret_size, hearth_error *err) {
  return hearth_writer_write(builder, make_plan, options, ret_data, ret_size, err);
}
