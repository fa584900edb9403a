/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Last step of planning: the bytes of the PLAN section. A walk over all stack nodes, callers first, finds the sites
 * whose bit is always clear when they are called. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "array.h"
#include "compare.h"
#include "planner.h"

/* -------------------------------------------------- the section --------------------------------------------- */

/* Which sites are alone: those whose bit is clear whenever they are called. `sites` are by stack id. */
static hearth_status find_alone(const choosing *c, hearth_plan_site *sites) {
  const writer *w = c->p->w;
  uint32_t users[PLAN_WORD_BITS] = {0};
  uint64_t *words; /* of each stack node: the bits that are set while it is the innermost one */
  HEARTH_TRY(hearth_array_create(&words, w->nodes.count, sizeof *words, c->p->err));
  for (uint32_t i = 0; i < c->chosen_count; i++)
    users[sites[i].bit]++;
  for (uint32_t i = 0; i < c->chosen_count; i++)
    sites[i].is_alone = users[sites[i].bit] == 1;
  for (uint32_t i = 0; i < w->nodes.count; i++) { /* callers come first */
    uint64_t id = c->p->stack_ids[w->node_frames[i]];
    hearth_plan_site *site = bsearch(&id, sites, c->chosen_count, sizeof *sites, hearth_compare_u64);
    uint64_t bit = site ? UINT64_C(1) << site->bit : 0,
             outside = w->parents[i] == HEARTH_NONE ? 0 : words[w->parents[i]];
    words[i] = outside | bit;
    if (outside & bit)
      site->is_alone = false;
  }
  free(words);
  return HEARTH_OK;
}

static hearth_plan_entry plan_section_entry_of(const plan_leaf *leaf, const plan_tally *t) {
  hearth_plan_entry entry = {.bits = t->bits,
                             .right_bytes = t->sums.bytes[t->place],
                             .placement = t->place == PLAN_COLD ? leaf->cold : leaf->warm};
  for (int i = 0; i < PLAN_PLACES; i++)
    entry.bytes += t->sums.bytes[i];
  return entry;
}

/* A leaf's entries; returns their number. */
static uint32_t write_entries(const choosing *c, uint32_t leaf, hearth_plan_entry *ret) {
  uint32_t count = hearth_plan_fill_tallies(c, leaf, c->tallies);
  hearth_plan_decide(c->p, c->tallies, count);
  for (uint32_t i = 0; i < count; i++)
    ret[i] = plan_section_entry_of(&c->p->leaves[leaf], &c->tallies[i]);
  return count;
}

/* Tables and entries, which have room for those of all leaves. Counts them in the header. */
static void write_tables(const choosing *c, hearth_indexed_plan *header, hearth_plan_table *tables,
                         hearth_plan_entry *entries) {
  for (uint32_t i = 0; i < c->p->leaf_count; i++) {
    const plan_leaf *leaf = &c->p->leaves[i];
    tables[header->table_count++] = (hearth_plan_table){.stack_id = leaf->stack_id,
                                                        .mask = c->leaves[i].heeded,
                                                        .frame = leaf->frame,
                                                        .first_entry = header->entry_count};
    header->entry_count += write_entries(c, i, entries + header->entry_count);
  }
}

static hearth_status write_sites(const choosing *c, hearth_plan_site *sites) {
  for (uint32_t i = 0; i < c->chosen_count; i++) {
    const plan_candidate *candidate = &c->p->candidates[c->chosen[i]];
    sites[i] = (hearth_plan_site){.stack_id = candidate->stack_id,
                                  .allocs = candidate->allocs,
                                  .bytes = c->worth[i],
                                  .frame = candidate->frame,
                                  .bit = c->bits[c->chosen[i]]};
  }
  qsort(sites, c->chosen_count, sizeof *sites, hearth_compare_u64);
  return find_alone(c, sites);
}

static uint8_t *plan_section_append(uint8_t *at, const void *rows, size_t size) {
  memcpy(at, rows, size);
  return at + size;
}

/* The section from its parts; the header's id comes last. */
static hearth_status plan_section_join(const choosing *c, hearth_indexed_plan *header, const hearth_plan_table *tables,
                                       const hearth_plan_entry *entries, uint8_t **ret, size_t *ret_size) {
  const planner *p = c->p;
  size_t sites_size = c->chosen_count * sizeof(hearth_plan_site), tables_size = header->table_count * sizeof *tables,
         entries_size = header->entry_count * sizeof *entries, calls_size = p->call_count * sizeof *p->calls,
         placements_size = ((size_t)header->context_count + 7) / 8 * 8;
  *ret_size = sizeof *header + sites_size + tables_size + entries_size + calls_size + placements_size;
  HEARTH_TRY(hearth_array_create(ret, *ret_size, 1, p->err));
  HEARTH_TRY(write_sites(c, (hearth_plan_site *)(*ret + sizeof *header)));
  uint8_t *at = *ret + sizeof *header + sites_size;
  at = plan_section_append(at, tables, tables_size);
  at = plan_section_append(at, entries, entries_size);
  at = plan_section_append(at, p->calls, calls_size);
  plan_section_append(at, p->placements, header->context_count);
  header->id = XXH3_64bits(*ret + sizeof *header, *ret_size - sizeof *header);
  header->id += !header->id;
  memcpy(*ret, header, sizeof *header);
  return HEARTH_OK;
}

hearth_status hearth_plan_write_section(choosing *c, void **ret, size_t *ret_size) {
  const planner *p = c->p;
  hearth_indexed_plan header = {
      .site_count = c->chosen_count, .call_count = p->call_count, .context_count = p->w->contexts.count};
  hearth_plan_entry *entries = NULL;
  hearth_plan_table *tables = NULL;
  uint8_t *section = NULL;
  HEARTH_TRY(hearth_layout_parse(p->options.layout ? p->options.layout : "one", p->call_count, p->has_dormant,
                                 header.pools, p->err));
  hearth_status status = hearth_array_create(&entries, p->group_count, sizeof *entries, p->err);
  if (status == HEARTH_OK)
    status = hearth_array_create(&tables, p->leaf_count, sizeof *tables, p->err);
  if (status == HEARTH_OK) {
    write_tables(c, &header, tables, entries);
    status = plan_section_join(c, &header, tables, entries, &section, ret_size);
  }
  free(entries);
  free(tables);
  if (status == HEARTH_OK)
    *ret = section;
  else
    free(section);
  return status;
}
