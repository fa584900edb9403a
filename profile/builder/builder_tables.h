/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The builder's tables, shared by the files that fill it (builder.c, text_reader.c) and the writer.
 *
 *   string    in one pool, found again by content     function  found again by id
 *   frame     found again by content                  node      frame under a caller's node: the stacks are one trie
 *                                                               that grows from the roots
 *
 * Rows are in the order of arrival; the writer brings them into the canonical one. Rows that no context needs (left
 * behind by an addition that failed, or functions never used) are not written. */
#ifndef HEARTH_BUILDER_TABLES_H
#define HEARTH_BUILDER_TABLES_H

#include "hearth/builder.h"
#include "hearth/classify.h"
#include "hearth/global.h"
#include "hearth/profile.h"
#include "id_table.h"

/* Finds a node of the stacks by its parent and frame.
 *
 * A stack's nodes arrive one after the other, each under the one before, and so do a merged profile's. A common hash
 * table would scatter them over a memory that no cache holds. Here the nodes of neighbouring parents share a line of
 * slots, which is one line of the cache; only a node that its line has no room for goes where a hash of parent and
 * frame says. As nothing is ever removed, a line with a free slot is the whole answer, and a node with thousands of
 * children costs no more than in a common table. */

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

#define HEARTH_BUILD_ID_MAX sizeof(((hearth_indexed_binary *)0)->build_id)

typedef struct builder_function {
  uint64_t id;
  uint32_t name, path; /* offsets in the pool */
  uint32_t start_line;
  bool in_cycle; /* folding left out calls that it makes */
} builder_function;

typedef struct builder_frame {
  uint32_t function, line, column, discriminator, flags;
  bool recursive; /* folding left it out of a stack; frames are found without it */
} builder_frame;

typedef struct builder_binary {
  uint32_t name; /* offset in the pool */
  uint32_t build_id_size;
  uint8_t build_id[HEARTH_BUILD_ID_MAX];
} builder_binary;

typedef struct builder_type {
  uint64_t id;
  uint32_t name; /* offset in the pool */
} builder_type;

typedef struct builder_global {
  uint64_t id;
  uint64_t size, accesses, touched_lines, stores; /* hearth/global.h */
  uint32_t name, file;                            /* offsets in the pool */
  uint32_t line, flags;
} builder_global;

typedef struct builder_histogram {
  uint64_t *counts;
  size_t size;
} builder_histogram;

/* Sums of one context in the run that is being added. */
typedef struct builder_run_sums {
  uint64_t allocs, bytes, accesses, lifetime;
  uint32_t context;
} builder_run_sums;

typedef struct builder_variances {
  hearth_variance *rows; /* of each of the first `count` contexts */
  size_t count, room;
  bool in_run;
  builder_run_sums *run;
  uint32_t *run_rows; /* of each of the first run_row_count contexts: its row in `run`, or HEARTH_NONE */
  size_t run_count, run_room, run_row_count, run_row_room;
} builder_variances;

typedef struct builder_run_facts {
  uint64_t peak_bytes;
  uint32_t first_day, last_day;
  uint32_t command; /* offset in the pool */
  bool has_command, commands_differ;
} builder_run_facts;

typedef struct builder_history {
  uint64_t runs, peak_ppm;
  uint64_t levels[HEARTH_RAW_POINTS];
  uint64_t **rows; /* HEARTH_RAW_POINTS levels of each of the first `count` contexts; NULL: none */
  size_t count, room;
} builder_history;

struct hearth_builder {
  builder_history history;
  enum hearth_id_scheme scheme;
  char *pool;
  builder_function *functions;
  builder_frame *frames;
  builder_node *nodes;
  uint32_t *context_nodes;       /* of each context */
  hearth_mib *mibs;              /* of each context */
  builder_histogram *histograms; /* of each of the first histogram_count contexts */
  builder_binary *binaries;
  builder_type *types;
  builder_global *globals;
  size_t global_count, global_room;
  size_t pool_size, function_count, frame_count, node_count, context_count, histogram_count, binary_count, type_count;
  size_t pool_room, function_room, frame_room, node_room, context_room, mib_room, histogram_room, binary_room,
      type_room;
  id_table strings, functions_by_id, frames_by_content, types_by_id, globals_by_id;
  node_table nodes_by_content;
  uint32_t next_node; /* behind the one that was found last */
  builder_variances variances;
  builder_run_facts run_facts;
  hearth_profile_summary runs;            /* sums of hearth_builder_add_run; the totals are not used */
  uint64_t counted, densities, uncounted; /* calls of hearth_builder_add_run, by the known facts about accesses */
  bool has_runs;
  bool fold_recursion;
  uint64_t unrecorded; /* fields that are 0 in all contexts, 1 << enum hearth_mib_column */
  uint64_t weight;     /* how many times an addition counts */
};

/* Offset of the string in the pool. */
hearth_status hearth_builder_intern_string(hearth_builder *builder, const char *string, uint32_t *ret,
                                           hearth_error *err);
/* Folding has left the frame out of a stack. */
void hearth_builder_mark_recursive(hearth_builder *builder, uint32_t frame);
/* Number of this frame; its discriminator is a base discriminator already. */
hearth_status hearth_builder_intern_frame(hearth_builder *builder, const builder_frame *frame, uint32_t *ret_frame,
                                          hearth_error *err);
/* The same for a frame as callers of the library describe it. */
hearth_status hearth_builder_frame_row(hearth_builder *builder, const hearth_builder_frame *frame, uint32_t *ret_frame,
                                       hearth_error *err);
/* Room for `more` nodes, which are to come: their table then need not grow step by step. */
hearth_status hearth_builder_reserve_nodes(hearth_builder *builder, size_t more, hearth_error *err);
/* Number of the node of this frame under `parent`. Where recursion is folded it may be an ancestor of `parent`. */
hearth_status hearth_builder_intern_node(hearth_builder *builder, uint32_t parent, uint32_t frame, uint32_t *ret_node,
                                         hearth_error *err);
/* Merge `mib` into the context of a node. */
hearth_status hearth_builder_add_to_node(hearth_builder *builder, uint32_t node, const hearth_mib *mib,
                                         hearth_error *err);
/* Id of the type with this name, which it has from now on. */
hearth_status hearth_builder_type(hearth_builder *builder, const char *name, size_t length, uint64_t *ret_id,
                                  hearth_error *err);
/* Add to the histogram of a node's context; to none if it has no context. */
hearth_status hearth_builder_add_histogram(hearth_builder *builder, uint32_t node, const hearth_histogram *histogram,
                                           hearth_error *err);

/* Fields that no context of the profile has. */
static inline void hearth_builder_drop_unrecorded(const hearth_builder *builder, hearth_mib *mib) {
  for (uint64_t fields = builder->unrecorded; fields; fields &= fields - 1)
    mib->v[__builtin_ctzll(fields)] = 0;
}

/* estimates.c: between begin_run and end_run, add to the run's own sums. */
hearth_status hearth_builder_note_in_run(hearth_builder *builder, size_t context, const hearth_mib *mib,
                                         hearth_error *err);
/* Add to the variance of a node's context; to none if it has no context. */
hearth_status hearth_builder_add_variance(hearth_builder *builder, uint32_t node, const hearth_variance *variance,
                                          hearth_error *err);
hearth_variance hearth_builder_variance(const hearth_builder *builder, size_t context);
/* Do the variances follow from the sums, which are those of a single run? Or are there none? */
bool hearth_builder_is_one_run(const hearth_builder *builder);
void hearth_builder_free_variances(builder_variances *variances);
/* Merge these facts of runs into the builder's. */
hearth_status hearth_builder_add_run_facts(hearth_builder *builder, const hearth_run_facts *facts, hearth_error *err);
/* The string lives until something is added. */
hearth_run_facts hearth_builder_run_facts(const hearth_builder *builder);
/* Add the facts of `runs` runs, and the levels of a node's context; of none if it has no context. */
hearth_status hearth_builder_add_history(hearth_builder *builder, const hearth_heap_history *history,
                                         hearth_error *err);
hearth_status hearth_builder_add_levels(hearth_builder *builder, uint32_t node, const uint64_t *levels,
                                        hearth_error *err);
/* HEARTH_RAW_POINTS numbers, or NULL. */
const uint64_t *hearth_builder_levels(const hearth_builder *builder, size_t context);
void hearth_builder_free_history(builder_history *history);
/* The histogram of a context; lives until something is added. Its last count is not 0. */
hearth_histogram hearth_builder_histogram(const hearth_builder *builder, size_t context);

/* ------------------------------------------------ estimates ------------------------------------------------ */

/* Accesses estimated from sums of looks (hearth/classify.h). */

/* Set the estimated part of the access fields: the accesses of each block's first use, and of touches, `rate` times
 * a second. Counted accesses weigh more. hearth_mib_forget_estimate takes that part out. Both may be repeated. */
void hearth_mib_estimate(hearth_mib *mib, double rate);
void hearth_mib_forget_estimate(hearth_mib *mib);

/* Estimate the accesses of all contexts, if any run had looks. */
void hearth_builder_estimate(hearth_builder *builder);

/* Names of the fields of a MIB, as in mib_fields.def. */

const char *hearth_mib_column_name(int column); /* enum hearth_mib_column */
/* The column whose name is these bytes; -1: none. */
int hearth_mib_column_find(const char *name, size_t length);

#endif
