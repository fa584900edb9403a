/* Last step of planning: the tables, what of the choice is worth it, and the section. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "plan_choose.h"

#define CERTAIN_PERCENT 95u /* of an entry's bytes that have to be of one class for it to be the entry's */

/* -------------------------------------------------- entries -------------------------------------------------- */

static int compare_entries(const void *a, const void *b) {
  const hearth_plan_entry *x = a, *y = b;
  return (x->bits > y->bits) - (x->bits < y->bits);
}

static uint32_t class_of(const uint64_t bytes[4]) {
  uint64_t sum = bytes[0] + bytes[1] + bytes[2] + bytes[3];
  for (uint32_t i = 1; i < 4; i++)
    if (bytes[i] && bytes[i] >= sum - sum / 100 * (100 - CERTAIN_PERCENT))
      return i;
  return HEARTH_CLASS_UNKNOWN;
}

/* One entry a unit, then those with equal bits made one; returns their number. */
static uint32_t fill_entries(const choosing *c, uint32_t number, hearth_plan_entry *entries) {
  const plan_leaf *leaf = &c->p->leaves[number];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < leaf->unit_count; i++) {
    const plan_unit *unit = &c->p->units[leaf->first_unit + i];
    entries[i] = (hearth_plan_entry){.bits = 0};
    memcpy(entries[i].bytes, unit->bytes, sizeof unit->bytes);
    for (uint32_t k = 0; k < c->p->sets[unit->set].count; k++)
      if (plan_has(c->leaves[number].uses, plan_candidates_of(c->p, unit)[k]))
        entries[i].bits |= UINT64_C(1) << c->bits[plan_candidates_of(c->p, unit)[k]];
  }
  qsort(entries, leaf->unit_count, sizeof *entries, compare_entries);
  for (uint32_t i = 0; i < leaf->unit_count; i++)
    if (kept && entries[kept - 1].bits == entries[i].bits)
      plan_add_bytes(entries[kept - 1].bytes, entries[i].bytes);
    else
      entries[kept++] = entries[i];
  for (uint32_t i = 0; i < kept; i++)
    entries[i].hotness = class_of(entries[i].bytes);
  return kept;
}

/* -------------------------------------------------- pruning -------------------------------------------------- */

/* Bytes of a leaf that are misplaced with the sites it uses. */
static uint64_t left_in(const choosing *c, uint32_t number, hearth_plan_entry *scratch) {
  uint64_t sum = 0;
  for (uint32_t i = 0, count = fill_entries(c, number, scratch); i < count; i++)
    sum += plan_misplaced(scratch[i].bytes);
  return sum;
}

/* What a leaf would lose without a site that it uses. */
static uint64_t loss_in(choosing *c, uint32_t number, uint32_t site, hearth_plan_entry *scratch) {
  uint64_t with = left_in(c, number, scratch);
  plan_remove(c->leaves[number].uses, site);
  uint64_t without = left_in(c, number, scratch);
  plan_put(c->leaves[number].uses, site);
  return without - with;
}

/* In all leaves; those to which it is worth nothing no longer use it. */
static uint64_t total_loss(choosing *c, uint32_t site, hearth_plan_entry *scratch) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < c->p->leaf_count; i++) {
    uint64_t loss = plan_has(c->leaves[i].uses, site) ? loss_in(c, i, site, scratch) : 0;
    if (loss == 0)
      plan_remove(c->leaves[i].uses, site);
    sum += loss;
  }
  return sum;
}

/* Those chosen later were chosen in the light of the earlier ones, and may have made them needless. */
hearth_status plan_prune(choosing *c) {
  hearth_plan_entry *scratch;
  uint32_t kept = 0;
  HEARTH_TRY(plan_allocate(c, (void **)&scratch, c->p->unit_count, sizeof *scratch));
  for (uint32_t i = 0; i < c->chosen_count; i++) {
    uint32_t site = c->chosen[i];
    uint64_t loss = total_loss(c, site, scratch);
    if (loss > 0 && loss >= c->least)
      c->chosen[kept++] = site;
    else
      for (uint32_t k = 0; k < c->p->leaf_count; k++)
        plan_remove(c->leaves[k].uses, site);
  }
  c->chosen_count = kept;
  for (uint32_t i = 0; i < kept; i++)
    c->worth[i] = total_loss(c, c->chosen[i], scratch);
  free(scratch);
  return HEARTH_OK;
}

/* -------------------------------------------------- the section --------------------------------------------- */

static int compare_sites(const void *a, const void *b) {
  const hearth_plan_site *x = a, *y = b;
  return (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

static hearth_plan_table table_of(const choosing *c, uint32_t number, uint32_t first_entry) {
  const plan_leaf *leaf = &c->p->leaves[number];
  hearth_plan_table table = {.stack_id = leaf->stack_id, .frame = leaf->frame, .first_entry = first_entry};
  for (uint32_t i = 0; i < c->chosen_count; i++)
    if (plan_has(c->leaves[number].uses, c->chosen[i]))
      table.mask |= UINT64_C(1) << c->bits[c->chosen[i]];
  return table;
}

hearth_status plan_write_section(choosing *c, void **ret, size_t *ret_size) {
  const planner *p = c->p;
  hearth_indexed_plan header = {.site_count = c->chosen_count};
  hearth_plan_entry *entries;
  hearth_plan_table *tables;
  HEARTH_TRY(plan_allocate(c, (void **)&entries, p->unit_count, sizeof *entries));
  hearth_status status = plan_allocate(c, (void **)&tables, p->leaf_count, sizeof *tables);
  for (uint32_t i = 0; status == HEARTH_OK && i < p->leaf_count; i++) {
    hearth_plan_table table = table_of(c, i, header.entry_count);
    tables[header.table_count++] = table;
    header.entry_count += fill_entries(c, i, entries + header.entry_count);
  }
  size_t sites_size = c->chosen_count * sizeof(hearth_plan_site), tables_size = header.table_count * sizeof *tables,
         entries_size = header.entry_count * sizeof *entries;
  *ret_size = sizeof header + sites_size + tables_size + entries_size;
  uint8_t *section = NULL;
  if (status == HEARTH_OK)
    status = plan_allocate(c, (void **)&section, *ret_size, 1);
  if (status == HEARTH_OK) {
    hearth_plan_site *sites = (hearth_plan_site *)(section + sizeof header);
    for (uint32_t i = 0; i < c->chosen_count; i++) {
      const plan_candidate *candidate = &p->candidates[c->chosen[i]];
      sites[i] = (hearth_plan_site){candidate->stack_id, candidate->allocs, c->worth[i], candidate->frame,
                                    c->bits[c->chosen[i]]};
    }
    qsort(sites, c->chosen_count, sizeof *sites, compare_sites);
    memcpy(section + sizeof header + sites_size, tables, tables_size);
    memcpy(section + sizeof header + sites_size + tables_size, entries, entries_size);
    header.id = XXH3_64bits(section + sizeof header, *ret_size - sizeof header);
    header.id += !header.id;
    memcpy(section, &header, sizeof header);
    *ret = section;
  }
  free(entries);
  free(tables);
  return status;
}
