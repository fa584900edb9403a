/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sums of contexts without their scopes. The compiler sees no scopes: contexts that differ in them only are one to it,
 * and count together for cutoffs and plans. The tree of stacks is copied without frames of scopes; contexts that meet
 * at a node are equal. */
#include <stdlib.h>
#include <string.h>

#include "hearth/ids.h"
#include "writer.h"

static bool *mark_scopes(const hearth_builder *b, bool *ret_any) {
  bool *is_scope = calloc(b->function_count + 1, sizeof *is_scope);
  *ret_any = false;
  for (size_t i = 0; is_scope && i < b->function_count; i++) {
    is_scope[i] = strcmp(b->pool + b->functions[i].path, HEARTH_SCOPE_FILE) == 0;
    *ret_any |= is_scope[i];
  }
  return is_scope;
}

/* Nodes that are left: rows of `nodes`, found by parent and frame; in `context`, the first context there. */
typedef struct unscoped_stacks {
  builder_node *nodes;
  size_t count;
  node_table by_content;
  uint32_t *of; /* of each node of the builder; HEARTH_NONE: only scopes so far */
} unscoped_stacks;

static bool begin(unscoped_stacks *unscoped, size_t node_count) {
  unscoped->nodes = malloc((node_count + 1) * sizeof *unscoped->nodes);
  unscoped->of = malloc((node_count + 1) * sizeof *unscoped->of);
  return unscoped->nodes && unscoped->of && node_table_reserve(&unscoped->by_content, unscoped->nodes, 0, node_count);
}

/* A caller's node is lower. */
static void strip_node(unscoped_stacks *unscoped, const hearth_builder *b, const bool *is_scope, uint32_t node) {
  const builder_node *n = &b->nodes[node];
  uint32_t parent = n->parent == HEARTH_NONE ? HEARTH_NONE : unscoped->of[n->parent];
  if (is_scope[b->frames[n->frame].function]) {
    unscoped->of[node] = parent;
    return;
  }
  uint32_t *slot = node_table_slot(&unscoped->by_content, unscoped->nodes, parent, n->frame);
  if (*slot == HEARTH_NONE) {
    *slot = (uint32_t)unscoped->count;
    unscoped->nodes[unscoped->count++] = (builder_node){.frame = n->frame, .parent = parent, .context = HEARTH_NONE};
  }
  unscoped->of[node] = *slot;
}

/* Sum the contexts of each node that is left under the first of them. */
static void sum_contexts(writer *w, unscoped_stacks *unscoped) {
  const hearth_builder *b = w->builder;
  for (uint32_t i = 0; i < b->context_count; i++) {
    uint32_t node = unscoped->of[b->context_nodes[i]];
    uint32_t *first = node == HEARTH_NONE ? NULL : &unscoped->nodes[node].context; /* a scope alone is like no other */
    if (first && *first == HEARTH_NONE)
      *first = i;
    w->unscoped_contexts[i] = first ? *first : i;
    hearth_mib mib;
    hearth_mib_rows_get(&b->mibs, i, &mib);
    hearth_mib_merge(&w->unscoped_sums[w->unscoped_contexts[i]], &mib);
    hearth_spread spread = hearth_builder_spread(b, i);
    hearth_spread_add(&w->unscoped_spreads[w->unscoped_contexts[i]], &spread, 1, 1);
  }
}

hearth_status hearth_writer_sum_without_scopes(writer *w) {
  const hearth_builder *b = w->builder;
  unscoped_stacks unscoped = {0};
  bool any;
  bool *is_scope = mark_scopes(b, &any);
  bool good = is_scope != NULL;
  if (good && any && (good = begin(&unscoped, b->node_count))) {
    for (uint32_t i = 0; i < b->node_count; i++)
      strip_node(&unscoped, b, is_scope, i);
    w->unscoped_contexts = malloc((b->context_count + 1) * sizeof *w->unscoped_contexts);
    w->unscoped_sums = calloc(b->context_count + 1, sizeof *w->unscoped_sums);
    w->unscoped_spreads = calloc(b->context_count + 1, sizeof *w->unscoped_spreads);
    if ((good = w->unscoped_contexts && w->unscoped_sums && w->unscoped_spreads))
      sum_contexts(w, &unscoped);
  }
  free(is_scope);
  free(unscoped.nodes);
  free(unscoped.of);
  free(unscoped.by_content.slots);
  return good ? HEARTH_OK : hearth_error_nomem(w->err);
}
