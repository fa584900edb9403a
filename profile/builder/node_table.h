/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds a node of the stacks by its parent and frame.
 *
 * A stack's nodes arrive one after the other, each under the one before, and so do a merged profile's. A common hash
 * table would scatter them over a memory that no cache holds. Here the nodes of neighbouring parents share a line of
 * slots, which is one line of the cache; only a node that its line has no room for goes where a hash of parent and
 * frame says. As nothing is ever removed, a line with a free slot is the whole answer, and a node with thousands of
 * children costs no more than in a common table. */
#ifndef HEARTH_NODE_TABLE_H
#define HEARTH_NODE_TABLE_H

#include "id_table.h"

typedef struct builder_node {
  uint32_t frame;
  uint32_t parent;  /* HEARTH_NONE: a root */
  uint32_t context; /* HEARTH_NONE: no blocks were allocated in exactly this stack */
} builder_node;

/* Slots of a line, and parents that share one: with one child each, as many as fill it as far as the table is filled. */
enum { NODE_TABLE_LINE = 16, NODE_TABLE_PARENTS = 12 };

typedef struct node_table {
  uint32_t *slots; /* rows of nodes; HEARTH_NONE: free */
  size_t size;     /* of slots; 0 or a power of two, at least one line */
} node_table;

/* The slot of a node, or the free one that it would be put in. The table is not full. */
static inline uint32_t *node_table_slot(const node_table *table, const builder_node *nodes, uint32_t parent,
                                        uint32_t frame) {
  uint64_t hash = id_table_mix((uint64_t)parent << 32 | frame);
  size_t line = (size_t)((uint64_t)(parent + 1) / NODE_TABLE_PARENTS * NODE_TABLE_LINE) & (table->size - 1);
  for (size_t i = 0; i < NODE_TABLE_LINE; i++) {
    uint32_t *slot = &table->slots[line + (hash + i) % NODE_TABLE_LINE];
    if (*slot == HEARTH_NONE || (nodes[*slot].parent == parent && nodes[*slot].frame == frame))
      return slot;
  }
  /* By a step of its own, as full lines stand side by side. */
  for (size_t at = hash >> 32, step = (hash >> 8) | 1;; at += step) {
    uint32_t *slot = &table->slots[at & (table->size - 1)];
    if (*slot == HEARTH_NONE || (nodes[*slot].parent == parent && nodes[*slot].frame == frame))
      return slot;
  }
}

/* Make room for `more` than the `count` nodes that are there; false when out of memory (the table is unchanged). */
static inline bool node_table_reserve(node_table *table, const builder_node *nodes, size_t count, size_t more) {
  if ((count + more) * 4 <= table->size * 3)
    return true;
  node_table bigger = {.size = table->size ? table->size * 2 : 4 * NODE_TABLE_LINE};
  while ((count + more) * 4 > bigger.size * 3)
    bigger.size *= 2;
  bigger.slots = malloc(bigger.size * sizeof *bigger.slots);
  if (!bigger.slots)
    return false;
  for (size_t i = 0; i < bigger.size; i++)
    bigger.slots[i] = HEARTH_NONE;
  for (size_t i = 0; i < count; i++)
    *node_table_slot(&bigger, nodes, nodes[i].parent, nodes[i].frame) = (uint32_t)i;
  free(table->slots);
  *table = bigger;
  return true;
}

#endif
