/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sinking of partially redundant counter updates. An access that others with the same counter may follow needs no
 * update of its own: its count moves along control flow, in a register, down to the last of them, or to the edge on
 * which it is certain that none follows. This is code sinking, the mirror image of partial redundancy elimination:
 * three bit vectors and one constant propagation for each group of accesses, on the basic blocks that the group
 * touches.
 *
 * Local facts of a block b: HEAD, TAIL: it has accesses before its first, behind its last interruption. TRANSP:
 * nothing in it interrupts and it ends in a branch or switch; then head and tail are the same. AVAIL: the pointer
 * exists where it starts. BRANCHES: it ends in a branch or switch, on whose edges code can be put. t(b): the weight
 * of its tail; a(b): the address of the first access there.
 *
 * Partial anticipation, on some path from b's start an access comes before an interruption; least solution:
 *   PANT(b) = AVAIL(b) . (HEAD(b) + TRANSP(b) . SUM PANT(s)), s in succ(b)
 * Full anticipation, on every path; least solution:
 *   ANT(b)  = PANT(b) . (HEAD(b) + TRANSP(b) . PRODUCT ANT(s)), s in succ(b)
 * Sinking, counts arrive at b's start; greatest solution with SINK <= PANT:
 *   OUT(b)  = BRANCHES(b) . (TAIL(b) + SINK(b) . TRANSP(b))
 *   SINK(b) = SUM OUT(p) . (ANT(b) + PRODUCT OUT(p) . (ADDR(b) != BOTTOM)), p in pred(b)
 * Where an access is certain, a pred without count passes 0. Where it is not, the count may have to be added on an
 * edge behind b: that must pay on each path, and needs an address. Both are found with these meets over the lattice
 * TOP > constants > BOTTOM:
 *   ADDR(b)  = MEET of (TAIL(p) ? a(p) : ADDR(p)), p in pred(b) with OUT(p)
 *   COUNT(b) = MEET of (OUT(p) ? (SINK(p) . TRANSP(p) ? COUNT(p) : 0) + t(p) : 0), p in pred(b), if SINK(b)
 * A COUNT of BOTTOM becomes a phi. Updates go to three places: before the head of an opaque block with SINK; into a
 * transparent block with SINK of whose successors none has SINK; and onto edges (b, s) with OUT(b) and without
 * SINK(s), if another successor of b has it. */
#include "instrument.h"

#include "array.h"

#include <stdlib.h>

#define MOST_BLOCKS 512 /* that one group may touch */

/* TOP: no edge has been looked at. BOTTOM: edges differ. */
typedef enum level { TOP, CONST, BOTTOM } level;

typedef struct known_count {
  level level;
  int64_t value; /* if CONST */
} known_count;

typedef struct known_address {
  level level;
  LLVMValueRef base; /* if CONST, with the offset */
  int64_t offset;
} known_address;

/* A basic block. */
typedef struct node {
  LLVMBasicBlockRef block;
  size_t *preds, n_preds, *succs, n_succs; /* positions; one for each edge */
  bool is_transparent, branches;
  /* Of the group at hand: */
  bool is_touched;
  const hearth_access *head, *tail; /* the first access, or NULL */
  uint64_t head_weight, tail_weight;
  bool is_partly_anticipated, is_anticipated; /* PANT, ANT */
  bool is_sunk_to;                            /* SINK */
  known_address place;                        /* ADDR */
  known_count count;                          /* COUNT */
  LLVMValueRef in, out;                       /* the count at start and end, once there is code for it */
} node;

/* An access in a group: those with one pointer and one counter. */
typedef struct member {
  hearth_access *access, *first; /* first: of the group */
} member;

/* An update on an edge. */
typedef struct exit_edge {
  size_t from, to;
  known_address place;
  LLVMValueRef count;
} exit_edge;

typedef struct sinking {
  hearth_flow *flow;
  hearth_counters *counters;
  node *nodes; /* by position */
  size_t n_nodes, *edges;
  size_t *touched, n_touched; /* positions; partly anticipated ones come first, in order */
  size_t n_partly;
  exit_edge *exits;
  size_t n_exits, exits_capacity;
} sinking;

/* --- the function's blocks --- */

static void link_nodes(sinking *s, size_t *edges) {
  for (size_t i = 0; i < s->n_nodes; i++) {
    node *from = &s->nodes[i];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from->block);
    from->succs = edges;
    for (unsigned k = 0; k < from->n_succs; k++) {
      size_t to = hearth_flow_position(s->flow, LLVMGetSuccessor(end, k));
      s->nodes[to].n_preds++;
      *edges++ = to;
    }
  }
  for (size_t i = 0; i < s->n_nodes; i++) {
    s->nodes[i].preds = edges;
    edges += s->nodes[i].n_preds;
    s->nodes[i].n_preds = 0;
  }
  for (size_t i = 0; i < s->n_nodes; i++)
    for (size_t k = 0; k < s->nodes[i].n_succs; k++) {
      node *to = &s->nodes[s->nodes[i].succs[k]];
      to->preds[to->n_preds++] = i;
    }
}

static bool make_nodes(sinking *s) {
  size_t n_edges = 0;
  s->n_nodes = hearth_flow_block_count(s->flow);
  s->nodes = calloc(s->n_nodes, sizeof *s->nodes);
  s->touched = malloc(s->n_nodes * sizeof *s->touched);
  for (size_t i = 0; s->nodes && i < s->n_nodes; i++) {
    node *at = &s->nodes[i];
    at->block = hearth_flow_block(s->flow, i);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(at->block);
    at->branches = LLVMIsABranchInst(end) || LLVMIsASwitchInst(end);
    at->is_transparent = at->branches && hearth_flow_is_transparent(s->flow, at->block);
    at->n_succs = LLVMGetNumSuccessors(end);
    n_edges += at->n_succs;
  }
  s->edges = malloc((2 * n_edges + 1) * sizeof *s->edges);
  if (!s->nodes || !s->touched || !s->edges)
    return false;
  link_nodes(s, s->edges);
  return true;
}

/* --- anticipation --- */

static node *touch(sinking *s, size_t position) {
  node *at = &s->nodes[position];
  if (!at->is_touched) {
    at->is_touched = true;
    s->touched[s->n_touched++] = position;
  }
  return at;
}

static void sunk_forget(sinking *s) {
  for (size_t i = 0; i < s->n_touched; i++) {
    node *at = &s->nodes[s->touched[i]];
    *at = (node){.block = at->block,
                 .preds = at->preds,
                 .n_preds = at->n_preds,
                 .succs = at->succs,
                 .n_succs = at->n_succs,
                 .is_transparent = at->is_transparent,
                 .branches = at->branches};
  }
  s->n_touched = s->n_partly = 0;
}

static bool is_head(const hearth_access *access) { return access->interruptions == 0; }

static bool is_tail(const hearth_access *access) { return !access->interrupted_after; }

static node *sink_node_of(sinking *s, const hearth_access *access) {
  return touch(s, hearth_flow_position(s->flow, access->block));
}

static void place_accesses(sinking *s, const member *members, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const hearth_access *access = members[i].access;
    node *at = sink_node_of(s, access);
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

static void anticipate(sinking *s, size_t position, LLVMValueRef object) {
  node *at = touch(s, position);
  at->is_partly_anticipated = at->is_partly_anticipated || hearth_flow_has_value(s->flow, object, at->block);
}

/* Backwards from the accesses, as far as the pointer is available and nothing interrupts. False: too far, or
 * nowhere. */
static bool find_partial_anticipation(sinking *s, LLVMValueRef object) {
  for (size_t i = 0, n = s->n_touched; i < n; i++)
    if (s->nodes[s->touched[i]].head)
      anticipate(s, s->touched[i], object);
  for (size_t i = 0; i < s->n_touched; i++) {
    const node *at = &s->nodes[s->touched[i]];
    for (size_t k = 0; at->is_partly_anticipated && k < at->n_preds; k++)
      if (s->nodes[at->preds[k]].is_transparent)
        anticipate(s, at->preds[k], object);
    if (s->n_touched > MOST_BLOCKS)
      return false;
  }
  for (size_t i = 0; i < s->n_touched; i++)
    if (s->nodes[s->touched[i]].is_partly_anticipated) {
      size_t position = s->touched[i];
      s->touched[i] = s->touched[s->n_partly];
      s->touched[s->n_partly++] = position;
    }
  qsort(s->touched, s->n_partly, sizeof *s->touched, compare_positions);
  return s->n_partly > 0;
}

static bool anticipates(const sinking *s, const node *at) {
  if (at->head)
    return true;
  for (size_t k = 0; k < at->n_succs; k++)
    if (!s->nodes[at->succs[k]].is_anticipated)
      return false;
  return at->is_transparent;
}

static void find_full_anticipation(sinking *s) {
  for (bool again = true; again;) {
    again = false;
    for (size_t i = s->n_partly; i-- > 0;) {
      node *at = &s->nodes[s->touched[i]];
      if (!at->is_anticipated && anticipates(s, at))
        again = at->is_anticipated = true;
    }
  }
}

/* --- sinking --- */

static bool sinks_through(const node *at) { return at->is_sunk_to && at->is_transparent; }

static bool has_count_at_end(const node *at) { return at->branches && (at->tail || sinks_through(at)); }

static known_count sunk_constant(int64_t value) { return (known_count){CONST, value}; }

static known_count meet_counts(known_count a, known_count b) {
  if (a.level == TOP || b.level == TOP)
    return a.level == TOP ? b : a;
  return a.level == CONST && b.level == CONST && a.value == b.value ? a : (known_count){.level = BOTTOM};
}

static bool is_same_sunk(known_count a, known_count b) { return a.level == b.level && a.value == b.value; }

static known_address sunk_address(const hearth_access *access) {
  return (known_address){CONST, access->base, access->offset};
}

static bool is_same_address(known_address a, known_address b) {
  return a.level == b.level && a.base == b.base && a.offset == b.offset;
}

static known_address meet_addresses(known_address a, known_address b) {
  if (a.level == TOP || b.level == TOP)
    return a.level == TOP ? b : a;
  return is_same_address(a, b) ? a : (known_address){.level = BOTTOM};
}

static known_address place_at_end(const node *at) { return at->tail ? sunk_address(at->tail) : at->place; }

static known_count count_at_end(const node *at) {
  if (!has_count_at_end(at))
    return sunk_constant(0);
  known_count count = sinks_through(at) ? at->count : sunk_constant(0);
  count.value += count.level == CONST ? (int64_t)at->tail_weight : 0;
  return count;
}

/* Evaluates SINK, and ADDR by the way. */
static bool counts_arrive(const sinking *s, node *at) {
  size_t arriving = 0;
  for (size_t k = 0; k < at->n_preds; k++) {
    const node *pred = &s->nodes[at->preds[k]];
    if (!has_count_at_end(pred))
      continue;
    arriving++;
    at->place = meet_addresses(at->place, place_at_end(pred));
  }
  return arriving > 0 && (at->is_anticipated || (arriving == at->n_preds && at->place.level != BOTTOM));
}

static bool find_sinks(sinking *s) {
  bool any = false;
  for (size_t i = 0; i < s->n_partly; i++)
    s->nodes[s->touched[i]].is_sunk_to = true;
  for (bool again = true; again;) {
    again = any = false;
    for (size_t i = 0; i < s->n_partly; i++) {
      node *at = &s->nodes[s->touched[i]];
      known_address place = at->place;
      if (at->is_sunk_to && !counts_arrive(s, at))
        again = true, at->is_sunk_to = false;
      again |= !is_same_address(place, at->place);
      any |= at->is_sunk_to;
    }
  }
  return any;
}

static void find_constant_counts(sinking *s) {
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < s->n_partly; i++) {
      node *at = &s->nodes[s->touched[i]];
      known_count count = at->count;
      for (size_t k = 0; at->is_sunk_to && k < at->n_preds; k++)
        count = meet_counts(count, count_at_end(&s->nodes[at->preds[k]]));
      again |= !is_same_sunk(count, at->count);
      at->count = count;
    }
  }
}

/* --- code --- */

static LLVMValueRef number_value(const sinking *s, int64_t value) {
  return LLVMConstInt(s->counters->i64, (uint64_t)value, true);
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

static LLVMValueRef add_weight(sinking *s, LLVMValueRef count, const hearth_access *first, uint64_t weight) {
  if (weight == 0)
    return count;
  LLVMPositionBuilderBefore(s->counters->builder, first->instruction);
  return LLVMBuildAdd(s->counters->builder, count, number_value(s, (int64_t)weight), "");
}

static LLVMValueRef count_value_at_end(sinking *s, const node *at) {
  if (!has_count_at_end(at))
    return number_value(s, 0);
  return sinks_through(at) ? at->out : number_value(s, (int64_t)at->tail_weight);
}

static LLVMValueRef sunk_count(sinking *s, const node *at) {
  if (at->count.level == CONST)
    return number_value(s, at->count.value);
  if (at->n_preds == 1)
    return count_value_at_end(s, &s->nodes[at->preds[0]]);
  hearth_flow_stand_at_start(s->counters->builder, at->block);
  return LLVMBuildPhi(s->counters->builder, s->counters->i64, "hearth.sunk");
}

static void fill_phi(sinking *s, const node *at) {
  if (at->count.level == CONST || at->n_preds == 1)
    return;
  for (size_t k = 0; k < at->n_preds; k++) {
    const node *pred = &s->nodes[at->preds[k]];
    LLVMValueRef count = count_value_at_end(s, pred);
    LLVMBasicBlockRef block = pred->block;
    LLVMAddIncoming(at->in, &count, &block, 1);
  }
}

static void build_counts(sinking *s) {
  for (size_t i = 0; i < s->n_partly; i++) {
    node *at = &s->nodes[s->touched[i]];
    if (!at->is_sunk_to)
      continue;
    at->in = sunk_count(s, at);
    at->out = at->is_transparent ? add_weight(s, at->in, at->tail, at->tail_weight) : NULL;
  }
  for (size_t i = 0; i < s->n_partly; i++)
    if (s->nodes[s->touched[i]].is_sunk_to)
      fill_phi(s, &s->nodes[s->touched[i]]);
}

static void count_before(sinking *s, LLVMValueRef instruction, known_address place, LLVMValueRef count) {
  LLVMBuilderRef b = s->counters->builder;
  LLVMPositionBuilderBefore(b, instruction);
  LLVMValueRef at = LLVMBuildPtrToInt(b, place.base, s->counters->i64, "");
  if (place.offset)
    at = LLVMBuildAdd(b, at, number_value(s, place.offset), "");
  hearth_counters_add(s->counters, at, count);
}

static bool sinks_on(const sinking *s, const node *at) {
  for (size_t k = 0; has_count_at_end(at) && k < at->n_succs; k++)
    if (s->nodes[at->succs[k]].is_sunk_to)
      return true;
  return false;
}

static bool is_listed_before(const node *at, size_t edge) {
  for (size_t k = 0; k < edge; k++)
    if (at->succs[k] == at->succs[edge])
      return true;
  return false;
}

static void count_at_exits(sinking *s, size_t position) {
  const node *at = &s->nodes[position];
  for (size_t k = 0; k < at->n_succs; k++)
    if (!s->nodes[at->succs[k]].is_sunk_to && !is_listed_before(at, k))
      s->exits[s->n_exits++] = (exit_edge){
          .from = position, .to = at->succs[k], .place = place_at_end(at), .count = count_value_at_end(s, at)};
}

/* Sunk counts end at an interruption, or on the edges that lead on from here. */
static void count_sunk(sinking *s, size_t position) {
  const node *at = &s->nodes[position];
  if (at->is_sunk_to && !at->is_transparent)
    count_before(s, at->head->instruction, sunk_address(at->head), add_weight(s, at->in, at->head, at->head_weight));
  if (sinks_on(s, at))
    count_at_exits(s, position);
  else if (sinks_through(at))
    count_before(s, start_of(at, at->tail), place_at_end(at), at->out);
}

static bool is_counted_elsewhere(sinking *s, const hearth_access *access) {
  const node *at = sink_node_of(s, access);
  return (is_head(access) && at->is_sunk_to) || (is_tail(access) && sinks_on(s, at));
}

/* --- all accesses --- */

static bool have_exits(sinking *s) {
  size_t most = 0;
  for (size_t i = 0; i < s->n_touched; i++)
    most += s->nodes[s->touched[i]].n_succs;
  return hearth_array_reserve(&s->exits, &s->exits_capacity, s->n_exits, most, sizeof *s->exits);
}

static void sink_group(sinking *s, const member *members, size_t count) {
  place_accesses(s, members, count);
  if (find_partial_anticipation(s, members[0].access->object) && have_exits(s)) {
    find_full_anticipation(s);
    if (find_sinks(s)) {
      find_constant_counts(s);
      build_counts(s);
      for (size_t i = 0; i < s->n_touched; i++)
        count_sunk(s, s->touched[i]);
      for (size_t i = 0; i < count; i++)
        if (is_counted_elsewhere(s, members[i].access))
          members[i].access->weight = 0;
    }
  }
  sunk_forget(s);
}

static void count_exits(sinking *s) {
  for (size_t i = 0; i < s->n_exits; i++) {
    const exit_edge *edge = &s->exits[i];
    LLVMBasicBlockRef between = hearth_flow_split_edge(s->flow, s->nodes[edge->from].block, s->nodes[edge->to].block);
    count_before(s, first_behind_phis(between), edge->place, edge->count);
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

static void sink_groups(sinking *s, const member *members, size_t count) {
  for (size_t i = 0, next; i < count; i = next) {
    next = i + 1;
    while (next < count && members[next].first == members[i].first)
      next++;
    if (next - i > 1 || hearth_flow_repeats(s->flow, members[i].access->block))
      sink_group(s, &members[i], next - i);
  }
}

void hearth_sink_counts(hearth_accesses *accesses, hearth_flow *flow, hearth_counters *counters) {
  sinking s = {.flow = flow, .counters = counters};
  member *members = malloc((accesses->count + 1) * sizeof *members);
  if (members && make_nodes(&s)) {
    sink_groups(&s, members, list_members(accesses, members));
    count_exits(&s);
  }
  free(members);
  free(s.nodes);
  free(s.touched);
  free(s.edges);
  free(s.exits);
}
