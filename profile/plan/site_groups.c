/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Third step of planning: contexts of one allocation call that go through the same candidates form a group. Every
 * stack node gets the set of candidates among its frames: its caller's set, and perhaps one more. Sets are interned,
 * and so are the steps from one to the next. */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "array.h"
#include "compare.h"
#include "planner.h"

#define MEMBERS_MAX (16u << 20) /* of all sets together: further ones stay as large as they are */

typedef struct step {
  uint32_t set, candidate;
  uint32_t result; /* the set with the candidate */
} step;

typedef struct uniting {
  planner *p;
  uint32_t *candidate_of; /* of each frame; HEARTH_NONE: it is none */
  uint32_t *set_of;       /* of each stack node: of it and its callers */
  id_table set_table, step_table, group_table;
  step *steps;
  size_t step_count, step_room;
} uniting;

/* -------------------------------------------------- sets ---------------------------------------------------- */

static const uint32_t *members_of(const planner *p, uint32_t set) { return p->members + p->sets[set].first; }

typedef struct set_key {
  const uint32_t *members;
  uint32_t count;
} set_key;

static bool is_set(const void *owner, uint32_t item, const void *key) {
  const planner *p = owner;
  const set_key *k = key;
  return p->sets[item].count == k->count && memcmp(members_of(p, item), k->members, k->count * sizeof *k->members) == 0;
}

static bool is_step(const void *owner, uint32_t item, const void *key) {
  const step *steps = owner, *k = key;
  return steps[item].set == k->set && steps[item].candidate == k->candidate;
}

static uint64_t mark_of(uint32_t candidate) { return UINT64_C(1) << candidate % 64; }

static bool site_group_contains(const planner *p, uint32_t set, uint32_t candidate) {
  if (!(p->sets[set].marks & mark_of(candidate)))
    return false;
  if (p->candidate_count <= 64)
    return true;
  return bsearch(&candidate, members_of(p, set), p->sets[set].count, sizeof candidate, hearth_compare_u32) != NULL;
}

/* The set whose members are the last `count` of the pool, which are taken back if it is there already. */
static hearth_status site_group_intern(uniting *u, uint32_t count, uint32_t *ret) {
  planner *p = u->p;
  set_key key = {p->members + p->member_count - count, count};
  uint64_t hash = XXH3_64bits(key.members, count * sizeof *key.members);
  *ret = id_table_find(&u->set_table, hash, is_set, p, &key);
  if (*ret != HEARTH_NONE) {
    p->member_count -= count;
    return HEARTH_OK;
  }
  HEARTH_TRY(id_table_reserve_row(&u->set_table, &p->sets, &p->set_room, p->set_count, sizeof *p->sets, p->err));
  *ret = (uint32_t)p->set_count++;
  p->sets[*ret] = (plan_set){.first = (uint32_t)(p->member_count - count), .count = count};
  for (uint32_t i = 0; i < count; i++)
    p->sets[*ret].marks |= mark_of(members_of(p, *ret)[i]);
  id_table_insert(&u->set_table, hash, *ret);
  return HEARTH_OK;
}

/* A set with one more candidate. */
static hearth_status site_group_unite(uniting *u, uint32_t set, uint32_t candidate, uint32_t *ret) {
  planner *p = u->p;
  uint32_t count = p->sets[set].count, before = 0;
  HEARTH_TRY(hearth_check_memory(
      hearth_array_reserve(&p->members, &p->member_room, p->member_count, (size_t)count + 1, sizeof *p->members),
      p->err));
  const uint32_t *old = members_of(p, set);
  uint32_t *to = p->members + p->member_count;
  while (before < count && old[before] < candidate)
    ++before;
  memcpy(to, old, before * sizeof *to);
  to[before] = candidate;
  memcpy(to + before + 1, old + before, (count - before) * sizeof *to);
  p->member_count += count + 1;
  return site_group_intern(u, count + 1, ret);
}

static hearth_status add_to_set(uniting *u, uint32_t set, uint32_t candidate, uint32_t *ret) {
  planner *p = u->p;
  step wanted = {.set = set, .candidate = candidate};
  *ret = set;
  if (site_group_contains(p, set, candidate))
    return HEARTH_OK;
  uint64_t hash = id_table_mix((uint64_t)set << 32 | candidate);
  uint32_t found = id_table_find(&u->step_table, hash, is_step, u->steps, &wanted);
  if (found != HEARTH_NONE) {
    *ret = u->steps[found].result;
    return HEARTH_OK;
  }
  if (p->member_count + p->sets[set].count >= MEMBERS_MAX)
    return HEARTH_OK;
  HEARTH_TRY(site_group_unite(u, set, candidate, &wanted.result));
  HEARTH_TRY(id_table_reserve_row(&u->step_table, &u->steps, &u->step_room, u->step_count, sizeof *u->steps, p->err));
  u->steps[u->step_count] = wanted;
  id_table_insert(&u->step_table, hash, (uint32_t)u->step_count++);
  *ret = wanted.result;
  return HEARTH_OK;
}

static uint32_t candidate_with(const planner *p, uint64_t stack_id) {
  const plan_candidate *found = p->candidate_count ? bsearch(&stack_id, p->candidates, p->candidate_count,
                                                             sizeof *p->candidates, hearth_compare_u64)
                                                   : NULL;
  return found ? (uint32_t)(found - p->candidates) : HEARTH_NONE;
}

static hearth_status find_candidates_of_frames(uniting *u) {
  planner *p = u->p;
  uint32_t count = p->w->frames.count;
  u->candidate_of = malloc((count + (size_t)1) * sizeof *u->candidate_of);
  if (!u->candidate_of)
    return hearth_error_nomem(p->err);
  for (uint32_t i = 0; i < count; i++)
    u->candidate_of[i] = p->stack_ids[i] ? candidate_with(p, p->stack_ids[i]) : HEARTH_NONE;
  return HEARTH_OK;
}

/* Callers have lower numbers. */
static hearth_status find_sets_of_nodes(uniting *u) {
  planner *p = u->p;
  uint32_t count = p->w->nodes.count, empty;
  u->set_of = malloc((count + (size_t)1) * sizeof *u->set_of);
  if (!u->set_of)
    return hearth_error_nomem(p->err);
  HEARTH_TRY(site_group_intern(u, 0, &empty));
  for (uint32_t i = 0; i < count; i++) {
    uint32_t frame = p->w->node_frames[i], caller = p->w->parents[i];
    u->set_of[i] = caller == HEARTH_NONE ? empty : u->set_of[caller];
    if (u->candidate_of[frame] != HEARTH_NONE)
      HEARTH_TRY(add_to_set(u, u->set_of[i], u->candidate_of[frame], &u->set_of[i]));
  }
  return HEARTH_OK;
}

/* -------------------------------------------------- groups --------------------------------------------------- */

static bool is_group(const void *owner, uint32_t item, const void *key) {
  const plan_group *groups = owner, *k = key;
  return groups[item].leaf == k->leaf && groups[item].set == k->set;
}

static hearth_status add_to_group(uniting *u, uint32_t leaf, const plan_context *context) {
  planner *p = u->p;
  plan_group wanted = {.leaf = leaf, .set = context->caller == HEARTH_NONE ? 0 : u->set_of[context->caller]};
  uint64_t hash = id_table_mix((uint64_t)leaf << 32 | wanted.set);
  uint32_t found = id_table_find(&u->group_table, hash, is_group, p->groups, &wanted);
  if (found == HEARTH_NONE) {
    HEARTH_TRY(
        id_table_reserve_row(&u->group_table, &p->groups, &p->group_room, p->group_count, sizeof *p->groups, p->err));
    found = (uint32_t)p->group_count++;
    p->groups[found] = wanted;
    id_table_insert(&u->group_table, hash, found);
    p->leaves[leaf].group_count++;
  }
  plan_add_context(p, &p->groups[found].sums, context);
  p->groups[found].allocs += context->allocs;
  return HEARTH_OK;
}

static hearth_status site_group_make(uniting *u) {
  planner *p = u->p;
  HEARTH_TRY(find_candidates_of_frames(u));
  HEARTH_TRY(find_sets_of_nodes(u));
  for (uint32_t i = 0; i < p->leaf_count; i++) {
    plan_leaf *leaf = &p->leaves[i];
    leaf->first_group = (uint32_t)p->group_count;
    for (uint32_t k = 0; k < leaf->context_count; k++)
      HEARTH_TRY(add_to_group(u, i, &p->contexts[leaf->first_context + k]));
  }
  for (size_t i = 0; i < p->group_count; i++)
    for (uint32_t k = 0; k < p->sets[p->groups[i].set].count; k++)
      p->candidates[members_of(p, p->groups[i].set)[k]].allocs += p->groups[i].allocs;
  return HEARTH_OK;
}

hearth_status hearth_plan_make_groups(planner *p) {
  uniting u = {.p = p};
  hearth_status status = site_group_make(&u);
  free(u.candidate_of);
  free(u.set_of);
  free(u.steps);
  free(u.set_table.slots);
  free(u.step_table.slots);
  free(u.group_table.slots);
  return status;
}
