#include "carry.h"

#include <stdlib.h>

#define MOST_BLOCKS 512 /* in which one pointer's counts are carried */

/* What is known at a place in the function, as far as ways to it have been looked at. */
typedef enum knowledge { NOT_YET, ONE, SEVERAL } knowledge;

typedef struct number {
  knowledge known;
  int64_t value; /* if ONE */
} number;

typedef struct address {
  knowledge known;
  LLVMValueRef base; /* if ONE, with the offset */
  int64_t offset;
} address;

/* A block. Words: accesses before its first interruption are its head, those behind the last one its tail; control runs
 * through if there is none. */
typedef struct node {
  LLVMBasicBlockRef block;
  size_t *before, n_before, *behind, n_behind; /* positions of neighbours; one is listed for each way to it */
  bool runs_through, branches;                 /* branches: at its end; only there counts leave it */
  /* For the accesses at hand: */
  bool is_used;
  const hearth_access *head, *tail; /* the first of them, or NULL */
  uint64_t head_weight, tail_weight;
  bool may_meet, will_meet; /* an access, on some or each way from its start on, before interruptions */
  bool is_carried_to;
  address place;        /* carried to it: the address of an access that was made ... */
  number count;         /* ... and how many there were */
  LLVMValueRef in, out; /* the count, once there is code for it */
} node;

/* An access in a group: those with one pointer and one counter. */
typedef struct member {
  hearth_access *access, *first; /* first: of the group */
} member;

/* A count that is added when control takes a way that leads to no more accesses. */
typedef struct exit_way {
  size_t from, to;
  address place;
  LLVMValueRef count;
} exit_way;

typedef struct carry {
  hearth_flow *flow;
  hearth_counters *counters;
  node *nodes; /* by position */
  size_t n_nodes, *ways;
  size_t *used, n_used; /* positions of those with is_used; those with may_meet come first, in order */
  size_t n_meeting;
  exit_way *exits;
  size_t n_exits, exits_capacity;
} carry;

/* --- the function's blocks --- */

static void link_nodes(carry *c, size_t *ways) {
  for (size_t i = 0; i < c->n_nodes; i++) {
    node *from = &c->nodes[i];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from->block);
    from->behind = ways;
    for (unsigned k = 0; k < from->n_behind; k++) {
      size_t to = hearth_flow_position(c->flow, LLVMGetSuccessor(end, k));
      c->nodes[to].n_before++;
      *ways++ = to;
    }
  }
  for (size_t i = 0; i < c->n_nodes; i++) {
    c->nodes[i].before = ways;
    ways += c->nodes[i].n_before;
    c->nodes[i].n_before = 0;
  }
  for (size_t i = 0; i < c->n_nodes; i++)
    for (size_t k = 0; k < c->nodes[i].n_behind; k++) {
      node *to = &c->nodes[c->nodes[i].behind[k]];
      to->before[to->n_before++] = i;
    }
}

static bool make_nodes(carry *c) {
  size_t n_ways = 0;
  c->n_nodes = hearth_flow_block_count(c->flow);
  c->nodes = calloc(c->n_nodes, sizeof *c->nodes);
  c->used = malloc(c->n_nodes * sizeof *c->used);
  for (size_t i = 0; c->nodes && i < c->n_nodes; i++) {
    node *at = &c->nodes[i];
    at->block = hearth_flow_block(c->flow, i);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(at->block);
    at->branches = LLVMIsABranchInst(end) || LLVMIsASwitchInst(end);
    at->runs_through = at->branches && hearth_flow_runs_through(c->flow, at->block);
    at->n_behind = LLVMGetNumSuccessors(end);
    n_ways += at->n_behind;
  }
  c->ways = malloc((2 * n_ways + 1) * sizeof *c->ways);
  if (!c->nodes || !c->used || !c->ways)
    return false;
  link_nodes(c, c->ways);
  return true;
}

/* --- where accesses follow accesses --- */

static node *use(carry *c, size_t position) {
  node *at = &c->nodes[position];
  if (!at->is_used) {
    at->is_used = true;
    c->used[c->n_used++] = position;
  }
  return at;
}

static void forget(carry *c) {
  for (size_t i = 0; i < c->n_used; i++) {
    node *at = &c->nodes[c->used[i]];
    *at = (node){.block = at->block,
                 .before = at->before,
                 .n_before = at->n_before,
                 .behind = at->behind,
                 .n_behind = at->n_behind,
                 .runs_through = at->runs_through,
                 .branches = at->branches};
  }
  c->n_used = c->n_meeting = 0;
}

static bool is_head(const hearth_access *access) { return access->interruptions == 0; }

static bool is_tail(const hearth_access *access) { return !access->interrupted_after; }

static node *node_of(carry *c, const hearth_access *access) {
  return use(c, hearth_flow_position(c->flow, access->block));
}

static void place_accesses(carry *c, const member *members, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const hearth_access *access = members[i].access;
    node *at = node_of(c, access);
    if (is_head(access)) {
      at->head = at->head ? at->head : access;
      at->head_weight += access->weight;
    }
    if (is_tail(access)) {
      at->tail = at->tail ? at->tail : access;
      at->tail_weight += access->weight;
    }
  }
}

static int compare_positions(const void *left, const void *right) {
  size_t a = *(const size_t *)left, b = *(const size_t *)right;
  return a < b ? -1 : a > b;
}

static void meet(carry *c, size_t position, LLVMValueRef object) {
  node *at = use(c, position);
  at->may_meet = at->may_meet || hearth_flow_has_value(c->flow, object, at->block);
}

/* Backwards from the accesses, as far as the pointer is known and nothing interrupts. False: too far, or nowhere. */
static bool find_meeting(carry *c, LLVMValueRef object) {
  for (size_t i = 0, n = c->n_used; i < n; i++)
    if (c->nodes[c->used[i]].head)
      meet(c, c->used[i], object);
  for (size_t i = 0; i < c->n_used; i++) {
    const node *at = &c->nodes[c->used[i]];
    for (size_t k = 0; at->may_meet && k < at->n_before; k++)
      if (c->nodes[at->before[k]].runs_through)
        meet(c, at->before[k], object);
    if (c->n_used > MOST_BLOCKS)
      return false;
  }
  for (size_t i = 0; i < c->n_used; i++)
    if (c->nodes[c->used[i]].may_meet) {
      size_t position = c->used[i];
      c->used[i] = c->used[c->n_meeting];
      c->used[c->n_meeting++] = position;
    }
  qsort(c->used, c->n_meeting, sizeof *c->used, compare_positions);
  return c->n_meeting > 0;
}

static bool will_meet(const carry *c, const node *at) {
  if (at->head)
    return true;
  for (size_t k = 0; k < at->n_behind; k++)
    if (!c->nodes[at->behind[k]].will_meet)
      return false;
  return at->runs_through;
}

static void find_certain_meeting(carry *c) {
  for (bool again = true; again;) {
    again = false;
    for (size_t i = c->n_meeting; i-- > 0;) {
      node *at = &c->nodes[c->used[i]];
      if (!at->will_meet && will_meet(c, at))
        again = at->will_meet = true;
    }
  }
}

/* --- which counts are carried where --- */

static bool is_carried_through(const node *at) { return at->is_carried_to && at->runs_through; }

static bool has_count_at_end(const node *at) { return at->branches && (at->tail || is_carried_through(at)); }

static number one(int64_t value) { return (number){ONE, value}; }

static number both(number a, number b) {
  if (a.known == NOT_YET || b.known == NOT_YET)
    return a.known == NOT_YET ? b : a;
  return a.known == ONE && b.known == ONE && a.value == b.value ? a : (number){.known = SEVERAL};
}

static bool is_same(number a, number b) { return a.known == b.known && a.value == b.value; }

static address address_of(const hearth_access *access) { return (address){ONE, access->base, access->offset}; }

static bool is_same_address(address a, address b) {
  return a.known == b.known && a.base == b.base && a.offset == b.offset;
}

static address either_address(address a, address b) {
  if (a.known == NOT_YET || b.known == NOT_YET)
    return a.known == NOT_YET ? b : a;
  return is_same_address(a, b) ? a : (address){.known = SEVERAL};
}

static address place_at_end(const node *at) { return at->tail ? address_of(at->tail) : at->place; }

static number count_at_end(const node *at) {
  if (!has_count_at_end(at))
    return one(0);
  number count = is_carried_through(at) ? at->count : one(0);
  count.value += count.known == ONE ? (int64_t)at->tail_weight : 0;
  return count;
}

/* Where an access is certain, whatever is carried is counted with it. Elsewhere something must have been carried on each
 * way, and have an address that is known. */
static bool can_be_carried_to(const carry *c, node *at) {
  size_t carrying = 0;
  for (size_t k = 0; k < at->n_before; k++) {
    const node *before = &c->nodes[at->before[k]];
    if (!has_count_at_end(before))
      continue;
    carrying++;
    at->place = either_address(at->place, place_at_end(before));
  }
  return carrying > 0 && (at->will_meet || (carrying == at->n_before && at->place.known != SEVERAL));
}

static bool decide(carry *c) {
  bool any = false;
  for (size_t i = 0; i < c->n_meeting; i++)
    c->nodes[c->used[i]].is_carried_to = true;
  for (bool again = true; again;) {
    again = any = false;
    for (size_t i = 0; i < c->n_meeting; i++) {
      node *at = &c->nodes[c->used[i]];
      address place = at->place;
      if (at->is_carried_to && !can_be_carried_to(c, at))
        again = true, at->is_carried_to = false;
      again |= !is_same_address(place, at->place);
      any |= at->is_carried_to;
    }
  }
  return any;
}

static void find_counts(carry *c) {
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < c->n_meeting; i++) {
      node *at = &c->nodes[c->used[i]];
      number count = at->count;
      for (size_t k = 0; at->is_carried_to && k < at->n_before; k++)
        count = both(count, count_at_end(&c->nodes[at->before[k]]));
      again |= !is_same(count, at->count);
      at->count = count;
    }
  }
}

/* --- code --- */

static LLVMValueRef number_value(const carry *c, int64_t value) {
  return LLVMConstInt(c->counters->i64, (uint64_t)value, true);
}

static LLVMValueRef first_behind_phis(LLVMBasicBlockRef block) {
  LLVMValueRef i = LLVMGetFirstInstruction(block);
  while (LLVMIsAPHINode(i))
    i = LLVMGetNextInstruction(i);
  return i;
}

static LLVMValueRef start_of(const node *at, const hearth_access *access) {
  return access ? access->instruction : first_behind_phis(at->block);
}

static LLVMValueRef add_weight(carry *c, LLVMValueRef count, const hearth_access *first, uint64_t weight) {
  if (weight == 0)
    return count;
  LLVMPositionBuilderBefore(c->counters->builder, first->instruction);
  return LLVMBuildAdd(c->counters->builder, count, number_value(c, (int64_t)weight), "");
}

static LLVMValueRef count_value_at_end(carry *c, const node *at) {
  if (!has_count_at_end(at))
    return number_value(c, 0);
  return is_carried_through(at) ? at->out : number_value(c, (int64_t)at->tail_weight);
}

static LLVMValueRef carried_count(carry *c, const node *at) {
  if (at->count.known == ONE)
    return number_value(c, at->count.value);
  if (at->n_before == 1)
    return count_value_at_end(c, &c->nodes[at->before[0]]);
  hearth_flow_stand_at_start(c->counters->builder, at->block);
  return LLVMBuildPhi(c->counters->builder, c->counters->i64, "hearth.carried");
}

static void fill_phi(carry *c, const node *at) {
  if (at->count.known == ONE || at->n_before == 1)
    return;
  for (size_t k = 0; k < at->n_before; k++) {
    const node *before = &c->nodes[at->before[k]];
    LLVMValueRef count = count_value_at_end(c, before);
    LLVMBasicBlockRef block = before->block;
    LLVMAddIncoming(at->in, &count, &block, 1);
  }
}

static void make_counts(carry *c) {
  for (size_t i = 0; i < c->n_meeting; i++) {
    node *at = &c->nodes[c->used[i]];
    if (!at->is_carried_to)
      continue;
    at->in = carried_count(c, at);
    at->out = at->runs_through ? add_weight(c, at->in, at->tail, at->tail_weight) : NULL;
  }
  for (size_t i = 0; i < c->n_meeting; i++)
    if (c->nodes[c->used[i]].is_carried_to)
      fill_phi(c, &c->nodes[c->used[i]]);
}

static void count_before(carry *c, LLVMValueRef instruction, address place, LLVMValueRef count) {
  LLVMBuilderRef b = c->counters->builder;
  LLVMPositionBuilderBefore(b, instruction);
  LLVMValueRef at = LLVMBuildPtrToInt(b, place.base, c->counters->i64, "");
  if (place.offset)
    at = LLVMBuildAdd(b, at, number_value(c, place.offset), "");
  hearth_counters_add(c->counters, at, count);
}

static bool is_carried_on(const carry *c, const node *at) {
  for (size_t k = 0; has_count_at_end(at) && k < at->n_behind; k++)
    if (c->nodes[at->behind[k]].is_carried_to)
      return true;
  return false;
}

static bool is_listed_before(const node *at, size_t way) {
  for (size_t k = 0; k < way; k++)
    if (at->behind[k] == at->behind[way])
      return true;
  return false;
}

static bool reserve_exits(carry *c, size_t more) {
  if (c->n_exits + more <= c->exits_capacity)
    return true;
  size_t capacity = (c->n_exits + more) * 2;
  exit_way *exits = realloc(c->exits, capacity * sizeof *exits);
  if (!exits)
    return false;
  c->exits = exits;
  c->exits_capacity = capacity;
  return true;
}

static void count_at_exits(carry *c, size_t position) {
  const node *at = &c->nodes[position];
  for (size_t k = 0; k < at->n_behind; k++)
    if (!c->nodes[at->behind[k]].is_carried_to && !is_listed_before(at, k))
      c->exits[c->n_exits++] = (exit_way){
          .from = position, .to = at->behind[k], .place = place_at_end(at), .count = count_value_at_end(c, at)};
}

/* Carried counts end at an interruption, or on the ways that lead on from here. */
static void count_carried(carry *c, size_t position) {
  const node *at = &c->nodes[position];
  if (at->is_carried_to && !at->runs_through)
    count_before(c, at->head->instruction, address_of(at->head), add_weight(c, at->in, at->head, at->head_weight));
  if (is_carried_on(c, at))
    count_at_exits(c, position);
  else if (is_carried_through(at))
    count_before(c, start_of(at, at->tail), place_at_end(at), at->out);
}

static bool is_counted_elsewhere(carry *c, const hearth_access *access) {
  const node *at = node_of(c, access);
  return (is_head(access) && at->is_carried_to) || (is_tail(access) && is_carried_on(c, at));
}

/* --- all accesses --- */

static bool have_exits(carry *c) {
  size_t most = 0;
  for (size_t i = 0; i < c->n_used; i++)
    most += c->nodes[c->used[i]].n_behind;
  return reserve_exits(c, most);
}

static void carry_group(carry *c, const member *members, size_t count) {
  place_accesses(c, members, count);
  if (find_meeting(c, members[0].access->object) && have_exits(c)) {
    find_certain_meeting(c);
    if (decide(c)) {
      find_counts(c);
      make_counts(c);
      for (size_t i = 0; i < c->n_used; i++)
        count_carried(c, c->used[i]);
      for (size_t i = 0; i < count; i++)
        if (is_counted_elsewhere(c, members[i].access))
          members[i].access->weight = 0;
    }
  }
  forget(c);
}

static void count_exits(carry *c) {
  for (size_t i = 0; i < c->n_exits; i++) {
    const exit_way *way = &c->exits[i];
    LLVMBasicBlockRef between = hearth_flow_split_edge(c->flow, c->nodes[way->from].block, c->nodes[way->to].block);
    count_before(c, first_behind_phis(between), way->place, way->count);
  }
}

static bool in_one_group(const hearth_access *a, const hearth_access *b) {
  return a->object == b->object && a->place == b->place;
}

static int compare_groups(const void *left, const void *right) {
  const hearth_access *a = ((const member *)left)->access, *b = ((const member *)right)->access;
  if (a->object != b->object)
    return (uintptr_t)a->object < (uintptr_t)b->object ? -1 : 1;
  if (a->place != b->place)
    return a->place < b->place ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Addresses of objects must not decide in which order code is made. */
static int compare_firsts(const void *left, const void *right) {
  const member *a = left, *b = right;
  if (a->first != b->first)
    return a->first < b->first ? -1 : 1;
  return a->access < b->access ? -1 : a->access > b->access;
}

static size_t list_members(const hearth_accesses *accesses, member *members) {
  size_t count = 0;
  for (size_t i = 0; i < accesses->count; i++)
    if (accesses->items[i].weight)
      members[count++].access = &accesses->items[i];
  qsort(members, count, sizeof *members, compare_groups);
  for (size_t i = 0; i < count; i++) {
    bool follows = i > 0 && in_one_group(members[i - 1].access, members[i].access);
    members[i].first = follows ? members[i - 1].first : members[i].access;
  }
  qsort(members, count, sizeof *members, compare_firsts);
  return count;
}

static void carry_groups(carry *c, const member *members, size_t count) {
  for (size_t i = 0, next; i < count; i = next) {
    next = i + 1;
    while (next < count && members[next].first == members[i].first)
      next++;
    if (next - i > 1 || hearth_flow_repeats(c->flow, members[i].access->block))
      carry_group(c, &members[i], next - i);
  }
}

void hearth_carry_counts(hearth_accesses *accesses, hearth_flow *flow, hearth_counters *counters) {
  carry c = {.flow = flow, .counters = counters};
  member *members = malloc((accesses->count + 1) * sizeof *members);
  if (members && make_nodes(&c)) {
    carry_groups(&c, members, list_members(accesses, members));
    count_exits(&c);
  }
  free(members);
  free(c.nodes);
  free(c.used);
  free(c.ways);
  free(c.exits);
}
