/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Last step of planning: the bytes of the PLAN section. A walk over all stack nodes, callers first, finds the sites
 * whose bit is always clear when they are called. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "array.h"
#include "choice.h"
#include "compare.h"

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

static hearth_plan_entry entry_of(const plan_tally *t) {
  hearth_plan_entry entry = {.bits = t->bits, .hotness = t->hotness};
  memcpy(entry.bytes, t->sums.bytes, sizeof entry.bytes);
  return entry;
}

/* A leaf's entries; returns their number. */
static uint32_t write_entries(const choosing *c, uint32_t leaf, hearth_plan_entry *ret) {
  uint32_t count = hearth_plan_fill_tallies(c, leaf, c->tallies);
  hearth_plan_decide(c->p, c->tallies, count);
  for (uint32_t i = 0; i < count; i++)
    ret[i] = entry_of(&c->tallies[i]);
  return count;
}

hearth_status hearth_plan_write_section(choosing *c, void **ret, size_t *ret_size) {
  const planner *p = c->p;
  hearth_indexed_plan header = {.site_count = c->chosen_count};
  hearth_plan_entry *entries;
  hearth_plan_table *tables;
  HEARTH_TRY(hearth_array_create(&entries, p->group_count, sizeof *entries, c->p->err));
  hearth_status status = hearth_array_create(&tables, p->leaf_count, sizeof *tables, c->p->err);
  for (uint32_t i = 0; status == HEARTH_OK && i < p->leaf_count; i++) {
    const plan_leaf *leaf = &p->leaves[i];
    tables[header.table_count++] = (hearth_plan_table){.stack_id = leaf->stack_id,
                                                       .mask = c->leaves[i].heeded,
                                                       .frame = leaf->frame,
                                                       .first_entry = header.entry_count};
    header.library_calls += plan_is_library_call(p, leaf);
    header.entry_count += write_entries(c, i, entries + header.entry_count);
  }
  size_t sites_size = c->chosen_count * sizeof(hearth_plan_site), tables_size = header.table_count * sizeof *tables,
         entries_size = header.entry_count * sizeof *entries;
  *ret_size = sizeof header + sites_size + tables_size + entries_size;
  uint8_t *section = NULL;
  if (status == HEARTH_OK)
    status = hearth_array_create(&section, *ret_size, 1, c->p->err);
  if (status == HEARTH_OK) {
    hearth_plan_site *sites = (hearth_plan_site *)(section + sizeof header);
    for (uint32_t i = 0; i < c->chosen_count; i++) {
      const plan_candidate *candidate = &p->candidates[c->chosen[i]];
      sites[i] = (hearth_plan_site){.stack_id = candidate->stack_id,
                                    .allocs = candidate->allocs,
                                    .bytes = c->worth[i],
                                    .frame = candidate->frame,
                                    .bit = c->bits[c->chosen[i]]};
    }
    qsort(sites, c->chosen_count, sizeof *sites, hearth_compare_u64);
    status = find_alone(c, sites);
  }
  if (status == HEARTH_OK) {
    memcpy(section + sizeof header + sites_size, tables, tables_size);
    memcpy(section + sizeof header + sites_size + tables_size, entries, entries_size);
    header.id = XXH3_64bits(section + sizeof header, *ret_size - sizeof header);
    header.id += !header.id;
    memcpy(section, &header, sizeof header);
    *ret = section;
  } else {
    free(section);
  }
  free(entries);
  free(tables);
  return status;
}
