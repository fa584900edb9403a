/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes an indexed profile: orders all rows, packs the tables while the plan is being made (a thread, if the profile
 * is large), lays the sections out, and fills them. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
#include "file.h"
#include "writer.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the format is little-endian and this file stores structs as they are: add byte swaps for this machine"
#endif

static void writer_free(writer *w) {
  renumbering *tables[] = {&w->functions, &w->frames, &w->nodes, &w->contexts};
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    free(tables[i]->order);
    free(tables[i]->rank);
  }
  HEARTH_FREE(w->strings, w->string_offsets, w->paths, w->file_names, w->file_rows, w->components, w->function_paths,
              w->parents, w->node_frames, w->leaves, w->unscoped_contexts, w->unscoped_sums, w->unscoped_variances,
              w->context_ends, w->binaries, w->tables.frames.data, w->tables.stacks.data, w->tables.contexts.data,
              w->histograms.data, w->summary.data, w->plan.data, w->variances.data, w->run_facts.data, w->history.data);
  hearth_density_order_destroy(w->densities);
  HEARTH_FREE(w->types, w->globals, w->image);
}

/* -------------------------------------------------- sections -------------------------------------------------- */

static size_t align8(size_t size) { return (size + 7) & ~(size_t)7; }

static bool has_section(const writer *w, uint32_t id) {
  return id <= HEARTH_SECTION_CHECKSUMS || (id == HEARTH_SECTION_HISTOGRAMS && w->histogram_count > 0) ||
         (id == HEARTH_SECTION_TYPES && w->type_count > 0) || (id == HEARTH_SECTION_PLAN && w->plan.size > 0) ||
         (id == HEARTH_SECTION_VARIANCES && w->variance_count > 0) ||
         (id == HEARTH_SECTION_RUN_FACTS && w->run_facts.size > 0) ||
         (id == HEARTH_SECTION_HISTORY && w->history.size > 0) ||
         (id == HEARTH_SECTION_GLOBALS && w->builder->global_count > 0);
}

static uint32_t section_count(const writer *w) {
  uint32_t count = 0;
  for (uint32_t id = 1; id <= HEARTH_SECTIONS; id++)
    count += has_section(w, id);
  return count;
}

static size_t section_table_size(const writer *w) { return section_count(w) * sizeof w->sections[0]; }

/* The checksums are at the end. */
static void writer_lay_out(writer *w) {
  size_t offset = sizeof(hearth_indexed_header) + section_table_size(w);
  while (w->bucket_bits < 31 && (UINT32_C(1) << w->bucket_bits) < w->functions.count)
    w->bucket_bits++;
  size_t buckets = ((size_t)1 << w->bucket_bits) + 1, columns = w->column_count;
  struct {
    size_t count, size;
  } sizes[HEARTH_SECTIONS + 1] = {
      [HEARTH_SECTION_SCHEMA] = {columns, columns * sizeof(hearth_indexed_field)},
      [HEARTH_SECTION_STRINGS] = {w->string_count, w->strings_size},
      [HEARTH_SECTION_PATHS] = {w->path_count, w->path_count * sizeof(hearth_indexed_path)},
      [HEARTH_SECTION_FUNCTIONS] = {w->functions.count, w->functions.count * sizeof(hearth_indexed_function)},
      [HEARTH_SECTION_BUCKETS] = {buckets, buckets * sizeof(uint32_t)},
      [HEARTH_SECTION_FRAMES] = {w->frames.count, w->tables.frames.size},
      [HEARTH_SECTION_STACKS] = {w->nodes.count, w->tables.stacks.size},
      [HEARTH_SECTION_CONTEXTS] = {w->contexts.count, w->tables.contexts.size},
      [HEARTH_SECTION_SUMMARY] = {1, w->summary.size},
      [HEARTH_SECTION_BINARIES] = {w->builder->binary_count, w->builder->binary_count * sizeof(hearth_indexed_binary)},
      [HEARTH_SECTION_HISTOGRAMS] = {w->histogram_count, w->histograms.size},
      [HEARTH_SECTION_TYPES] = {w->type_count, w->type_count * sizeof(hearth_indexed_type)},
      [HEARTH_SECTION_PLAN] = {1, w->plan.size},
      [HEARTH_SECTION_VARIANCES] = {w->variance_count, w->variances.size},
      [HEARTH_SECTION_RUN_FACTS] = {1, w->run_facts.size},
      [HEARTH_SECTION_HISTORY] = {w->history_count, w->history.size},
      [HEARTH_SECTION_GLOBALS] = {w->builder->global_count, w->builder->global_count * sizeof(hearth_indexed_global)},
  };
  for (uint32_t id = 1; id <= HEARTH_SECTIONS; id++) {
    if (id == HEARTH_SECTION_CHECKSUMS)
      continue;
    w->sections[id - 1] = (hearth_indexed_section){id, (uint32_t)sizes[id].count, offset, sizes[id].size};
    offset = align8(offset + sizes[id].size);
  }
  size_t blocks = (offset + HEARTH_BLOCK_SIZE - 1) / HEARTH_BLOCK_SIZE;
  w->sections[HEARTH_SECTION_CHECKSUMS - 1] =
      (hearth_indexed_section){HEARTH_SECTION_CHECKSUMS, (uint32_t)blocks, offset, blocks * sizeof(uint64_t)};
  w->size = offset + blocks * sizeof(uint64_t);
}

static void *section_data(const writer *w, uint32_t id) { return w->image + w->sections[id - 1].offset; }

static void writer_fill(const writer *w, uint32_t id, const packed_bytes *from) {
  if (from->size)
    memcpy(section_data(w, id), from->data, from->size);
}

static void fill_strings(writer *w) {
  char *to = section_data(w, HEARTH_SECTION_STRINGS);
  for (size_t i = 0; i < w->string_count; i++)
    memcpy(to + w->string_offsets[i], w->strings[i], strlen(w->strings[i]) + 1);
}

static void fill_functions(writer *w) {
  const hearth_builder *b = w->builder;
  hearth_indexed_function *rows = section_data(w, HEARTH_SECTION_FUNCTIONS);
  uint32_t *buckets = section_data(w, HEARTH_SECTION_BUCKETS);
  uint32_t bucket_count = UINT32_C(1) << w->bucket_bits, frame = 0, bucket = 0;
  for (uint32_t i = 0; i < w->functions.count; i++) {
    const builder_function *f = &b->functions[w->functions.order[i]];
    rows[i] = (hearth_indexed_function){.id = f->id,
                                        .name = hearth_writer_string_offset(w, b->pool + f->name),
                                        .path = w->function_paths[i],
                                        .start_line = f->start_line,
                                        .first_frame = frame};
    while (frame < w->frames.count && b->frames[w->frames.order[frame]].function == w->functions.order[i])
      frame++;
    /* k = 0 bits: everything is in bucket 0, and a shift by 64 would be undefined. */
    for (uint32_t own = w->bucket_bits ? (uint32_t)(f->id >> (64 - w->bucket_bits)) : 0; bucket <= own; bucket++)
      buckets[bucket] = i;
  }
  for (; bucket <= bucket_count; bucket++)
    buckets[bucket] = w->functions.count;
}

static void fill_binaries(writer *w) {
  hearth_indexed_binary *rows = section_data(w, HEARTH_SECTION_BINARIES);
  for (size_t i = 0; i < w->builder->binary_count; i++) {
    rows[i].name = hearth_writer_string_offset(w, w->builder->pool + w->binaries[i].name);
    rows[i].build_id_size = w->binaries[i].build_id_size;
    memcpy(rows[i].build_id, w->binaries[i].build_id, sizeof rows[i].build_id);
  }
}

/* Filled when all but the checksums of blocks is there: the first of them covers the header. */
static void fill_header_and_checksums(writer *w) {
  hearth_indexed_header header = {.magic = HEARTH_INDEXED_MAGIC,
                                  .version = HEARTH_INDEXED_VERSION,
                                  .header_size = sizeof header,
                                  .file_size = w->size,
                                  .optional_flags = (w->builder->runs.accesses_estimated ? HEARTH_FLAG_ESTIMATED : 0) |
                                                    (w->any_cold ? HEARTH_FLAG_COLD : 0),
                                  .required_flags = hearth_writer_accesses_counted(w) ? HEARTH_FLAG_ACCESSES
                                                    : w->builder->runs.densities_only ? HEARTH_FLAG_DENSITIES
                                                                                      : 0,
                                  .id_scheme = w->builder->scheme,
                                  .section_count = section_count(w)};
  size_t covered = sizeof header + section_table_size(w);
  memcpy(w->image, &header, sizeof header);
  hearth_indexed_section *table = (hearth_indexed_section *)(w->image + sizeof header);
  for (uint32_t id = 1; id <= HEARTH_SECTIONS; id++)
    if (has_section(w, id))
      *table++ = w->sections[id - 1];
  header.checksum = XXH3_64bits(w->image, covered);
  memcpy(w->image, &header, sizeof header);

  uint64_t *checksums = section_data(w, HEARTH_SECTION_CHECKSUMS);
  size_t end = w->sections[HEARTH_SECTION_CHECKSUMS - 1].offset;
  for (size_t at = 0; at < end; at += HEARTH_BLOCK_SIZE)
    *checksums++ = XXH3_64bits(w->image + at, end - at < HEARTH_BLOCK_SIZE ? end - at : HEARTH_BLOCK_SIZE);
}

/* The sections that are no tables of the builder's rows. */
static hearth_status summarise_and_plan(writer *w) {
  HEARTH_TRY(hearth_writer_encode_histograms(w));
  HEARTH_TRY(hearth_writer_encode_variances(w));
  HEARTH_TRY(hearth_writer_encode_run_facts(w));
  HEARTH_TRY(hearth_writer_encode_history(w));
  HEARTH_TRY(hearth_writer_sum_without_scopes(w));
  HEARTH_TRY(hearth_writer_summarise(w));
  return w->make_plan ? w->make_plan(w, w->plan_state, &w->plan) : HEARTH_OK;
}

static hearth_status write_image(writer *w) {
  hearth_writer_choose_columns(w);
  HEARTH_TRY(hearth_writer_mark_needed(w));
  HEARTH_TRY(hearth_writer_order_functions(w));
  HEARTH_TRY(hearth_writer_order_frames(w));
  HEARTH_TRY(hearth_writer_order_types(w));
  HEARTH_TRY(hearth_writer_order_globals(w));
  HEARTH_TRY(hearth_writer_collect_file_names(w));
  HEARTH_TRY(hearth_writer_collect_strings(w, w->column_names, w->column_count));
  HEARTH_TRY(hearth_writer_build_paths(w));
  HEARTH_TRY(hearth_writer_order_nodes(w));
  HEARTH_TRY(hearth_writer_order_contexts(w));
  HEARTH_TRY(hearth_writer_order_binaries(w));
  HEARTH_TRY(summarise_and_plan(w));
  HEARTH_TRY(hearth_writer_pack_tables(w, &w->tables, w->err));
  writer_lay_out(w);
  HEARTH_TRY(hearth_array_create(&w->image, w->size, 1, w->err));
  memcpy(section_data(w, HEARTH_SECTION_PATHS), w->paths, w->path_count * sizeof *w->paths);
  writer_fill(w, HEARTH_SECTION_FRAMES, &w->tables.frames);
  writer_fill(w, HEARTH_SECTION_STACKS, &w->tables.stacks);
  writer_fill(w, HEARTH_SECTION_CONTEXTS, &w->tables.contexts);
  writer_fill(w, HEARTH_SECTION_HISTOGRAMS, &w->histograms);
  writer_fill(w, HEARTH_SECTION_SUMMARY, &w->summary);
  writer_fill(w, HEARTH_SECTION_PLAN, &w->plan);
  writer_fill(w, HEARTH_SECTION_VARIANCES, &w->variances);
  writer_fill(w, HEARTH_SECTION_RUN_FACTS, &w->run_facts);
  writer_fill(w, HEARTH_SECTION_HISTORY, &w->history);
  hearth_writer_fill_globals(w, section_data(w, HEARTH_SECTION_GLOBALS));
  hearth_writer_fill_types(w, section_data(w, HEARTH_SECTION_TYPES));
  hearth_writer_fill_schema(w, section_data(w, HEARTH_SECTION_SCHEMA));
  fill_strings(w);
  fill_functions(w);
  fill_binaries(w);
  fill_header_and_checksums(w);
  return HEARTH_OK;
}

hearth_status hearth_writer_write(hearth_builder *builder, writer_make_plan *make_plan, const void *plan_state,
                                  void **ret_data, size_t *ret_size, hearth_error *err) {
  writer w = {.builder = builder, .make_plan = make_plan, .plan_state = plan_state, .err = err};
  HEARTH_TRY(hearth_builder_estimate(builder, err));
  hearth_status status = write_image(&w);
  if (status == HEARTH_OK) {
    *ret_data = w.image;
    *ret_size = w.size;
    w.image = NULL;
  }
  writer_free(&w);
  return status;
}

hearth_status hearth_builder_write_memory(hearth_builder *builder, void **ret_data, size_t *ret_size,
                                          hearth_error *err) {
  return hearth_writer_write(builder, NULL, NULL, ret_data, ret_size, err);
}

hearth_status hearth_builder_write(hearth_builder *builder, const char *path, hearth_error *err) {
  void *data;
  size_t size;
  HEARTH_TRY(hearth_builder_write_memory(builder, &data, &size, err));
  hearth_status status = hearth_file_write(path, data, size, err);
  free(data);
  return status;
}
