/* Last step of planning: the sites, their bits, the tables. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "plan_internal.h"

#define WORD_BITS       64u
#define CERTAIN_PERCENT 95u /* of an entry's bytes that have to be of one class for it to be the entry's */

/* A candidate as one leaf sees it. */
typedef struct opinion {
  uint32_t candidate;
  uint64_t gain; /* bytes of the leaf that it would put right */
} opinion;

typedef struct leaf_state {
  uint64_t *uses; /* bitmap over candidates: sites that its units are told apart by */
  uint64_t *sees; /* those that its units go through */
  opinion *opinions;
  uint32_t opinion_count;
} leaf_state;

typedef struct choosing {
  planner *p;
  size_t words; /* of a bitmap */
  leaf_state *leaves;
  uint32_t *groups; /* of each unit: units of a leaf that are told apart have different ones */
  uint64_t *gains;  /* of each candidate, in all leaves */
  uint8_t *states;  /* of each candidate */
  uint32_t *bits;   /* of each chosen one */
  uint32_t *chosen; /* in the order they were chosen in */
  uint64_t *chosen_gains;
  uint32_t chosen_count;
  uint32_t *order; /* scratch: units of a leaf by group */
  struct {
    uint64_t bytes[4];
    bool seen;
  } * inside;        /* scratch: of a group's units that go through each candidate */
  uint32_t *touched; /* scratch: candidates that are `seen` */
} choosing;

enum { FREE, CHOSEN, NO_BIT_LEFT };

static hearth_status allocate(choosing *c, void **ret, size_t count, size_t item_size) {
  *ret = calloc(count + 1, item_size);
  return *ret ? HEARTH_OK : hearth_error_set(c->p->err, HEARTH_E_NOMEM, "out of memory planning");
}

static bool has(const uint64_t *bitmap, uint32_t i) { return bitmap[i / 64] >> i % 64 & 1; }
static void put(uint64_t *bitmap, uint32_t i) { bitmap[i / 64] |= UINT64_C(1) << i % 64; }

static const uint32_t *candidates_of(const planner *p, const plan_unit *unit) {
  return p->members + p->sets[unit->set].first;
}

/* -------------------------------------------------- gains --------------------------------------------------- */

/* Bytes that are not of the most common class. */
static uint64_t misplaced(const uint64_t bytes[4]) {
  uint64_t sum = 0, most = 0;
  for (int i = 0; i < 4; i++) {
    sum += bytes[i];
    most = bytes[i] > most ? bytes[i] : most;
  }
  return sum - most;
}

static void add_bytes(uint64_t to[4], const uint64_t from[4]) {
  for (int i = 0; i < 4; i++)
    to[i] += from[i];
}

/* What each candidate would put right among units that are not told apart yet. */
static void judge_group(choosing *c, const uint32_t *units, uint32_t count, uint64_t *gains) {
  const planner *p = c->p;
  uint64_t all[4] = {0};
  uint32_t touched = 0;
  for (uint32_t i = 0; i < count; i++)
    add_bytes(all, p->units[units[i]].bytes);
  if (misplaced(all) == 0)
    return;
  for (uint32_t i = 0; i < count; i++) {
    const plan_unit *unit = &p->units[units[i]];
    for (uint32_t k = 0; k < p->sets[unit->set].count; k++) {
      uint32_t candidate = candidates_of(p, unit)[k];
      if (!c->inside[candidate].seen) {
        memset(&c->inside[candidate], 0, sizeof c->inside[candidate]);
        c->inside[candidate].seen = true;
        c->touched[touched++] = candidate;
      }
      add_bytes(c->inside[candidate].bytes, unit->bytes);
    }
  }
  while (touched > 0) {
    uint32_t candidate = c->touched[--touched];
    uint64_t outside[4];
    for (int i = 0; i < 4; i++)
      outside[i] = all[i] - c->inside[candidate].bytes[i];
    gains[candidate] += misplaced(all) - misplaced(c->inside[candidate].bytes) - misplaced(outside);
    c->inside[candidate].seen = false;
  }
}

typedef struct grouped_unit {
  uint32_t group, unit;
} grouped_unit;

static int compare_grouped(const void *a, const void *b) {
  const grouped_unit *x = a, *y = b;
  return x->group != y->group ? (x->group > y->group) - (x->group < y->group)
                              : (x->unit > y->unit) - (x->unit < y->unit);
}

/* The units of a leaf in `order`, those of one group together. */
static hearth_status sort_units(choosing *c, const plan_leaf *leaf) {
  grouped_unit *units;
  HEARTH_TRY(allocate(c, (void **)&units, leaf->unit_count, sizeof *units));
  for (uint32_t i = 0; i < leaf->unit_count; i++)
    units[i] = (grouped_unit){c->groups[leaf->first_unit + i], leaf->first_unit + i};
  qsort(units, leaf->unit_count, sizeof *units, compare_grouped);
  for (uint32_t i = 0; i < leaf->unit_count; i++)
    c->order[i] = units[i].unit;
  free(units);
  return HEARTH_OK;
}

/* Renew what a leaf thinks of the candidates. */
static hearth_status judge_leaf(choosing *c, uint32_t number) {
  const plan_leaf *leaf = &c->p->leaves[number];
  leaf_state *state = &c->leaves[number];
  uint64_t *gains;
  for (uint32_t i = 0; i < state->opinion_count; i++)
    c->gains[state->opinions[i].candidate] -= state->opinions[i].gain;
  state->opinion_count = 0;
  HEARTH_TRY(sort_units(c, leaf));
  HEARTH_TRY(allocate(c, (void **)&gains, c->p->candidate_count, sizeof *gains));
  for (uint32_t i = 0, end; i < leaf->unit_count; i = end) {
    for (end = i; end < leaf->unit_count && c->groups[c->order[end]] == c->groups[c->order[i]]; end++)
      ;
    judge_group(c, c->order + i, end - i, gains);
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->p->candidate_count; i++)
    count += gains[i] > 0;
  free(state->opinions);
  hearth_status status = allocate(c, (void **)&state->opinions, count, sizeof *state->opinions);
  for (uint32_t i = 0; status == HEARTH_OK && i < c->p->candidate_count; i++)
    if (gains[i] > 0) {
      state->opinions[state->opinion_count++] = (opinion){i, gains[i]};
      c->gains[i] += gains[i];
    }
  free(gains);
  return status;
}

/* ------------------------------------------------- choosing ------------------------------------------------- */

static bool wants(const leaf_state *leaf, uint32_t candidate) {
  for (uint32_t i = 0; i < leaf->opinion_count; i++)
    if (leaf->opinions[i].candidate == candidate)
      return true;
  return false;
}

/* Can two sites share a bit? Not if a leaf that is to heed one of them sees the other. */
static bool can_share(const choosing *c, uint32_t site, uint32_t other) {
  for (size_t i = 0; i < c->p->leaf_count; i++) {
    const leaf_state *leaf = &c->leaves[i];
    bool heeds = has(leaf->uses, site) || wants(leaf, site);
    if ((heeds && has(leaf->sees, other)) || (has(leaf->uses, other) && has(leaf->sees, site)))
      return false;
  }
  return true;
}

static bool bit_is_free(const choosing *c, uint32_t site, uint32_t bit) {
  for (uint32_t i = 0; i < c->chosen_count; i++)
    if (c->chosen[i] != site && c->bits[c->chosen[i]] == bit && !can_share(c, site, c->chosen[i]))
      return false;
  return true;
}

static uint32_t find_bit(const choosing *c, uint32_t site) {
  if (c->states[site] == CHOSEN) /* for more leaves than before */
    return bit_is_free(c, site, c->bits[site]) ? c->bits[site] : WORD_BITS;
  for (uint32_t bit = 0; bit < WORD_BITS; bit++)
    if (bit_is_free(c, site, bit))
      return bit;
  return WORD_BITS;
}

/* Bytes that are put right for each time the site runs. A site that was chosen already costs nothing more. Among equals
 * the outermost: it runs least often. */
static bool is_better(const choosing *c, uint32_t a, uint32_t b) {
  const plan_candidate *x = &c->p->candidates[a], *y = &c->p->candidates[b];
  double cost_x = c->states[a] == CHOSEN ? 0 : (double)x->allocs,
         cost_y = c->states[b] == CHOSEN ? 0 : (double)y->allocs;
  double left = (double)c->gains[a] * (cost_y + 1), right = (double)c->gains[b] * (cost_x + 1);
  if (left != right)
    return left > right;
  return x->depth != y->depth ? x->depth > y->depth : a < b;
}

static uint32_t best_candidate(const choosing *c) {
  uint64_t least = c->p->total_bytes / 1000000 * c->p->options.min_gain_ppm;
  uint32_t best = HEARTH_NONE;
  for (uint32_t i = 0; i < c->p->candidate_count; i++) {
    if (c->states[i] == NO_BIT_LEFT || c->gains[i] == 0 || c->gains[i] < least)
      continue;
    if (c->states[i] == FREE && c->chosen_count >= c->p->options.max_sites)
      continue;
    if (best == HEARTH_NONE || is_better(c, i, best))
      best = i;
  }
  return best;
}

/* Units that go through the site become groups of their own. */
static void part_groups(choosing *c, uint32_t number, uint32_t site) {
  const plan_leaf *leaf = &c->p->leaves[number];
  uint32_t next = 0;
  for (uint32_t i = 0; i < leaf->unit_count; i++)
    next = c->groups[leaf->first_unit + i] >= next ? c->groups[leaf->first_unit + i] + 1 : next;
  for (uint32_t i = 0; i < leaf->unit_count; i++) {
    const plan_unit *unit = &c->p->units[leaf->first_unit + i];
    for (uint32_t k = 0; k < c->p->sets[unit->set].count; k++)
      if (candidates_of(c->p, unit)[k] == site)
        c->groups[leaf->first_unit + i] += next;
  }
}

/* Group numbers stay small. */
static hearth_status renumber_groups(choosing *c, uint32_t number) {
  const plan_leaf *leaf = &c->p->leaves[number];
  HEARTH_TRY(sort_units(c, leaf));
  uint32_t group = 0, previous = 0;
  for (uint32_t i = 0; i < leaf->unit_count; i++) {
    uint32_t own = c->groups[c->order[i]];
    group += i > 0 && own != previous;
    previous = own;
    c->groups[c->order[i]] = group;
  }
  return HEARTH_OK;
}

static hearth_status take(choosing *c, uint32_t site, uint32_t bit) {
  if (c->states[site] == FREE) {
    c->states[site] = CHOSEN;
    c->bits[site] = bit;
    c->chosen_gains[c->chosen_count] = 0;
    c->chosen[c->chosen_count++] = site;
  }
  for (uint32_t i = 0; i < c->chosen_count; i++)
    if (c->chosen[i] == site)
      c->chosen_gains[i] += c->gains[site];
  for (uint32_t i = 0; i < c->p->leaf_count; i++) {
    if (!wants(&c->leaves[i], site))
      continue;
    put(c->leaves[i].uses, site);
    part_groups(c, i, site);
    HEARTH_TRY(renumber_groups(c, i));
    HEARTH_TRY(judge_leaf(c, i));
  }
  return HEARTH_OK;
}

static hearth_status choose(choosing *c) {
  for (uint32_t i = 0; i < c->p->leaf_count; i++)
    HEARTH_TRY(judge_leaf(c, i));
  for (uint32_t site; (site = best_candidate(c)) != HEARTH_NONE;) {
    uint32_t bit = find_bit(c, site);
    if (bit < WORD_BITS)
      HEARTH_TRY(take(c, site, bit));
    else
      c->states[site] = NO_BIT_LEFT;
  }
  return HEARTH_OK;
}

/* -------------------------------------------------- the section --------------------------------------------- */

static int compare_sites(const void *a, const void *b) {
  const hearth_plan_site *x = a, *y = b;
  return (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

static int compare_entries(const void *a, const void *b) {
  const hearth_plan_entry *x = a, *y = b;
  return (x->bits > y->bits) - (x->bits < y->bits);
}

static uint32_t class_of(const uint64_t bytes[4]) {
  uint64_t sum = bytes[0] + bytes[1] + bytes[2] + bytes[3];
  for (uint32_t i = 1; i < 4; i++)
    if (bytes[i] && bytes[i] >= sum / 100 * CERTAIN_PERCENT)
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
      if (has(c->leaves[number].uses, candidates_of(c->p, unit)[k]))
        entries[i].bits |= UINT64_C(1) << c->bits[candidates_of(c->p, unit)[k]];
  }
  qsort(entries, leaf->unit_count, sizeof *entries, compare_entries);
  for (uint32_t i = 0; i < leaf->unit_count; i++)
    if (kept && entries[kept - 1].bits == entries[i].bits)
      add_bytes(entries[kept - 1].bytes, entries[i].bytes);
    else
      entries[kept++] = entries[i];
  for (uint32_t i = 0; i < kept; i++)
    entries[i].hotness = class_of(entries[i].bytes);
  return kept;
}

static hearth_plan_table table_of(const choosing *c, uint32_t number, uint32_t first_entry) {
  const plan_leaf *leaf = &c->p->leaves[number];
  hearth_plan_table table = {.stack_id = leaf->stack_id, .frame = leaf->frame, .first_entry = first_entry};
  for (uint32_t i = 0; i < c->chosen_count; i++)
    if (has(c->leaves[number].uses, c->chosen[i]))
      table.mask |= UINT64_C(1) << c->bits[c->chosen[i]];
  return table;
}

static hearth_status write_section(choosing *c, void **ret, size_t *ret_size) {
  const planner *p = c->p;
  hearth_indexed_plan header = {.site_count = c->chosen_count};
  hearth_plan_entry *entries;
  hearth_plan_table *tables;
  HEARTH_TRY(allocate(c, (void **)&entries, p->unit_count, sizeof *entries));
  hearth_status status = allocate(c, (void **)&tables, p->leaf_count, sizeof *tables);
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
    status = allocate(c, (void **)&section, *ret_size, 1);
  if (status == HEARTH_OK) {
    hearth_plan_site *sites = (hearth_plan_site *)(section + sizeof header);
    for (uint32_t i = 0; i < c->chosen_count; i++) {
      const plan_candidate *candidate = &p->candidates[c->chosen[i]];
      sites[i] = (hearth_plan_site){candidate->stack_id, candidate->allocs, c->chosen_gains[i], candidate->frame,
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

static hearth_status prepare(choosing *c) {
  const planner *p = c->p;
  c->words = (p->candidate_count + 63) / 64;
  HEARTH_TRY(allocate(c, (void **)&c->leaves, p->leaf_count, sizeof *c->leaves));
  HEARTH_TRY(allocate(c, (void **)&c->groups, p->unit_count, sizeof *c->groups));
  HEARTH_TRY(allocate(c, (void **)&c->order, p->unit_count, sizeof *c->order));
  HEARTH_TRY(allocate(c, (void **)&c->gains, p->candidate_count, sizeof *c->gains));
  HEARTH_TRY(allocate(c, (void **)&c->states, p->candidate_count, sizeof *c->states));
  HEARTH_TRY(allocate(c, (void **)&c->bits, p->candidate_count, sizeof *c->bits));
  HEARTH_TRY(allocate(c, (void **)&c->chosen, p->candidate_count, sizeof *c->chosen));
  HEARTH_TRY(allocate(c, (void **)&c->chosen_gains, p->candidate_count, sizeof *c->chosen_gains));
  HEARTH_TRY(allocate(c, (void **)&c->inside, p->candidate_count, sizeof *c->inside));
  HEARTH_TRY(allocate(c, (void **)&c->touched, p->candidate_count, sizeof *c->touched));
  for (uint32_t i = 0; i < p->leaf_count; i++) {
    HEARTH_TRY(allocate(c, (void **)&c->leaves[i].uses, c->words, sizeof(uint64_t)));
    HEARTH_TRY(allocate(c, (void **)&c->leaves[i].sees, c->words, sizeof(uint64_t)));
    for (uint32_t k = 0; k < p->leaves[i].unit_count; k++) {
      const plan_unit *unit = &p->units[p->leaves[i].first_unit + k];
      for (uint32_t m = 0; m < p->sets[unit->set].count; m++)
        put(c->leaves[i].sees, candidates_of(p, unit)[m]);
    }
  }
  return HEARTH_OK;
}

static void release(choosing *c) {
  for (uint32_t i = 0; c->leaves && i < c->p->leaf_count; i++) {
    free(c->leaves[i].uses);
    free(c->leaves[i].sees);
    free(c->leaves[i].opinions);
  }
  free(c->leaves);
  free(c->groups);
  free(c->order);
  free(c->gains);
  free(c->states);
  free(c->bits);
  free(c->chosen);
  free(c->chosen_gains);
  free(c->inside);
  free(c->touched);
}

hearth_status plan_choose(planner *p, void **ret_section, size_t *ret_size) {
  choosing c = {.p = p};
  *ret_section = NULL;
  hearth_status status = prepare(&c);
  if (status == HEARTH_OK)
    status = choose(&c);
  if (status == HEARTH_OK)
    status = write_section(&c, ret_section, ret_size);
  release(&c);
  return status;
}
