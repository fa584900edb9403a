/* Last step of planning: the tables, what of the choice is worth it, and the section. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "plan_choose.h"

/* A block that is wrongly taken for cold costs most: of a cold entry's bytes, and of all accesses of the profile, not more
 * may belong to contexts that are not. */
#define NOT_COLD_PERCENT    5u
#define NOT_COLD_ACCESS_PPM 1000u

/* -------------------------------------------------- entries -------------------------------------------------- */

/* What a leaf allocates while certain bits are set. */
typedef struct tally {
  uint64_t bits;
  plan_sums sums;
} tally;

static int compare_tallies(const void *a, const void *b) {
  const tally *x = a, *y = b;
  return (x->bits > y->bits) - (x->bits < y->bits);
}

/* Those with equal bits become one; returns their number. */
static uint32_t merge_tallies(tally *tallies, uint32_t count) {
  uint32_t kept = 0;
  qsort(tallies, count, sizeof *tallies, compare_tallies);
  for (uint32_t i = 0; i < count; i++)
    if (kept && tallies[kept - 1].bits == tallies[i].bits)
      plan_add_sums(&tallies[kept - 1].sums, &tallies[i].sums);
    else
      tallies[kept++] = tallies[i];
  return kept;
}

/* Of a leaf's units; returns their number. */
static uint32_t fill_tallies(const choosing *c, uint32_t number, tally *tallies) {
  const plan_leaf *leaf = &c->p->leaves[number];
  for (uint32_t i = 0; i < leaf->unit_count; i++) {
    const plan_unit *unit = &c->p->units[leaf->first_unit + i];
    tallies[i] = (tally){.sums = unit->sums};
    for (uint32_t k = 0; k < c->p->sets[unit->set].count; k++)
      if (plan_has(c->leaves[number].uses, plan_candidates_of(c->p, unit)[k]))
        tallies[i].bits |= UINT64_C(1) << c->bits[plan_candidates_of(c->p, unit)[k]];
  }
  return merge_tallies(tallies, leaf->unit_count);
}

static hearth_plan_entry entry_of(const planner *p, const tally *t) {
  const uint64_t *bytes = t->sums.bytes;
  uint64_t sum = bytes[0] + bytes[1] + bytes[2] + bytes[3];
  hearth_plan_entry entry = {.bits = t->bits, .hotness = HEARTH_CLASS_UNKNOWN};
  memcpy(entry.bytes, bytes, sizeof entry.bytes);
  for (uint32_t i = HEARTH_CLASS_NOTCOLD; i <= HEARTH_CLASS_HOT; i++)
    if (bytes[i] > sum - bytes[i])
      entry.hotness = i;
  if (sum > 0 && sum - bytes[HEARTH_CLASS_COLD] <= plan_part_of(sum, NOT_COLD_PERCENT, 100) &&
      t->sums.accesses <= plan_part_of(p->total_accesses, NOT_COLD_ACCESS_PPM, 1000000))
    entry.hotness = HEARTH_CLASS_COLD;
  return entry;
}

/* -------------------------------------------------- pruning -------------------------------------------------- */

typedef struct pruning {
  choosing *c;
  tally *tallies;   /* of all leaves, each leaf's from its first unit's place on */
  uint32_t *counts; /* of each leaf */
  tally *scratch;
} pruning;

static uint64_t misplaced_in(const tally *tallies, uint32_t count) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; i++)
    sum += plan_misplaced(tallies[i].sums.weights);
  return sum;
}

/* What a leaf would lose without a site that it uses. Where that is nothing it is not used any more. */
static uint64_t loss_in(pruning *p, uint32_t leaf, uint32_t site, bool remove) {
  tally *tallies = p->tallies + p->c->p->leaves[leaf].first_unit;
  uint64_t with = misplaced_in(tallies, p->counts[leaf]), bit = UINT64_C(1) << p->c->bits[site];
  memcpy(p->scratch, tallies, p->counts[leaf] * sizeof *tallies);
  for (uint32_t i = 0; i < p->counts[leaf]; i++)
    p->scratch[i].bits &= ~bit;
  uint32_t count = merge_tallies(p->scratch, p->counts[leaf]);
  uint64_t loss = misplaced_in(p->scratch, count) - with;
  if (loss == 0 || remove) {
    plan_remove(p->c->leaves[leaf].uses, site);
    memcpy(tallies, p->scratch, count * sizeof *tallies);
    p->counts[leaf] = count;
  }
  return loss;
}

static uint64_t loss_without(pruning *p, uint32_t site, bool remove) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < p->c->p->leaf_count; i++)
    if (plan_has(p->c->leaves[i].uses, site))
      sum += loss_in(p, i, site, remove);
  return sum;
}

static void prune(pruning *p) {
  choosing *c = p->c;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->p->leaf_count; i++)
    p->counts[i] = fill_tallies(c, i, p->tallies + c->p->leaves[i].first_unit);
  for (uint32_t i = 0; i < c->chosen_count; i++) {
    uint64_t loss = loss_without(p, c->chosen[i], false);
    if (loss > 0 && loss >= c->least)
      c->chosen[kept++] = c->chosen[i];
    else
      loss_without(p, c->chosen[i], true);
  }
  c->chosen_count = kept;
  for (uint32_t i = 0; i < kept; i++)
    c->worth[i] = loss_without(p, c->chosen[i], false);
}

typedef struct plan_bit_use {
  uint64_t allocs; /* of the sites that have the bit */
  uint32_t bit;
} plan_bit_use;

static int compare_by_allocs(const void *a, const void *b) {
  const plan_bit_use *x = a, *y = b;
  return x->allocs != y->allocs ? (x->allocs < y->allocs) - (x->allocs > y->allocs)
                                : (x->bit > y->bit) - (x->bit < y->bit);
}

/* The busiest get the lowest numbers, which take fewer bytes of code. */
static void renumber_bits(choosing *c) {
  plan_bit_use uses[PLAN_WORD_BITS] = {{0}};
  uint32_t rank[PLAN_WORD_BITS];
  for (uint32_t i = 0; i < PLAN_WORD_BITS; i++)
    uses[i].bit = i;
  for (uint32_t i = 0; i < c->chosen_count; i++)
    uses[c->bits[c->chosen[i]]].allocs += 1 + c->p->candidates[c->chosen[i]].allocs;
  qsort(uses, PLAN_WORD_BITS, sizeof *uses, compare_by_allocs);
  for (uint32_t i = 0; i < PLAN_WORD_BITS; i++)
    rank[uses[i].bit] = i;
  for (uint32_t i = 0; i < c->chosen_count; i++)
    c->bits[c->chosen[i]] = rank[c->bits[c->chosen[i]]];
}

/* Those chosen later were chosen in the light of the earlier ones, and may have made them needless. */
hearth_status plan_prune(choosing *c) {
  pruning p = {.c = c};
  hearth_status status = plan_allocate(c, (void **)&p.tallies, c->p->unit_count, sizeof *p.tallies);
  if (status == HEARTH_OK)
    status = plan_allocate(c, (void **)&p.counts, c->p->leaf_count, sizeof *p.counts);
  if (status == HEARTH_OK)
    status = plan_allocate(c, (void **)&p.scratch, c->p->unit_count, sizeof *p.scratch);
  if (status == HEARTH_OK) {
    prune(&p);
    renumber_bits(c);
  }
  free(p.tallies);
  free(p.counts);
  free(p.scratch);
  return status;
}

/* -------------------------------------------------- the section --------------------------------------------- */

/* Which sites are alone: those whose bit is clear whenever they are called. `sites` are by stack id. */
static hearth_status find_alone(const choosing *c, hearth_plan_site *sites) {
  const writer *w = c->p->w;
  uint32_t users[PLAN_WORD_BITS] = {0};
  uint64_t *words; /* of each stack node: the bits that are set while it is the innermost one */
  HEARTH_TRY(plan_allocate(c, (void **)&words, w->nodes.count, sizeof *words));
  for (uint32_t i = 0; i < c->chosen_count; i++)
    users[sites[i].bit]++;
  for (uint32_t i = 0; i < c->chosen_count; i++)
    sites[i].is_alone = users[sites[i].bit] == 1;
  for (uint32_t i = 0; i < w->nodes.count; i++) { /* callers come first */
    uint64_t id = c->p->stack_ids[w->node_frames[i]];
    hearth_plan_site *site = bsearch(&id, sites, c->chosen_count, sizeof *sites, plan_compare_ids);
    uint64_t bit = site ? UINT64_C(1) << site->bit : 0,
             outside = w->parents[i] == HEARTH_NONE ? 0 : words[w->parents[i]];
    words[i] = outside | bit;
    if (outside & bit)
      site->is_alone = false;
  }
  free(words);
  return HEARTH_OK;
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
  tally *tallies = NULL;
  hearth_plan_table *tables;
  HEARTH_TRY(plan_allocate(c, (void **)&entries, p->unit_count, sizeof *entries));
  hearth_status status = plan_allocate(c, (void **)&tables, p->leaf_count, sizeof *tables);
  if (status == HEARTH_OK)
    status = plan_allocate(c, (void **)&tallies, p->unit_count, sizeof *tallies);
  for (uint32_t i = 0; status == HEARTH_OK && i < p->leaf_count; i++) {
    hearth_plan_table table = table_of(c, i, header.entry_count);
    tables[header.table_count++] = table;
    header.library_calls += plan_is_library_call(p, &p->leaves[i]);
    uint32_t count = fill_tallies(c, i, tallies);
    for (uint32_t k = 0; k < count; k++)
      entries[header.entry_count++] = entry_of(p, &tallies[k]);
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
      sites[i] = (hearth_plan_site){.stack_id = candidate->stack_id,
                                    .allocs = candidate->allocs,
                                    .bytes = c->worth[i],
                                    .frame = candidate->frame,
                                    .bit = (uint8_t)c->bits[c->chosen[i]]};
    }
    qsort(sites, c->chosen_count, sizeof *sites, plan_compare_ids);
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
  free(tallies);
  free(tables);
  return status;
}
