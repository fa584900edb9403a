/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adds a whole indexed profile to a builder. Each table is read once from its beginning; the rows that a row refers
 * to have their new numbers by then. */
#include <stdlib.h>
#include <string.h>

#include "builder_tables.h"
#include "hearth/ids.h"

/* New numbers of a profile's rows. */
typedef struct new_rows {
  uint32_t *functions, *frames, *nodes;
} new_rows;

static hearth_status new_rows_create(new_rows *rows, size_t functions, size_t frames, size_t nodes, hearth_error *err) {
  rows->functions = malloc((functions + 1) * sizeof *rows->functions);
  rows->frames = malloc((frames + 1) * sizeof *rows->frames);
  rows->nodes = malloc((nodes + 1) * sizeof *rows->nodes);
  if (rows->functions && rows->frames && rows->nodes)
    return HEARTH_OK;
  return hearth_error_nomem(err);
}

static void new_rows_free(new_rows *rows) { HEARTH_FREE(rows->functions, rows->frames, rows->nodes); }

/* Ids of LLVM's scheme follow from names, Hearth's do not follow from LLVM's. */
static hearth_status check_scheme(const hearth_builder *builder, enum hearth_id_scheme scheme, hearth_error *err) {
  if (scheme == builder->scheme || builder->scheme == HEARTH_IDS_LLVM)
    return HEARTH_OK;
  return hearth_error_set(err, HEARTH_E_MISMATCH,
                          "a profile with LLVM's function ids cannot be added to one with Hearth's");
}

/* A function with its id of `scheme`, under its id of the builder's. */
static hearth_status merge_add_function(hearth_builder *builder, enum hearth_id_scheme scheme, uint64_t id,
                                        const char *name, const char *path, uint32_t start_line, uint32_t *ret,
                                        hearth_error *err) {
  if (scheme == builder->scheme)
    return hearth_builder_function_by_id(builder, id, name, path, start_line, ret, err);
  if (hearth_is_stripped_name(name))
    return hearth_builder_function_by_id(builder, hearth_llvm_id_of_name(name), name, path, start_line, ret, err);
  if (*name)
    return hearth_builder_function(builder, name, path, start_line, ret, err);
  return hearth_error_set(err, HEARTH_E_MISMATCH,
                          "function 0x%016llx has no name, of which LLVM's id is made: index the raw profile anew",
                          (unsigned long long)id);
}

static hearth_status add_functions(hearth_builder *builder, hearth_profile *profile, enum hearth_id_scheme scheme,
                                   uint32_t *rows, hearth_error *err) {
  char path[HEARTH_PATH_LIMIT];
  for (uint32_t i = 0; i < hearth_profile_function_count(profile); i++) {
    hearth_function_info f;
    HEARTH_TRY(hearth_profile_get_function(profile, i, &f, err));
    HEARTH_TRY(hearth_profile_get_path(profile, f.path, path, sizeof path, err));
    HEARTH_TRY(merge_add_function(builder, scheme, f.id, f.name, path, f.start_line, &rows[i], err));
  }
  return HEARTH_OK;
}

static hearth_status merge_add_frames(hearth_builder *builder, hearth_profile *profile, enum hearth_id_scheme scheme,
                                      const uint32_t *functions, uint32_t *rows, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_frame_count(profile); i++) {
    hearth_frame_info f;
    HEARTH_TRY(hearth_profile_get_frame(profile, i, &f, err));
    builder_frame key = {.function = functions[f.function],
                         .line = f.line,
                         .column = f.column,
                         /* LLVM's profiles have none: with them, one context of LLVM's would be two. */
                         .discriminator = scheme == builder->scheme ? f.discriminator : 0,
                         .flags = (f.inlined ? HEARTH_FRAME_INLINED : 0) | (f.library ? HEARTH_FRAME_LIBRARY : 0),
                         .recursive = f.recursive};
    builder->functions[key.function].in_cycle |= f.in_cycle;
    HEARTH_TRY(hearth_builder_intern_frame(builder, &key, &rows[i], err));
  }
  return HEARTH_OK;
}

static hearth_status add_nodes(hearth_builder *builder, hearth_profile *profile, const uint32_t *frames, uint32_t *rows,
                               hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_stack_count(profile); i++) {
    uint32_t frame, parent;
    HEARTH_TRY(hearth_profile_get_stack(profile, i, &frame, &parent, err));
    HEARTH_TRY(hearth_builder_intern_node(builder, parent == HEARTH_NONE ? HEARTH_NONE : rows[parent], frames[frame],
                                          &rows[i], err));
  }
  return HEARTH_OK;
}

static hearth_status merge_add_contexts(hearth_builder *builder, hearth_profile *profile, const uint32_t *nodes,
                                        hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_context_count(profile); i++) {
    uint32_t leaf;
    hearth_mib mib;
    hearth_histogram histogram;
    HEARTH_TRY(hearth_profile_get_context(profile, i, &leaf, &mib, err));
    HEARTH_TRY(hearth_builder_add_to_node(builder, nodes[leaf], &mib, err));
    HEARTH_TRY(hearth_profile_get_histogram(profile, i, &histogram, err));
    HEARTH_TRY(hearth_builder_add_histogram(builder, nodes[leaf], &histogram, err));
  }
  return HEARTH_OK;
}

/* The builder's node of a context. */
static hearth_status find_node(hearth_profile *profile, uint32_t context, const uint32_t *nodes, uint32_t *ret,
                               hearth_error *err) {
  uint32_t leaf;
  HEARTH_TRY(hearth_profile_get_context(profile, context, &leaf, NULL, err));
  *ret = nodes[leaf];
  return HEARTH_OK;
}

static hearth_status add_variances(hearth_builder *builder, hearth_profile *profile, const uint32_t *nodes,
                                   hearth_error *err) {
  for (uint32_t i = 0; hearth_profile_has_variances(profile) && i < hearth_profile_context_count(profile); i++) {
    uint32_t node;
    hearth_variance variance;
    HEARTH_TRY(find_node(profile, i, nodes, &node, err));
    HEARTH_TRY(hearth_profile_get_variance(profile, i, &variance, err));
    HEARTH_TRY(hearth_builder_add_variance(builder, node, &variance, err));
  }
  return HEARTH_OK;
}

static hearth_status add_types(hearth_builder *builder, hearth_profile *profile, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_type_count(profile); i++) {
    const char *name;
    uint64_t id;
    HEARTH_TRY(hearth_profile_get_type(profile, i, &id, &name, err));
    HEARTH_TRY(hearth_builder_type(builder, name, strlen(name), &id, err));
  }
  return HEARTH_OK;
}

static hearth_status merge_add_globals(hearth_builder *builder, hearth_profile *profile, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_global_count(profile); i++) {
    hearth_global global;
    HEARTH_TRY(hearth_profile_get_global(profile, i, &global, err));
    HEARTH_TRY(hearth_builder_add_global(builder, &global, err));
  }
  return HEARTH_OK;
}

static hearth_status merge_add_binaries(hearth_builder *builder, hearth_profile *profile, hearth_error *err) {
  for (uint32_t i = 0; i < hearth_profile_binary_count(profile); i++) {
    const char *name;
    const uint8_t *build_id;
    uint32_t size;
    HEARTH_TRY(hearth_profile_get_binary(profile, i, &name, &build_id, &size, err));
    HEARTH_TRY(hearth_builder_add_binary(builder, name, build_id, size, err));
  }
  return HEARTH_OK;
}

static hearth_status add_run_facts(hearth_builder *builder, hearth_profile *profile, hearth_error *err) {
  hearth_run_facts facts;
  HEARTH_TRY(hearth_profile_get_run_facts(profile, &facts, err));
  return hearth_builder_add_run_facts(builder, &facts, err);
}

/* Its sums are with the other totals of runs. */
static hearth_status merge_add_history(hearth_builder *builder, hearth_profile *profile, const uint32_t *nodes,
                                       hearth_error *err) {
  hearth_heap_history history;
  HEARTH_TRY(hearth_profile_get_history(profile, &history, err));
  hearth_status status = hearth_builder_add_history(builder, &history, err);
  for (size_t i = 0; status == HEARTH_OK && i < history.count; i++) {
    uint32_t node;
    status = find_node(profile, history.rows[i].context, nodes, &node, err);
    HEARTH_THEN(status, hearth_builder_add_levels(builder, node, history.rows[i].levels, err));
  }
  hearth_heap_history_free(&history);
  return status;
}

static hearth_status add_tables(hearth_builder *builder, hearth_profile *profile, enum hearth_id_scheme scheme,
                                const new_rows *rows, hearth_error *err) {
  HEARTH_TRY(add_functions(builder, profile, scheme, rows->functions, err));
  HEARTH_TRY(merge_add_frames(builder, profile, scheme, rows->functions, rows->frames, err));
  HEARTH_TRY(add_nodes(builder, profile, rows->frames, rows->nodes, err));
  HEARTH_TRY(merge_add_contexts(builder, profile, rows->nodes, err));
  HEARTH_TRY(add_variances(builder, profile, rows->nodes, err));
  HEARTH_TRY(merge_add_history(builder, profile, rows->nodes, err));
  HEARTH_TRY(add_types(builder, profile, err));
  HEARTH_TRY(merge_add_globals(builder, profile, err));
  HEARTH_TRY(add_run_facts(builder, profile, err));
  return merge_add_binaries(builder, profile, err);
}

hearth_status hearth_builder_add_profile(hearth_builder *builder, hearth_profile *profile, hearth_error *err) {
  hearth_profile_summary summary;
  new_rows rows;
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  HEARTH_TRY(check_scheme(builder, summary.id_scheme, err));
  hearth_status status = new_rows_create(&rows, hearth_profile_function_count(profile),
                                         hearth_profile_frame_count(profile), hearth_profile_stack_count(profile), err);
  if (!hearth_profile_has_variances(profile))
    hearth_builder_begin_run(builder);
  HEARTH_THEN(status, add_tables(builder, profile, summary.id_scheme, &rows, err));
  if (status == HEARTH_OK && !hearth_profile_has_variances(profile))
    status = hearth_builder_end_run(builder, &summary, err);
  HEARTH_THEN(status, hearth_builder_add_run(builder, &summary, err));
  new_rows_free(&rows);
  return status;
}
