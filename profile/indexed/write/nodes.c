/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows and order of STACKS (docs/formats/indexed.md, "STACKS"). A compile looks up the contexts of one module, so the
 * nodes that only they need lie together; few nodes are left to share, so that their pages are few. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/expect.h"
#include "writer.h"

enum { COPIED = HEARTH_STACK_COPIED };

#define NO_ONE HEARTH_NONE /* home of contexts of several modules, or of an unknown one */

typedef struct layout {
  writer *w;
  uint32_t *homes;    /* of each context */
  bool *shared;       /* of each node; then its callers are, too */
  uint32_t *children; /* all needed nodes by parent: see list_children */
  uint32_t *starts;
  uint32_t *pending;  /* room for a path or a traversal */
  uint32_t *contexts; /* those with nodes of their own, in the order of the whole tree */
  size_t context_count;
  size_t order_room, parent_room; /* of w->nodes.order and w->parents */
} layout;

static const builder_node *node_of_writer(const layout *l, uint32_t node) { return &l->w->builder->nodes[node]; }

/* -------------------------------------------------- homes -------------------------------------------------- */

/* The known facts about the contexts that need a node. One of unknown module counts as too many to be copied. */
typedef struct users {
  uint32_t *homes; /* of each node: their module, a row of PATHS */
  uint8_t *counts; /* of each node: how many they are, up to COPIED + 1 */
} users;

/* The module of a context: the file of the function that its call is compiled into. A node's follows from its caller's,
 * which has a lower number. */
static hearth_status find_homes(layout *l) {
  writer *w = l->w;
  const hearth_builder *b = w->builder;
  uint32_t *modules; /* of the innermost function at each node that was not inlined */
  HEARTH_TRY(hearth_array_create(&l->homes, b->context_count, sizeof *l->homes, w->err));
  HEARTH_TRY(hearth_array_create(&modules, b->node_count, sizeof *modules, w->err));
  for (size_t i = 0; i < b->node_count; i++) {
    const builder_frame *frame = &b->frames[b->nodes[i].frame];
    uint32_t function = w->functions.rank[frame->function];
    if (frame->flags & HEARTH_FRAME_INLINED && b->nodes[i].parent != HEARTH_NONE)
      modules[i] = modules[b->nodes[i].parent];
    else
      modules[i] = function == HEARTH_NONE ? NO_ONE : w->function_paths[function];
  }
  for (size_t i = 0; i < b->context_count; i++)
    l->homes[i] = modules[b->context_nodes[i]];
  free(modules);
  return HEARTH_OK;
}

static void add_users(const users *u, uint32_t node, uint32_t home, unsigned contexts) {
  unsigned count = u->counts[node] + contexts;
  if (u->counts[node] == 0)
    u->homes[node] = home;
  else if (u->homes[node] != home)
    u->homes[node] = NO_ONE;
  u->counts[node] = (uint8_t)(count > COPIED ? COPIED + 1 : count);
}

static void count_users(const layout *l, const users *u) {
  const hearth_builder *b = l->w->builder;
  for (uint32_t i = 0; i < b->context_count; i++)
    add_users(u, b->context_nodes[i], l->homes[i], l->homes[i] == NO_ONE ? COPIED + 1 : 1);
  for (uint32_t i = (uint32_t)b->node_count; i-- > 0;) /* parents have lower numbers */
    if (u->counts[i] > 0 && b->nodes[i].parent != HEARTH_NONE)
      add_users(u, b->nodes[i].parent, u->homes[i], u->counts[i]);
}

static hearth_status node_find_shared(layout *l) {
  size_t nodes = l->w->builder->node_count;
  users u = {0};
  hearth_status status = hearth_array_create(&u.homes, nodes, sizeof *u.homes, l->w->err);
  HEARTH_THEN(status, hearth_array_create(&u.counts, nodes, sizeof *u.counts, l->w->err));
  if (status == HEARTH_OK) {
    count_users(l, &u);
    for (size_t i = 0; i < nodes; i++)
      l->shared[i] = u.homes[i] == NO_ONE && u.counts[i] > COPIED;
  }
  free(u.homes);
  free(u.counts);
  return status;
}

/* -------------------------------------------------- children -------------------------------------------------- */

/* Lists the needed nodes by parent: the roots at children[0, starts[1]), the children of row r at
 * children[starts[r + 1], starts[r + 2]). Goes through the nodes in order of arrival, where a node mostly stands beside
 * its parent: memory that is not in the cache costs the time here. */
static void list_children(const layout *l) {
  const builder_node *nodes = l->w->builder->nodes;
  size_t rows = l->w->builder->node_count, keys = rows + 1; /* a parent's key is its row + 1; HEARTH_NONE + 1 is 0 */
  for (size_t i = 0; i < rows; i++)
    if (l->w->nodes.rank[i] != HEARTH_NONE)
      l->starts[nodes[i].parent + 1]++;
  for (size_t k = 1; k < keys; k++)
    l->starts[k] += l->starts[k - 1];
  l->starts[keys] = l->starts[keys - 1];
  for (size_t i = rows; i-- > 0;) /* from ends back to beginnings */
    if (l->w->nodes.rank[i] != HEARTH_NONE)
      l->children[--l->starts[nodes[i].parent + 1]] = (uint32_t)i;
}

typedef struct sibling {
  uint32_t frame, node;
} sibling;

static int compare_siblings(const void *a, const void *b) {
  uint32_t x = ((const sibling *)a)->frame, y = ((const sibling *)b)->frame;
  return (x > y) - (x < y);
}

static size_t greatest_family(const layout *l) {
  uint32_t greatest = 0;
  for (size_t key = 0; key <= l->w->builder->node_count; key++)
    greatest = l->starts[key + 1] - l->starts[key] > greatest ? l->starts[key + 1] - l->starts[key] : greatest;
  return greatest;
}

/* Siblings have different frames, so that no tie is left to chance. */
static hearth_status sort_siblings(const layout *l) {
  sibling *room;
  HEARTH_TRY(hearth_array_create(&room, greatest_family(l), sizeof *room, l->w->err));
  for (size_t key = 0; key <= l->w->builder->node_count; key++) {
    uint32_t first = l->starts[key], n = l->starts[key + 1] - first;
    if (n < 2)
      continue;
    for (uint32_t i = 0; i < n; i++)
      room[i] = (sibling){hearth_writer_node_frame(l->w, l->children[first + i]), l->children[first + i]};
    qsort(room, n, sizeof *room, compare_siblings);
    for (uint32_t i = 0; i < n; i++)
      l->children[first + i] = room[i].node;
  }
  free(room);
  return HEARTH_OK;
}

/* Push a node's children (HEARTH_NONE: the roots) that are shared, or not, onto the `n` pending nodes, the first
 * child on top. Returns how many are pending then. */
static size_t push_children(const layout *l, uint32_t node, bool shared, size_t n) {
  for (uint32_t i = l->starts[node + 2], first = l->starts[node + 1]; i-- > first;) /* HEARTH_NONE + 1 is 0 */
    if (l->shared[l->children[i]] == shared)
      l->pending[n++] = l->children[i];
  return n;
}

/* -------------------------------------------------- numbers -------------------------------------------------- */

static hearth_status reserve_rows(layout *l, size_t more) {
  writer *w = l->w;
  HEARTH_TRY(
      hearth_rows_reserve(&w->nodes.order, &l->order_room, w->nodes.count, more, sizeof *w->nodes.order, w->err));
  return hearth_rows_reserve(&w->parents, &l->parent_room, w->nodes.count, more, sizeof *w->parents, w->err);
}

/* Append a node's row. There is room, and its parent has its row. */
static void append_row(layout *l, uint32_t node) {
  writer *w = l->w;
  uint32_t parent = node_of_writer(l, node)->parent;
  hearth_expect(parent == HEARTH_NONE || w->nodes.rank[parent] < w->nodes.count);
  w->parents[w->nodes.count] = parent == HEARTH_NONE ? HEARTH_NONE : w->nodes.rank[parent];
  w->nodes.order[w->nodes.count] = node;
  w->nodes.rank[node] = w->nodes.count++;
}

/* Shared nodes come first, depth first from the roots. */
static hearth_status number_shared(layout *l) {
  for (size_t n = push_children(l, HEARTH_NONE, true, 0); n > 0;) {
    uint32_t node = l->pending[--n], context = node_of_writer(l, node)->context;
    HEARTH_TRY(reserve_rows(l, 1));
    if (context != HEARTH_NONE)
      l->w->leaves[context] = l->w->nodes.count;
    append_row(l, node);
    n = push_children(l, node, true, n);
  }
  return HEARTH_OK;
}

/* The contexts below a shared node (HEARTH_NONE: below no node) that are below no other shared one, depth first. */
static void node_list_contexts(layout *l, uint32_t node) {
  for (size_t n = push_children(l, node, false, 0); n > 0;) {
    node = l->pending[--n];
    if (node_of_writer(l, node)->context != HEARTH_NONE)
      l->contexts[l->context_count++] = node_of_writer(l, node)->context;
    n = push_children(l, node, false, n);
  }
}

/* A stable counting sort of the listed contexts by home. */
static hearth_status sort_contexts_by_home(layout *l) {
  writer *w = l->w;
  uint32_t *starts = NULL, *sorted = NULL;
  hearth_status status = hearth_array_create(&starts, w->path_count + 1, sizeof *starts, w->err);
  HEARTH_THEN(status, hearth_array_create(&sorted, l->context_count, sizeof *sorted, w->err));
  if (status == HEARTH_OK) {
    for (size_t i = 0; i < l->context_count; i++)
      starts[l->homes[l->contexts[i]] + 1]++;
    for (size_t i = 0; i < w->path_count; i++)
      starts[i + 1] += starts[i];
    for (size_t i = 0; i < l->context_count; i++)
      sorted[starts[l->homes[l->contexts[i]]]++] = l->contexts[i];
    free(l->contexts);
    l->contexts = sorted;
  }
  free(starts);
  return status;
}

/* The nodes of one module, which begin at row `first`, get rows from the leaf of `context` up to a node that has one.
 * Where a node is copied, its rank is the row of its last copy. */
static hearth_status number_stack(layout *l, uint32_t context, uint32_t first) {
  writer *w = l->w;
  uint32_t leaf = w->builder->context_nodes[context], node = leaf;
  size_t n = 0;
  while (node != HEARTH_NONE && !l->shared[node] &&
         (w->nodes.rank[node] < first || w->nodes.rank[node] == HEARTH_NONE)) {
    l->pending[n++] = node;
    node = node_of_writer(l, node)->parent;
  }
  HEARTH_TRY(reserve_rows(l, n));
  while (n > 0)
    append_row(l, l->pending[--n]);
  w->leaves[context] = w->nodes.rank[leaf];
  return HEARTH_OK;
}

/* Module by module; as the contexts are in the order of the tree, so are the nodes. */
static hearth_status number_own(layout *l) {
  writer *w = l->w;
  uint32_t first = w->nodes.count;
  size_t begun = 0; /* paths whose nodes have begun */
  HEARTH_TRY(sort_contexts_by_home(l));
  HEARTH_TRY(reserve_rows(l, w->builder->node_count - w->nodes.count)); /* enough if none are copied */
  for (size_t i = 0; i < l->context_count; i++) {
    for (; begun <= l->homes[l->contexts[i]]; begun++)
      w->paths[begun].first_node = first = w->nodes.count;
    HEARTH_TRY(number_stack(l, l->contexts[i], first));
  }
  for (; begun < w->path_count; begun++)
    w->paths[begun].first_node = w->nodes.count;
  return HEARTH_OK;
}

static hearth_status node_number_nodes(layout *l) {
  writer *w = l->w;
  size_t nodes = w->builder->node_count, contexts = w->builder->context_count;
  HEARTH_TRY(hearth_array_create(&l->shared, nodes, sizeof *l->shared, w->err));
  HEARTH_TRY(find_homes(l));
  HEARTH_TRY(node_find_shared(l));
  HEARTH_TRY(hearth_array_create(&l->children, nodes, sizeof *l->children, w->err));
  HEARTH_TRY(hearth_array_create(&l->starts, nodes + 1, sizeof *l->starts, w->err));
  list_children(l);
  HEARTH_TRY(sort_siblings(l));

  HEARTH_TRY(hearth_array_create(&l->pending, nodes, sizeof *l->pending, w->err));
  HEARTH_TRY(hearth_array_create(&l->contexts, contexts, sizeof *l->contexts, w->err));
  HEARTH_TRY(hearth_array_create(&w->leaves, contexts, sizeof *w->leaves, w->err));
  memset(w->nodes.rank, 0xff, nodes * sizeof *w->nodes.rank); /* those needed were marked */
  HEARTH_TRY(number_shared(l));
  node_list_contexts(l, HEARTH_NONE);
  for (uint32_t i = 0, shared = w->nodes.count; i < shared; i++)
    node_list_contexts(l, w->nodes.order[i]);

  free(l->children);
  free(l->starts);
  l->children = l->starts = NULL;
  HEARTH_TRY(number_own(l));
  HEARTH_TRY(hearth_array_create(&w->node_frames, w->nodes.count, sizeof *w->node_frames, w->err));
  for (uint32_t i = 0; i < w->nodes.count; i++)
    w->node_frames[i] = hearth_writer_node_frame(w, w->nodes.order[i]);
  return HEARTH_OK;
}

hearth_status hearth_writer_order_nodes(writer *w) {
  layout l = {.w = w, .order_room = w->builder->node_count};
  hearth_status status = node_number_nodes(&l);
  free(w->nodes.rank); /* with copies it says nothing any more */
  w->nodes.rank = NULL;
  HEARTH_FREE(l.homes, l.shared, l.children, l.starts, l.pending, l.contexts);
  return status;
}
