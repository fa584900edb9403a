/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declarations that the files of the writer share. The writer goes through a profile in passes: order, strings, packed
 * tables, sections. */
#ifndef HEARTH_WRITER_INTERNAL_H
#define HEARTH_WRITER_INTERNAL_H

#include "builder_tables.h"
#include "hearth/classify.h"

/* A table that is renumbered: `order` lists the builder's rows in their new order; `rank` gives a row's new number, or
 * HEARTH_NONE where no context needs it. Of a node that is copied, `order` has each copy. */
typedef struct renumbering {
  uint32_t *order, *rank;
  uint32_t count;
} renumbering;

typedef struct writer_section {
  uint8_t *data;
  size_t size;
  uint32_t count; /* rows */
} writer_section;

enum { WRITER_CONTEXT_COLUMNS = 1 + HEARTH_MIB_COLUMNS }; /* of CONTEXTS, at most: the leaf node and the fields */

typedef struct writer writer;

/* Makes the PLAN section (malloc'd; empty: there is nothing to plan) once contexts are in order and summarised.
 * E_NOMEM. */
typedef hearth_status writer_make_plan(const writer *w, const void *state, writer_section *ret);

struct writer {
  const hearth_builder *builder; /* its estimates are made */
  writer_make_plan *make_plan;   /* NULL: no plan is made */
  const void *plan_state;
  hearth_error *err;
  size_t column_count;                     /* of CONTEXTS */
  uint8_t columns[WRITER_CONTEXT_COLUMNS]; /* behind the first: enum hearth_mib_column */
  const char *column_names[WRITER_CONTEXT_COLUMNS];
  renumbering functions, frames, nodes, contexts;
  uint32_t *parents;     /* of each new node: the new number of its caller's */
  uint32_t *node_frames; /* of each new node: the new number of its frame */
  uint32_t *leaves;      /* of each of the builder's contexts: the new number of its node */
  uint32_t *
      unscoped_contexts; /* of each of the builder's contexts: the first one that is equal but for scopes; NULL: no scopes */
  hearth_mib *unscoped_sums;           /* of each such first one: the sum of all that are equal to it */
  hearth_variance *unscoped_variances; /* likewise */
  uint32_t *context_ends;              /* of each new frame: the number behind its last context */
  const char **strings;                /* sorted, each once */
  uint32_t *string_offsets;
  size_t string_count;
  hearth_indexed_path *paths; /* of their section */
  size_t path_count;
  uint32_t *function_paths; /* of each function, by its new number: row in `paths` or HEARTH_NONE */
  const char **file_names;  /* the distinct paths of functions, sorted */
  uint32_t *file_rows;      /* their rows in `paths` */
  size_t file_count;
  char *components; /* the file names again, each '/' a NUL: room for the strings of `paths` */
  builder_binary *binaries;
  builder_type *types;
  size_t type_count;
  writer_section sections[HEARTH_SECTIONS + 1]; /* by id; those that are made so far */
  uint8_t *image;
  size_t size;
};

/* writer.c: make a section of `size` bytes, all 0, and return them. E_NOMEM. */
hearth_status hearth_writer_add_section(writer *w, uint32_t id, size_t count, size_t size, void *ret_data);

/* row_order.c, nodes.c: the rows that contexts need, each table in canonical order. In this order; E_NOMEM. The
 * order of nodes needs the paths, too; E_FULL if the nodes have become too many. */
hearth_status hearth_writer_mark_needed(writer *w);
hearth_status hearth_writer_order_functions(writer *w);
hearth_status hearth_writer_order_frames(writer *w);
hearth_status hearth_writer_order_nodes(writer *w);
hearth_status hearth_writer_order_contexts(writer *w);
hearth_status hearth_writer_order_binaries(writer *w);

/* Frame of a node: the frame's new number, the builder's of the node. */
uint32_t hearth_writer_node_frame(const writer *w, uint32_t node);

/* section_rows.c: the section, once contexts are in order; empty if there are none. E_NOMEM, E_FULL. */
hearth_status hearth_writer_encode_histograms(writer *w);
hearth_status hearth_writer_encode_history(writer *w);

/* section_rows.c: the section; empty if it follows from the rest. E_NOMEM. */
hearth_status hearth_writer_encode_variances(writer *w);

/* The same of the facts of runs; empty if none is known. Once there are strings. */
hearth_status hearth_writer_encode_run_facts(writer *w);

/* section_rows.c: contexts that are one to the compiler; before the summary. E_NOMEM. */
hearth_status hearth_writer_sum_without_scopes(writer *w);
static inline uint32_t writer_unscoped_context(const writer *w, uint32_t context) {
  return w->unscoped_contexts ? w->unscoped_contexts[context] : context;
}

/* row_order.c: were accesses counted in all runs? Then the summary, E_NOMEM. */
bool hearth_writer_accesses_counted(const writer *w);
hearth_status hearth_writer_summarise(writer *w);
/* Of one of the builder's contexts, and those equal to it but for scopes, the fields that its class depends on; the
 * others stay undefined. */
void hearth_writer_get_classified(const writer *w, uint32_t context, hearth_mib *ret);
/* The variance of one of the builder's contexts, summed as above. */
hearth_variance hearth_writer_get_variance(const writer *w, uint32_t context);
/* After hearth_writer_summarise. */
hearth_classifier hearth_writer_classifier(const writer *w, const hearth_classify_options *options);

/* section_rows.c: order the types that contexts have by id; TYPES. E_NOMEM. */
hearth_status hearth_writer_order_types(writer *w);
hearth_status hearth_writer_encode_types(writer *w);

/* section_rows.c: GLOBALS, the hot ones known; once there are strings. E_NOMEM. */
hearth_status hearth_writer_encode_globals(writer *w);

/* strings.c: strings, and paths as a reverse prefix tree; once functions and binaries are in order. E_NOMEM. */
hearth_status hearth_writer_collect_file_names(writer *w);
hearth_status hearth_writer_collect_strings(writer *w, const char *const *names,
                                            size_t name_count); /* types', and these */
hearth_status hearth_writer_build_paths(writer *w);
/* Offset in STRINGS of a string that was collected. */
uint32_t hearth_writer_string_offset(const writer *w, const char *string);

/* The bytes of the builder's profile, malloc'd, with the plan that `make_plan` makes; without one if it is NULL. */
hearth_status hearth_writer_write(hearth_builder *builder, writer_make_plan *make_plan, const void *plan_state,
                                  void **ret_data, size_t *ret_size, hearth_error *err);

#endif
