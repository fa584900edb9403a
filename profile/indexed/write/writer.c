/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes an indexed profile: orders all rows, makes the sections of them, and lays these out. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
#include "reader_internal.h"
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

/* -------------------------------------------------- packed tables ------------------------------------------------ */

/* FRAMES, STACKS and CONTEXTS: a source for each fills blocks of rows from the builder's rows in their new order. */

static const uint32_t field_tags[HEARTH_MIB_COLUMNS] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) tag,
#include "hearth/mib_fields.def"
};

/* Fields whose numbers are stored relative to those of another field, which is before them. Most contexts have one
 * block, or blocks that are alike, so that the greatest number is the least, the total is either, and the difference
 * is 0. */
static const struct relative {
  enum hearth_mib_column field, reference;
} relatives[] = {
    {HEARTH_COL_MaxSize, HEARTH_COL_MinSize},
    {HEARTH_COL_MaxAccessCount, HEARTH_COL_MinAccessCount},
    {HEARTH_COL_MaxLifetime, HEARTH_COL_MinLifetime},
    {HEARTH_COL_NumLifetimeOverlaps, HEARTH_COL_AllocCount},
    {HEARTH_COL_NumSameAllocCPU, HEARTH_COL_AllocCount},
    {HEARTH_COL_NumSameDeallocCPU, HEARTH_COL_AllocCount},
    {HEARTH_COL_TotalSize, HEARTH_COL_MaxSize},
    {HEARTH_COL_TotalAccessCount, HEARTH_COL_MaxAccessCount},
    {HEARTH_COL_TotalLifetime, HEARTH_COL_MaxLifetime},
    {HEARTH_COL_MaxPercentUtilized, HEARTH_COL_MinPercentUtilized},
    {HEARTH_COL_TotalPercentUtilized, HEARTH_COL_MaxPercentUtilized},
    {HEARTH_COL_DeallocTimestamp, HEARTH_COL_AllocTimestamp},
    {HEARTH_COL_DeallocCPU, HEARTH_COL_AllocCPU},
    {HEARTH_COL_MaxAccessDensity, HEARTH_COL_MinAccessDensity},
    {HEARTH_COL_TotalAccessDensity, HEARTH_COL_MaxAccessDensity},
    {HEARTH_COL_MaxLifetimeAccessDensity, HEARTH_COL_MinLifetimeAccessDensity},
    {HEARTH_COL_TotalLifetimeAccessDensity, HEARTH_COL_MaxLifetimeAccessDensity},
    {HEARTH_COL_LookedLifetime, HEARTH_COL_TotalLifetime},
    {HEARTH_COL_EstimatedAccessCount, HEARTH_COL_TotalAccessCount},
    {HEARTH_COL_TouchedLooks, HEARTH_COL_Looks},
    {HEARTH_COL_TouchedShortLooks, HEARTH_COL_ShortLooks},
    {HEARTH_COL_SizedAtExit, HEARTH_COL_LiveAtExit},
    {HEARTH_COL_LatePicks, HEARTH_COL_Picks},
    {HEARTH_COL_TouchedPages, HEARTH_COL_TouchedLooks},
};

static int reference_of(enum hearth_mib_column field) {
  for (size_t i = 0; i < sizeof relatives / sizeof *relatives; i++)
    if (relatives[i].field == field)
      return (int)relatives[i].reference;
  return -1;
}

/* Fields that no context has are left out. */
static void add_column(writer *w, enum hearth_mib_column field) {
  bool is_used = field == HEARTH_COL_AllocCount;
  for (size_t i = 0; !is_used && i < w->builder->context_count; i++)
    is_used = w->builder->mibs[i].v[field] != 0;
  if (!is_used)
    return;
  w->column_names[w->column_count] = hearth_mib_column_name((int)field);
  w->columns[w->column_count++] = (uint8_t)field;
}

static void choose_columns(writer *w) {
  w->column_names[0] = "StackID";
  w->column_count = 1;
  for (int i = 0; i < HEARTH_MIB_COLUMNS; i++)
    if (reference_of((enum hearth_mib_column)i) < 0)
      add_column(w, (enum hearth_mib_column)i);
  for (size_t i = 0; i < sizeof relatives / sizeof *relatives; i++)
    add_column(w, relatives[i].field);
}

static void frame_rows(const void *context, size_t first, size_t count, uint64_t (*ret)[HEARTH_PACKED_ROWS]) {
  const writer *w = context;
  for (size_t i = 0; i < count; i++) {
    size_t row = first + i;
    const builder_frame *f = &w->builder->frames[w->frames.order[row]];
    ret[HEARTH_FRAME_FIRST_CONTEXT][i] = row > 0 ? w->context_ends[row - 1] : 0;
    ret[HEARTH_FRAME_FUNCTION][i] = w->functions.rank[f->function];
    ret[HEARTH_FRAME_LINE][i] = f->line;
    ret[HEARTH_FRAME_COLUMN][i] = f->column;
    ret[HEARTH_FRAME_DISCRIMINATOR][i] = f->discriminator;
    ret[HEARTH_FRAME_FLAGS][i] = f->flags | (f->recursive ? HEARTH_FRAME_RECURSIVE : 0) |
                                 (w->builder->functions[f->function].in_cycle ? HEARTH_FRAME_IN_CYCLE : 0);
  }
}

static void stack_rows(const void *context, size_t first, size_t count, uint64_t (*ret)[HEARTH_PACKED_ROWS]) {
  const writer *w = context;
  for (size_t i = 0; i < count; i++) {
    ret[HEARTH_STACK_FRAME][i] = w->node_frames[first + i];
    ret[HEARTH_STACK_UP][i] = (uint32_t)(first + i) - 1 - w->parents[first + i]; /* HEARTH_NONE is -1 */
  }
}

static void context_rows(const void *context, size_t first, size_t count, uint64_t (*ret)[HEARTH_PACKED_ROWS]) {
  const writer *w = context;
  const uint32_t *numbers = w->contexts.order + first;
  for (size_t i = 0; i < count; i++)
    ret[0][i] = w->leaves[numbers[i]];
  for (size_t i = 1; i < w->column_count; i++)
    for (size_t k = 0; k < count; k++)
      ret[i][k] = w->builder->mibs[numbers[k]].v[w->columns[i]];
}

/* Column of CONTEXTS that holds a field; HEARTH_NONE: there is none. */
static uint32_t column_of(const writer *w, int field) {
  for (uint32_t column = 1; column < w->column_count; column++)
    if (w->columns[column] == field)
      return column;
  return HEARTH_NONE;
}

static hearth_status table_pack(writer *w, uint32_t id, packed_source *source, size_t rows,
                                const uint32_t *column_references, size_t columns) {
  writer_section *s = &w->sections[id];
  s->count = (uint32_t)rows;
  return hearth_check_memory(hearth_packed_encode(source, w, rows, column_references, columns, &s->data, &s->size),
                             w->err);
}

static hearth_status pack_tables(writer *w) {
  static const uint32_t none[] = {HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE};
  _Static_assert(sizeof none / sizeof none[0] >= HEARTH_FRAME_COLUMNS, "one for each column");
  _Static_assert(sizeof none / sizeof none[0] >= HEARTH_STACK_COLUMNS, "one for each column");
  uint32_t of_contexts[WRITER_CONTEXT_COLUMNS];
  hearth_indexed_field *fields;
  HEARTH_TRY(
      hearth_writer_add_section(w, HEARTH_SECTION_SCHEMA, w->column_count, w->column_count * sizeof *fields, &fields));
  for (size_t i = 0; i < w->column_count; i++) {
    of_contexts[i] = i ? column_of(w, reference_of((enum hearth_mib_column)w->columns[i])) : HEARTH_NONE;
    fields[i] = (hearth_indexed_field){i ? field_tags[w->columns[i]] : HEARTH_TAG_StackID,
                                       hearth_writer_string_offset(w, w->column_names[i])};
  }
  HEARTH_TRY(table_pack(w, HEARTH_SECTION_FRAMES, frame_rows, w->frames.count, none, HEARTH_FRAME_COLUMNS));
  HEARTH_TRY(table_pack(w, HEARTH_SECTION_STACKS, stack_rows, w->nodes.count, none, HEARTH_STACK_COLUMNS));
  return table_pack(w, HEARTH_SECTION_CONTEXTS, context_rows, w->contexts.count, of_contexts, w->column_count);
}

/* -------------------------------------------------- the file -------------------------------------------------- */

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
  choose_columns(w);
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
  HEARTH_TRY(pack_tables(w));
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
