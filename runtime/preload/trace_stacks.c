/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stacks are written as nodes of a tree, each with its parent: a context's node is written when an event first has it. */
#include "trace_stacks.h"

#include "os.h"
#include "running_profile.h"
#include "trace_file.h"

#include "hearth/raw_codec.h"

#define BUCKETS      ((uint32_t)1 << 20)
#define GATHER_BYTES ((size_t)256 << 10)

typedef struct node {
  uint64_t pc;
  uint32_t parent; /* HEARTH_RAW_NO_PARENT: none */
  uint32_t next;   /* node + 1 of the same bucket; 0: none */
} node;

/* Only the used part of the tables becomes memory. */
static struct {
  node *nodes;
  uint32_t *buckets; /* node + 1 */
  uint32_t *leaf_of; /* by context: node + 1; 0: not in the file */
  uint8_t *gathered; /* nodes from `first` on, packed */
  uint8_t *end;      /* of the gathered nodes */
  uint32_t count, first, context_most;
  uint64_t dropped;
} forest;

static void *map_table(size_t size) {
  size_t whole = hearth_os_whole_pages(size);
  void *table = hearth_os_map(whole);

  if (table)
    hearth_os_mark_sparse(table, whole);
  return table;
}

bool hearth_trace_stacks_create(uint32_t most_contexts) {
  forest.nodes = map_table(HEARTH_TRACE_NODES_TOTAL * sizeof *forest.nodes);
  forest.buckets = map_table(BUCKETS * sizeof *forest.buckets);
  forest.leaf_of = map_table((size_t)most_contexts * sizeof *forest.leaf_of);
  forest.gathered = forest.end = map_table(GATHER_BYTES);
  forest.context_most = most_contexts;
  return forest.nodes && forest.buckets && forest.leaf_of && forest.gathered;
}

void hearth_trace_stacks_flush(hearth_packer *packer) {
  hearth_trace_block block = {
      .kind = HEARTH_TRACE_BLOCK_STACKS, .count = forest.count - forest.first, .first = forest.first};

  if (block.count == 0)
    return;
  hearth_packer_begin(packer);
  hearth_packer_add(packer, forest.gathered, (size_t)(forest.end - forest.gathered));
  hearth_trace_file_add(&block, packer->packed, packer->size);
  forest.first = forest.count;
  forest.end = forest.gathered;
}

/* The node of a call with this caller; HEARTH_RAW_NO_PARENT if there is no room for a new one. */
static uint32_t intern(uint64_t pc, uint32_t parent, hearth_packer *packer) {
  uint64_t key = (pc ^ (uint64_t)parent << 40 ^ parent) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
  uint32_t *bucket = &forest.buckets[key >> 32 & (BUCKETS - 1)];

  for (uint32_t at = *bucket; at; at = forest.nodes[at - 1].next)
    if (forest.nodes[at - 1].pc == pc && forest.nodes[at - 1].parent == parent)
      return at - 1;
  if (forest.count == HEARTH_TRACE_NODES_TOTAL)
    return HEARTH_RAW_NO_PARENT;
  if (forest.count - forest.first == HEARTH_TRACE_NODES_MOST ||
      (size_t)(forest.end - forest.gathered) > GATHER_BYTES - HEARTH_RAW_NODE_MOST)
    hearth_trace_stacks_flush(packer);
  hearth_raw_stack_node raw = {.pc = pc, .parent = parent};
  uint64_t previous_pc = forest.count > forest.first ? forest.nodes[forest.count - 1].pc : 0;
  forest.end = hearth_raw_put_node(forest.end, forest.count, &raw, previous_pc);
  forest.nodes[forest.count] = (node){pc, parent, *bucket};
  *bucket = ++forest.count;
  return forest.count - 1;
}

static uint32_t add_stack(uint32_t context, hearth_packer *packer) {
  uint32_t depth, at = HEARTH_RAW_NO_PARENT;
  const uint64_t *pcs = hearth_depot_stack(&hearth_rt.depot, context, &depth);

  while (depth > 0) {
    at = intern(pcs[--depth], at, packer);
    if (at == HEARTH_RAW_NO_PARENT)
      break;
  }
  return at;
}

uint32_t hearth_trace_stacks_node(uint32_t context, hearth_packer *packer) {
  if (context == 0 || context >= forest.context_most) /* the empty stack, which the depot counts if it was too full */
    return HEARTH_TRACE_NO_STACK;
  if (!forest.leaf_of[context]) {
    uint32_t leaf = add_stack(context, packer);
    if (leaf == HEARTH_RAW_NO_PARENT) {
      ++forest.dropped;
      return HEARTH_TRACE_NO_STACK;
    }
    forest.leaf_of[context] = leaf + 1;
  }
  return forest.leaf_of[context] - 1;
}

void hearth_trace_stacks_forget(void) {
  hearth_os_discard(forest.buckets, BUCKETS * sizeof *forest.buckets);
  hearth_os_discard(forest.leaf_of, ((size_t)forest.context_most * sizeof *forest.leaf_of + HEARTH_OS_PAGE - 1) &
                                        ~(HEARTH_OS_PAGE - 1));
  forest.count = forest.first = 0;
  forest.end = forest.gathered;
  forest.dropped = 0;
}

uint64_t hearth_trace_stacks_dropped(void) { return forest.dropped; }
