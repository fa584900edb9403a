/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes an indexed profile: orders all rows, makes the sections of them, and lays these out. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
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
  HEARTH_FREE(w->strings, w->string_offsets, w->file_names, w->file_rows, w->components, w->function_paths, w->parents,
              w->node_frames, w->leaves, w->unscoped_contexts, w->unscoped_sums, w->unscoped_variances, w->context_ends,
              w->binaries);
  for (uint32_t id = 1; id <= HEARTH_SECTIONS; id++)
    free(w->sections[id].data);
  HEARTH_FREE(w->types, w->image);
}

/* -------------------------------------------------- sections -------------------------------------------------- */

static size_t align8(size_t size) { return (size + 7) & ~(size_t)7; }

hearth_status hearth_writer_add_section(writer *w, uint32_t id, size_t count, size_t size, void *ret_data) {
  writer_section *s = &w->sections[id];
  HEARTH_TRY(hearth_array_create(&s->data, size, 1, w->err));
  s->size = size;
  s->count = (uint32_t)count;
  memcpy(ret_data, &s->data, sizeof s->data);
  return HEARTH_OK;
}

static hearth_status writer_add_functions(writer *w) {
  const hearth_builder *b = w->builder;
  uint32_t count = w->functions.count, frame = 0;
  hearth_indexed_function *rows;
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_FUNCTIONS, count, count * sizeof *rows, &rows));
  for (uint32_t i = 0; i < count; i++) {
    const builder_function *f = &b->functions[w->functions.order[i]];
    rows[i] = (hearth_indexed_function){.id = f->id,
                                        .name = hearth_writer_string_offset(w, b->pool + f->name),
                                        .path = w->function_paths[i],
                                        .start_line = f->start_line,
                                        .first_frame = frame};
    while (frame < w->frames.count && b->frames[w->frames.order[frame]].function == w->functions.order[i])
      frame++;
  }
  return HEARTH_OK;
}

static hearth_status writer_add_binaries(writer *w) {
  size_t count = w->builder->binary_count;
  hearth_indexed_binary *rows;
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_BINARIES, count, count * sizeof *rows, &rows));
  for (size_t i = 0; i < count; i++) {
    rows[i].name = hearth_writer_string_offset(w, w->builder->pool + w->binaries[i].name);
    rows[i].build_id_size = w->binaries[i].build_id_size;
    memcpy(rows[i].build_id, w->binaries[i].build_id, sizeof rows[i].build_id);
  }
  return HEARTH_OK;
}

/* The sections that are in the file, one behind the other, and the checksums at the end. Returns how many they are. */
static uint32_t writer_lay_out(writer *w, hearth_indexed_section table[HEARTH_SECTIONS]) {
  uint32_t count = 0;
  for (uint32_t id = 1; id <= HEARTH_SECTIONS; id++) {
    const writer_section *s = &w->sections[id];
    if (s->size > 0 || id <= HEARTH_SECTION_CHECKSUMS)
      table[count++] = (hearth_indexed_section){.id = id, .count = s->count, .size = s->size};
  }
  size_t offset = sizeof(hearth_indexed_header) + count * sizeof table[0];
  for (uint32_t i = 0; i < count; i++) {
    table[i].offset = offset;
    offset = align8(offset + table[i].size);
  }
  hearth_indexed_section *checksums = &table[HEARTH_SECTION_CHECKSUMS - 1]; /* no id up to it is missing */
  checksums->offset = offset;
  checksums->count = (uint32_t)((offset + HEARTH_BLOCK_SIZE - 1) / HEARTH_BLOCK_SIZE);
  checksums->size = checksums->count * sizeof(uint64_t);
  w->size = offset + checksums->size;
  return count;
}

/* The checksum of the header, then those of blocks: the first of them covers it. */
static void fill_checksums(writer *w, const hearth_indexed_section table[], hearth_indexed_header *header) {
  size_t covered = sizeof *header + header->section_count * sizeof table[0],
         end = table[HEARTH_SECTION_CHECKSUMS - 1].offset;
  memcpy(w->image, header, sizeof *header);
  memcpy(w->image + sizeof *header, table, covered - sizeof *header);
  header->checksum = XXH3_64bits(w->image, covered);
  memcpy(w->image, header, sizeof *header);
  uint64_t *checksums = (uint64_t *)(w->image + end);
  for (size_t at = 0; at < end; at += HEARTH_BLOCK_SIZE)
    *checksums++ = XXH3_64bits(w->image + at, end - at < HEARTH_BLOCK_SIZE ? end - at : HEARTH_BLOCK_SIZE);
}

static hearth_status make_image(writer *w) {
  hearth_indexed_section table[HEARTH_SECTIONS];
  uint32_t count = writer_lay_out(w, table);
  hearth_indexed_header header = {.magic = HEARTH_INDEXED_MAGIC,
                                  .version = HEARTH_INDEXED_VERSION,
                                  .header_size = sizeof header,
                                  .file_size = w->size,
                                  .optional_flags = w->builder->runs.accesses_estimated ? HEARTH_FLAG_ESTIMATED : 0,
                                  .required_flags = hearth_writer_accesses_counted(w) ? HEARTH_FLAG_ACCESSES
                                                    : w->builder->runs.densities_only ? HEARTH_FLAG_DENSITIES
                                                                                      : 0,
                                  .id_scheme = w->builder->scheme,
                                  .section_count = count};
  HEARTH_TRY(hearth_array_create(&w->image, w->size, 1, w->err));
  for (uint32_t i = 0; i < count; i++)
    if (w->sections[table[i].id].size > 0)
      memcpy(w->image + table[i].offset, w->sections[table[i].id].data, table[i].size);
  fill_checksums(w, table, &header);
  return HEARTH_OK;
}

/* The sections that are no tables of the builder's rows. */
static hearth_status summarise_and_plan(writer *w) {
  HEARTH_TRY(hearth_writer_encode_histograms(w));
  HEARTH_TRY(hearth_writer_encode_variances(w));
  HEARTH_TRY(hearth_writer_encode_run_facts(w));
  HEARTH_TRY(hearth_writer_encode_history(w));
  HEARTH_TRY(hearth_writer_sum_without_scopes(w));
  HEARTH_TRY(hearth_writer_summarise(w));
  return w->make_plan ? w->make_plan(w, w->plan_state, &w->sections[HEARTH_SECTION_PLAN]) : HEARTH_OK;
}

static hearth_status write_image(writer *w) {
  hearth_writer_choose_columns(w);
  HEARTH_TRY(hearth_writer_mark_needed(w));
  HEARTH_TRY(hearth_writer_order_functions(w));
  HEARTH_TRY(hearth_writer_order_frames(w));
  HEARTH_TRY(hearth_writer_order_types(w));
  HEARTH_TRY(hearth_writer_collect_file_names(w));
  HEARTH_TRY(hearth_writer_collect_strings(w, w->column_names, w->column_count));
  HEARTH_TRY(hearth_writer_build_paths(w));
  HEARTH_TRY(hearth_writer_order_nodes(w));
  HEARTH_TRY(hearth_writer_order_contexts(w));
  HEARTH_TRY(hearth_writer_order_binaries(w));
  HEARTH_TRY(summarise_and_plan(w));
  HEARTH_TRY(hearth_writer_pack_tables(w));
  HEARTH_TRY(writer_add_functions(w));
  HEARTH_TRY(writer_add_binaries(w));
  HEARTH_TRY(hearth_writer_encode_types(w));
  HEARTH_TRY(hearth_writer_encode_globals(w));
  return make_image(w);
}

hearth_status hearth_writer_write(hearth_builder *builder, writer_make_plan *make_plan, const void *plan_state,
                                  void **ret_data, size_t *ret_size, hearth_error *err) {
  writer w = {.builder = builder, .make_plan = make_plan, .plan_state = plan_state, .err = err};
  hearth_builder_estimate(builder);
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
