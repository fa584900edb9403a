/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes the plan of a profile that is being written, in steps: the placement of each context (placements.c),
 * allocation calls with cold contexts and others (leaves.c), the call sites that tell these apart (sites.c), and the
 * bytes of the PLAN section. A walk over all stack nodes, callers first, finds the sites whose bit is always clear
 * when they are called. */
#include "planner.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "array.h"
#include "hearth/status.h"

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
  HEARTH_TRY(hearth_plan_find_leaves(p));
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
