/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Collects contexts. Strings, functions, frames and stack nodes are rows of growing arrays, each found again by a hash
 * table of row numbers; a context is a number at a node, and equal contexts meet at one node, where their MIBs are
 * merged. Facts of the runs are sums, maxima, a command; their histories are sums, point by point. */
#include "builder_tables.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/expect.h"
#include "hearth/ids.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

hearth_builder *hearth_builder_create(enum hearth_id_scheme scheme) {
  hearth_builder *builder = calloc(1, sizeof *builder);
  if (!builder)
    return NULL;
  builder->scheme = scheme;
  builder->weight = 1;
  builder->runs.accesses_counted = true; /* neutral for "in every run" */
  return builder;
}

void hearth_builder_destroy(hearth_builder *builder) {
  if (!builder)
    return;
  HEARTH_FREE(builder->pool, builder->functions, builder->frames, builder->nodes, builder->context_nodes,
              builder->mibs);
  for (size_t i = 0; i < builder->histogram_count; i++)
    free(builder->histograms[i].counts);
  free(builder->histograms);
  hearth_builder_free_variances(&builder->variances);
  hearth_builder_free_history(&builder->history);
  HEARTH_FREE(builder->binaries, builder->types, builder->globals, builder->types_by_id.slots,
              builder->globals_by_id.slots, builder->strings.slots, builder->functions_by_id.slots,
              builder->frames_by_content.slots, builder->nodes_by_content.slots, builder);
}

void hearth_builder_set_weight(hearth_builder *builder, uint64_t weight) { builder->weight = weight; }

void hearth_builder_fold_recursion(hearth_builder *builder, bool fold) { builder->fold_recursion = fold; }

void hearth_builder_leave_unrecorded(hearth_builder *builder, uint64_t fields) {
  builder->unrecorded = fields & ~(UINT64_C(1) << HEARTH_COL_AllocCount);
  if (fields & UINT64_C(1) << HEARTH_COL_TotalAccessCount)
    builder->runs.accesses_counted = false;
}

/* -------------------------------------------------- strings -------------------------------------------------- */

static bool equal_string(const void *owner, uint32_t offset, const void *key) {
  return strcmp(((const hearth_builder *)owner)->pool + offset, key) == 0;
}

hearth_status hearth_builder_intern_string(hearth_builder *builder, const char *string, uint32_t *ret,
                                           hearth_error *err) {
  size_t size = strlen(string) + 1;
  uint64_t hash = XXH3_64bits(string, size - 1);
  *ret = id_table_find(&builder->strings, hash, equal_string, builder, string);
  if (*ret != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_rows_reserve(&builder->pool, &builder->pool_room, builder->pool_size, size, 1, err));
  HEARTH_TRY(hearth_check_memory(id_table_reserve(&builder->strings), err));
  *ret = (uint32_t)builder->pool_size;
  memcpy(builder->pool + builder->pool_size, string, size);
  builder->pool_size += size;
  id_table_insert(&builder->strings, hash, *ret);
  return HEARTH_OK;
}

/* Keep one of two descriptions of a thing, whatever their order: one that is not empty, then the least. */
static void prefer(const hearth_builder *builder, uint32_t *kept, uint32_t other) {
  const char *a = builder->pool + *kept, *b = builder->pool + other;
  if (*b && (!*a || strcmp(b, a) < 0))
    *kept = other;
}

/* -------------------------------------------------- functions -------------------------------------------------- */

static bool equal_function(const void *owner, uint32_t row, const void *id) {
  return ((const hearth_builder *)owner)->functions[row].id == *(const uint64_t *)id;
}

hearth_status hearth_builder_function_by_id(hearth_builder *builder, uint64_t id, const char *name, const char *path,
                                            uint32_t start_line, uint32_t *ret_function, hearth_error *err) {
  builder_function described = {.id = id, .start_line = start_line};
  if (strlen(path) >= HEARTH_PATH_LIMIT)
    return hearth_error_set(err, HEARTH_E_FULL, "function %s: its file name has more than %u bytes", name,
                            HEARTH_PATH_LIMIT - 1);
  HEARTH_TRY(hearth_builder_intern_string(builder, name, &described.name, err));
  HEARTH_TRY(hearth_builder_intern_string(builder, path, &described.path, err));

  uint32_t row = id_table_find(&builder->functions_by_id, id_table_mix(id), equal_function, builder, &id);
  if (row == HEARTH_NONE) {
    HEARTH_TRY(id_table_reserve_row(&builder->functions_by_id, &builder->functions, &builder->function_room,
                                    builder->function_count, sizeof *builder->functions, err));
    row = (uint32_t)builder->function_count++;
    builder->functions[row] = described;
    id_table_insert(&builder->functions_by_id, id_table_mix(id), row);
  } else {
    builder_function *known = &builder->functions[row];
    prefer(builder, &known->name, described.name);
    prefer(builder, &known->path, described.path);
    if (known->start_line < start_line)
      known->start_line = start_line;
  }
  *ret_function = row;
  return HEARTH_OK;
}

hearth_status hearth_builder_function(hearth_builder *builder, const char *linkage_name, const char *path,
                                      uint32_t start_line, uint32_t *ret_function, hearth_error *err) {
  size_t name_length = hearth_declared_name_length(linkage_name, strlen(linkage_name), path);
  size_t path_length = strlen(path);
  while (path_length > 1 && path[path_length - 1] == '/')
    path_length--;
  char *copy = malloc(name_length + 1 + path_length + 1);
  HEARTH_TRY(hearth_check_memory(copy, err));
  char *stripped_path = copy + name_length + 1;
  memcpy(copy, linkage_name, name_length);
  copy[name_length] = '\0';
  memcpy(stripped_path, path, path_length);
  stripped_path[path_length] = '\0';

  uint64_t id =
      builder->scheme == HEARTH_IDS_LLVM
          ? hearth_is_stripped_name(copy) ? hearth_llvm_id_of_name(copy) : hearth_llvm_function_id(copy, name_length)
          : hearth_function_id(copy, name_length, stripped_path);
  hearth_status status = hearth_builder_function_by_id(builder, id, copy, stripped_path, start_line, ret_function, err);
  free(copy);
  return status;
}

/* -------------------------------------------------- types -------------------------------------------------- */

static bool equal_type(const void *owner, uint32_t row, const void *id) {
  return ((const hearth_builder *)owner)->types[row].id == *(const uint64_t *)id;
}

static hearth_status builder_add_type(hearth_builder *builder, const char *name, uint64_t id, hearth_error *err) {
  builder_type type = {.id = id};
  uint32_t row = id_table_find(&builder->types_by_id, id_table_mix(id), equal_type, builder, &id);
  HEARTH_TRY(hearth_builder_intern_string(builder, name, &type.name, err));
  if (row != HEARTH_NONE) {
    prefer(builder, &builder->types[row].name, type.name);
    return HEARTH_OK;
  }
  HEARTH_TRY(id_table_reserve_row(&builder->types_by_id, &builder->types, &builder->type_room, builder->type_count,
                                  sizeof *builder->types, err));
  id_table_insert(&builder->types_by_id, id_table_mix(id), (uint32_t)builder->type_count);
  builder->types[builder->type_count++] = type;
  return HEARTH_OK;
}

hearth_status hearth_builder_type(hearth_builder *builder, const char *name, size_t length, uint64_t *ret_id,
                                  hearth_error *err) {
  char *copy = strndup(name, length);
  HEARTH_TRY(hearth_check_memory(copy, err));
  *ret_id = hearth_type_id(copy, strlen(copy));
  hearth_status status = builder_add_type(builder, copy, *ret_id, err);
  free(copy);
  return status;
}

/* ----------------------------------------------- frames, stacks -------------------------------------------------- */

static uint64_t hash_frame(const builder_frame *f) {
  uint64_t hash = id_table_mix((uint64_t)f->function << 32 | f->line);
  return id_table_mix(hash ^ ((uint64_t)f->column << 32 | f->discriminator)) + f->flags;
}

static bool equal_frame(const void *owner, uint32_t row, const void *key) {
  return memcmp(&((const hearth_builder *)owner)->frames[row], key, offsetof(builder_frame, recursive)) == 0;
}

hearth_status hearth_builder_intern_frame(hearth_builder *builder, const builder_frame *frame, uint32_t *ret_frame,
                                          hearth_error *err) {
  uint64_t hash = hash_frame(frame);
  *ret_frame = id_table_find(&builder->frames_by_content, hash, equal_frame, builder, frame);
  if (*ret_frame != HEARTH_NONE) {
    builder->frames[*ret_frame].recursive |= frame->recursive;
    builder->functions[frame->function].in_cycle |= frame->recursive;
    return HEARTH_OK;
  }
  HEARTH_TRY(id_table_reserve_row(&builder->frames_by_content, &builder->frames, &builder->frame_room,
                                  builder->frame_count, sizeof *builder->frames, err));
  *ret_frame = (uint32_t)builder->frame_count++;
  builder->frames[*ret_frame] = *frame;
  builder->functions[frame->function].in_cycle |= frame->recursive;
  id_table_insert(&builder->frames_by_content, hash, *ret_frame);
  return HEARTH_OK;
}

/* The node at or above `node` with this frame; HEARTH_NONE if there is none. */
static uint32_t find_ancestor(const hearth_builder *builder, uint32_t node, uint32_t frame) {
  while (node != HEARTH_NONE && builder->nodes[node].frame != frame)
    node = builder->nodes[node].parent;
  return node;
}

void hearth_builder_mark_recursive(hearth_builder *builder, uint32_t frame) {
  builder->frames[frame].recursive = true;
  builder->functions[builder->frames[frame].function].in_cycle = true;
}

/* The stack of `node` is to go on as that of `ancestor`. */
static void mark_cycle(hearth_builder *builder, uint32_t node, uint32_t ancestor) {
  for (; node != ancestor; node = builder->nodes[node].parent)
    hearth_builder_mark_recursive(builder, builder->nodes[node].frame);
}

hearth_status hearth_builder_reserve_nodes(hearth_builder *builder, size_t more, hearth_error *err) {
  HEARTH_TRY(hearth_rows_reserve(&builder->nodes, &builder->node_room, builder->node_count, more,
                                 sizeof *builder->nodes, err));
  return node_table_reserve(&builder->nodes_by_content, builder->nodes, builder->node_count, more)
             ? HEARTH_OK
             : hearth_error_nomem(err);
}

/* Most nodes are there already: runs of one program have them in one order, so that one often is behind the one that
 * was asked for last. The walk to the root is for others: folding made none that a frame above repeats. */
hearth_status hearth_builder_intern_node(hearth_builder *builder, uint32_t parent, uint32_t frame, uint32_t *ret_node,
                                         hearth_error *err) {
  hearth_expect(frame < builder->frame_count && (parent == HEARTH_NONE || parent < builder->node_count));
  *ret_node = builder->next_node;
  if (*ret_node >= builder->node_count || builder->nodes[*ret_node].parent != parent ||
      builder->nodes[*ret_node].frame != frame)
    *ret_node = builder->node_count > 0 ? *node_table_slot(&builder->nodes_by_content, builder->nodes, parent, frame)
                                        : HEARTH_NONE;
  if (*ret_node != HEARTH_NONE) {
    builder->next_node = *ret_node + 1;
    return HEARTH_OK;
  }
  if (builder->fold_recursion && (*ret_node = find_ancestor(builder, parent, frame)) != HEARTH_NONE) {
    mark_cycle(builder, parent, *ret_node);
    return HEARTH_OK;
  }
  HEARTH_TRY(hearth_builder_reserve_nodes(builder, 1, err));
  *ret_node = (uint32_t)builder->node_count++;
  builder->nodes[*ret_node] = (builder_node){.frame = frame, .parent = parent, .context = HEARTH_NONE};
  *node_table_slot(&builder->nodes_by_content, builder->nodes, parent, frame) = *ret_node;
  return HEARTH_OK;
}

static hearth_status builder_add_context(hearth_builder *builder, uint32_t node, const hearth_mib *mib,
                                         hearth_error *err) {
  HEARTH_TRY(hearth_rows_reserve(&builder->context_nodes, &builder->context_room, builder->context_count, 1,
                                 sizeof *builder->context_nodes, err));
  HEARTH_TRY(
      hearth_rows_reserve(&builder->mibs, &builder->mib_room, builder->context_count, 1, sizeof *builder->mibs, err));
  builder->mibs[builder->context_count] = *mib;
  builder->nodes[node].context = (uint32_t)builder->context_count;
  builder->context_nodes[builder->context_count++] = node;
  return HEARTH_OK;
}

hearth_status hearth_builder_add_to_node(hearth_builder *builder, uint32_t node, const hearth_mib *mib,
                                         hearth_error *err) {
  hearth_mib added = *mib;
  hearth_expect(node < builder->node_count);
  uint32_t context = builder->nodes[node].context;
  if (mib->AllocCount == 0)
    return HEARTH_OK; /* a record without allocations adds nothing, and makes no context */
  hearth_mib_forget_estimate(&added);
  hearth_builder_drop_unrecorded(builder, &added);
  size_t row = context == HEARTH_NONE ? builder->context_count : context;
  HEARTH_TRY(hearth_builder_note_in_run(builder, row, &added, err));
  if (builder->weight > 1)
    hearth_mib_repeat(&added, builder->weight);
  if (context == HEARTH_NONE)
    return builder_add_context(builder, node, &added, err);
  hearth_mib_merge(&builder->mibs[context], &added);
  return HEARTH_OK;
}

static hearth_status reserve_histogram(hearth_builder *builder, size_t context, size_t size, hearth_error *err) {
  HEARTH_TRY(hearth_rows_extend(&builder->histograms, &builder->histogram_room, &builder->histogram_count, context + 1,
                                sizeof *builder->histograms, err));
  builder_histogram *h = &builder->histograms[context];
  if (size <= h->size)
    return HEARTH_OK;
  uint64_t *counts = realloc(h->counts, size * sizeof *counts);
  HEARTH_TRY(hearth_check_memory(counts, err));
  memset(counts + h->size, 0, (size - h->size) * sizeof *counts);
  *h = (builder_histogram){counts, size};
  return HEARTH_OK;
}

hearth_status hearth_builder_add_histogram(hearth_builder *builder, uint32_t node, const hearth_histogram *histogram,
                                           hearth_error *err) {
  hearth_expect(node < builder->node_count);
  uint32_t context = builder->nodes[node].context;
  size_t size = histogram->size;
  while (size > 0 && histogram->counts[size - 1] == 0)
    size--;
  if (size == 0 || context == HEARTH_NONE || builder->unrecorded & UINT64_C(1) << HEARTH_COL_TotalAccessCount)
    return HEARTH_OK;
  HEARTH_TRY(reserve_histogram(builder, context, size, err));
  uint64_t *counts = builder->histograms[context].counts;
  for (size_t i = 0; i < size; i++)
    counts[i] = hearth_merge_SUM(counts[i], hearth_repeat_SUM(histogram->counts[i], builder->weight));
  return HEARTH_OK;
}

hearth_histogram hearth_builder_histogram(const hearth_builder *builder, size_t context) {
  if (context >= builder->histogram_count)
    return (hearth_histogram){NULL, 0};
  return (hearth_histogram){builder->histograms[context].counts, builder->histograms[context].size};
}

hearth_status hearth_builder_frame_row(hearth_builder *builder, const hearth_builder_frame *frame, uint32_t *ret_frame,
                                       hearth_error *err) {
  builder_frame key = {.function = frame->function,
                       .line = frame->line,
                       .column = frame->column,
                       .discriminator = hearth_base_discriminator(frame->discriminator),
                       .flags = frame->inlined ? HEARTH_FRAME_INLINED : 0};
  if (frame->function >= builder->function_count)
    return hearth_error_set(err, HEARTH_E_USAGE, "a frame names a function that was not added");
  return hearth_builder_intern_frame(builder, &key, ret_frame, err);
}

hearth_status hearth_builder_add(hearth_builder *builder, const hearth_builder_frame *frames, size_t n,
                                 const hearth_mib *mib, hearth_error *err) {
  uint32_t node = HEARTH_NONE, frame;
  if (n == 0)
    return hearth_error_set(err, HEARTH_E_USAGE, "a context needs at least one frame");
  for (size_t i = n; i-- > 0;) {
    HEARTH_TRY(hearth_builder_frame_row(builder, &frames[i], &frame, err));
    HEARTH_TRY(hearth_builder_intern_node(builder, node, frame, &node, err));
  }
  return hearth_builder_add_to_node(builder, node, mib, err);
}

size_t hearth_builder_context_count(const hearth_builder *builder) { return builder->context_count; }

/* ----------------------------------------------- runs, binaries -------------------------------------------------- */

static uint64_t add_repeated(uint64_t sum, uint64_t value, uint64_t weight) {
  return hearth_merge_SUM(sum, hearth_repeat_SUM(value, weight));
}

hearth_status hearth_builder_add_run(hearth_builder *builder, const hearth_profile_summary *run, hearth_error *err) {
  (void)err; /* for the same signature as its siblings: it cannot fail */
  hearth_profile_summary *sum = &builder->runs;
  uint64_t weight = builder->weight;
  sum->runs = add_repeated(sum->runs, run->runs, weight);
  sum->duration_ns = add_repeated(sum->duration_ns, run->duration_ns, weight);
  sum->dropped_blocks = add_repeated(sum->dropped_blocks, run->dropped_blocks, weight);
  sum->dropped_frames = add_repeated(sum->dropped_frames, run->dropped_frames, weight);
  bool density_kept = !(builder->unrecorded & UINT64_C(1) << HEARTH_COL_TotalLifetimeAccessDensity);
  bool known = hearth_accesses_known(sum) && (run->accesses_counted || (run->densities_only && density_kept));
  sum->accesses_counted = sum->accesses_counted && run->accesses_counted;
  sum->accesses_estimated = sum->accesses_estimated || run->accesses_estimated;
  sum->densities_only = known && !sum->accesses_counted;
  *(run->accesses_counted ? &builder->counted : run->densities_only ? &builder->densities : &builder->uncounted) += 1;
  builder->has_runs = true;
  return HEARTH_OK;
}

hearth_status hearth_builder_add_binary(hearth_builder *builder, const char *name, const uint8_t *build_id,
                                        uint32_t build_id_size, hearth_error *err) {
  builder_binary binary = {.build_id_size = build_id_size};
  if (build_id_size > HEARTH_BUILD_ID_MAX)
    return hearth_error_set(err, HEARTH_E_FULL, "%s: its build id has %u bytes; a profile holds at most %zu", name,
                            build_id_size, HEARTH_BUILD_ID_MAX);
  if (build_id_size)
    memcpy(binary.build_id, build_id, build_id_size);
  HEARTH_TRY(hearth_builder_intern_string(builder, name, &binary.name, err));
  for (size_t i = 0; i < builder->binary_count; i++) /* few */
    if (memcmp(&builder->binaries[i], &binary, sizeof binary) == 0)
      return HEARTH_OK;
  HEARTH_TRY(hearth_rows_reserve(&builder->binaries, &builder->binary_room, builder->binary_count, 1,
                                 sizeof *builder->binaries, err));
  builder->binaries[builder->binary_count++] = binary;
  return HEARTH_OK;
}

/* ------------------------------------------------ run facts ------------------------------------------------ */

/* Facts of runs. Commands form a lattice of three levels: unknown, one command, and commands that differ; merging
 * goes up to the least level above both. So any tree of merges has one result. */

static hearth_status add_command(hearth_builder *builder, const char *command, hearth_error *err) {
  builder_run_facts *known = &builder->run_facts;
  if (!known->has_command && !known->commands_differ) {
    HEARTH_TRY(hearth_builder_intern_string(builder, command, &known->command, err));
    known->has_command = true;
  } else if (known->has_command && strcmp(builder->pool + known->command, command) != 0) {
    known->has_command = false;
    known->commands_differ = true;
  }
  return HEARTH_OK;
}

hearth_status hearth_builder_add_run_facts(hearth_builder *builder, const hearth_run_facts *facts, hearth_error *err) {
  builder_run_facts *known = &builder->run_facts;
  known->peak_bytes = hearth_merge_MAX(known->peak_bytes, facts->peak_bytes);
  known->last_day = facts->last_day > known->last_day ? facts->last_day : known->last_day;
  if (facts->first_day - 1 < known->first_day - 1) /* 0 is the greatest */
    known->first_day = facts->first_day;
  if (facts->commands_differ) {
    known->commands_differ = true;
    known->has_command = false;
  }
  return *facts->command ? add_command(builder, facts->command, err) : HEARTH_OK;
}

hearth_run_facts hearth_builder_run_facts(const hearth_builder *builder) {
  const builder_run_facts *known = &builder->run_facts;
  return (hearth_run_facts){.peak_bytes = known->peak_bytes,
                            .first_day = known->first_day,
                            .last_day = known->last_day,
                            .command = known->has_command ? builder->pool + known->command : "",
                            .commands_differ = known->commands_differ};
}

/* ------------------------------------------------ live history ------------------------------------------------ */

/* Histories are sums, point by point, as all runs have the same number of points: the result does not depend on the
 * order. */

static void add_points(uint64_t *to, const uint64_t *from, uint64_t weight) {
  for (size_t i = 0; i < HEARTH_RAW_POINTS; i++)
    to[i] = add_repeated(to[i], from[i], weight);
}

hearth_status hearth_builder_add_history(hearth_builder *builder, const hearth_heap_history *history,
                                         hearth_error *err) {
  builder_history *sum = &builder->history;
  (void)err; /* for the same signature as its siblings: it cannot fail */
  sum->runs = add_repeated(sum->runs, history->runs, builder->weight);
  sum->peak_ppm = add_repeated(sum->peak_ppm, history->peak_ppm, builder->weight);
  add_points(sum->levels, history->levels, builder->weight);
  return HEARTH_OK;
}

hearth_status hearth_builder_add_levels(hearth_builder *builder, uint32_t node, const uint64_t *levels,
                                        hearth_error *err) {
  builder_history *sum = &builder->history;
  uint32_t context = builder->nodes[node].context;
  if (context == HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(hearth_rows_extend(&sum->rows, &sum->room, &sum->count, context + 1, sizeof *sum->rows, err));
  if (!sum->rows[context])
    sum->rows[context] = calloc(HEARTH_RAW_POINTS, sizeof **sum->rows);
  HEARTH_TRY(hearth_check_memory(sum->rows[context], err));
  add_points(sum->rows[context], levels, builder->weight);
  return HEARTH_OK;
}

const uint64_t *hearth_builder_levels(const hearth_builder *builder, size_t context) {
  return context < builder->history.count ? builder->history.rows[context] : NULL;
}

void hearth_builder_free_history(builder_history *history) {
  for (size_t i = 0; i < history->count; i++)
    free(history->rows[i]);
  free(history->rows);
}

/* ------------------------------------------------ names of fields ------------------------------------------------ */

/* Names of a MIB's fields: an array made of mib_fields.def, searched from its beginning. */

static const char *const names[HEARTH_MIB_COLUMNS] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) #Name,
#include "hearth/mib_fields.def"
};

const char *hearth_mib_column_name(int column) { return names[column]; }

int hearth_mib_column_find(const char *name, size_t length) {
  for (int i = 0; i < HEARTH_MIB_COLUMNS; i++)
    if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
      return i;
  return -1;
}
