/* Writes an indexed profile: packed tables and sections, from the builder's tables in canonical order. */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "packed.h"
#include "writer_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the format is little-endian and this file stores structs as they are: add byte swaps for this machine"
#endif

/* By enum hearth_mib_column, and behind them the leaf node, which is a column of CONTEXTS, too. */
static const uint32_t field_tags[HEARTH_MIB_COLUMNS + 1] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) tag,
#include "hearth/mib_fields.def"
    HEARTH_TAG_StackID};
static const char *const field_names[HEARTH_MIB_COLUMNS + 1] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) #Name,
#include "hearth/mib_fields.def"
    "StackID"};

/* Columns of CONTEXTS behind the leaf node: the fields in the order of their tags, but each behind the one that its
 * numbers are stored relative to. Most contexts have one block, or blocks that are alike, so that the greatest number
 * is the least, the total is either, and the difference is 0. */
static const struct context_column {
  enum hearth_mib_column field;
  int reference; /* enum hearth_mib_column; -1: none */
} context_columns[] = {
    {HEARTH_COL_AllocCount, -1},
    {HEARTH_COL_MinSize, -1},
    {HEARTH_COL_MaxSize, HEARTH_COL_MinSize},
    {HEARTH_COL_MinAccessCount, -1},
    {HEARTH_COL_MaxAccessCount, HEARTH_COL_MinAccessCount},
    {HEARTH_COL_MinLifetime, -1},
    {HEARTH_COL_MaxLifetime, HEARTH_COL_MinLifetime},
    {HEARTH_COL_NumMigration, -1},
    {HEARTH_COL_NumLifetimeOverlaps, HEARTH_COL_AllocCount},
    {HEARTH_COL_NumSameAllocCPU, HEARTH_COL_AllocCount},
    {HEARTH_COL_NumSameDeallocCPU, HEARTH_COL_AllocCount},
    {HEARTH_COL_TotalSize, HEARTH_COL_MaxSize},
    {HEARTH_COL_TotalAccessCount, HEARTH_COL_MaxAccessCount},
    {HEARTH_COL_TotalLifetime, HEARTH_COL_MaxLifetime},
    {HEARTH_COL_MinPercentUtilized, -1},
    {HEARTH_COL_MaxPercentUtilized, HEARTH_COL_MinPercentUtilized},
    {HEARTH_COL_TotalPercentUtilized, HEARTH_COL_MaxPercentUtilized},
    {HEARTH_COL_AllocTimestamp, -1},
    {HEARTH_COL_DeallocTimestamp, HEARTH_COL_AllocTimestamp},
    {HEARTH_COL_AllocCPU, -1},
    {HEARTH_COL_DeallocCPU, HEARTH_COL_AllocCPU},
    {HEARTH_COL_DataTypeId, -1},
    {HEARTH_COL_MinAccessDensity, -1},
    {HEARTH_COL_MaxAccessDensity, HEARTH_COL_MinAccessDensity},
    {HEARTH_COL_TotalAccessDensity, HEARTH_COL_MaxAccessDensity},
    {HEARTH_COL_MinLifetimeAccessDensity, -1},
    {HEARTH_COL_MaxLifetimeAccessDensity, HEARTH_COL_MinLifetimeAccessDensity},
    {HEARTH_COL_TotalLifetimeAccessDensity, HEARTH_COL_MaxLifetimeAccessDensity},
    {HEARTH_COL_LiveAtExit, -1},
};

enum { CONTEXT_COLUMNS = 1 + HEARTH_MIB_COLUMNS };
_Static_assert(sizeof context_columns / sizeof context_columns[0] == HEARTH_MIB_COLUMNS, "each field has its column");

hearth_status writer_allocate(writer *w, void **ret, size_t count, size_t item_size) {
  *ret = calloc(count + 1, item_size);
  return *ret ? HEARTH_OK : hearth_error_set(w->err, HEARTH_E_NOMEM, "out of memory writing the profile");
}

static void writer_free(writer *w) {
  renumbering *tables[] = {&w->functions, &w->frames, &w->nodes, &w->contexts};
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    free(tables[i]->order);
    free(tables[i]->rank);
  }
  free(w->strings);
  free(w->string_offsets);
  free(w->paths);
  free(w->file_names);
  free(w->file_rows);
  free(w->components);
  free(w->function_paths);
  free(w->parents);
  free(w->node_frames);
  free(w->leaves);
  free(w->bare_contexts);
  free(w->bare_sums);
  free(w->context_ends);
  free(w->binaries);
  free(w->packed_frames.data);
  free(w->packed_stacks.data);
  free(w->packed_contexts.data);
  free(w->histograms.data);
  free(w->summary.data);
  free(w->plan.data);
  free(w->types);
  free(w->image);
}

/* -------------------------------------------------- packed tables --------------------------------------------- */

static void frame_row(const void *context, size_t row, uint64_t *ret) {
  const writer *w = context;
  const builder_frame *f = &w->builder->frames[w->frames.order[row]];
  ret[HEARTH_FRAME_FIRST_CONTEXT] = row > 0 ? w->context_ends[row - 1] : 0;
  ret[HEARTH_FRAME_FUNCTION] = w->functions.rank[f->function];
  ret[HEARTH_FRAME_LINE] = f->line;
  ret[HEARTH_FRAME_COLUMN] = f->column;
  ret[HEARTH_FRAME_DISCRIMINATOR] = f->discriminator;
  ret[HEARTH_FRAME_FLAGS] = f->flags | (f->recursive ? HEARTH_FRAME_RECURSIVE : 0);
}

static void stack_row(const void *context, size_t row, uint64_t *ret) {
  const writer *w = context;
  ret[HEARTH_STACK_FRAME] = w->node_frames[row];
  ret[HEARTH_STACK_UP] = (uint32_t)row - 1 - w->parents[row]; /* HEARTH_NONE is -1 */
}

static void context_row(const void *context, size_t row, uint64_t *ret) {
  const writer *w = context;
  hearth_mib mib;
  uint32_t number = w->contexts.order[row];
  mib_rows_get(&w->builder->mibs, number, &mib);
  ret[0] = w->leaves[number];
  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; i++)
    ret[1 + i] = mib.v[context_columns[i].field];
}

static hearth_status pack(writer *w, packed_source *source, size_t rows, const uint32_t *column_references,
                          size_t columns, packed_bytes *ret) {
  if (packed_encode(source, w, rows, column_references, columns, &ret->data, &ret->size))
    return HEARTH_OK;
  return hearth_error_set(w->err, HEARTH_E_NOMEM, "out of memory writing the profile");
}

/* Column of CONTEXTS that holds a field. */
static uint32_t column_of(int field) {
  uint32_t column = 0;
  while (field >= 0 && (int)context_columns[column].field != field)
    column++;
  return field < 0 ? HEARTH_NONE : 1 + column;
}

static hearth_status pack_tables(writer *w) {
  static const uint32_t none[] = {HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE};
  _Static_assert(sizeof none / sizeof none[0] >= HEARTH_FRAME_COLUMNS, "one for each column");
  _Static_assert(sizeof none / sizeof none[0] >= HEARTH_STACK_COLUMNS, "one for each column");
  uint32_t of_contexts[CONTEXT_COLUMNS] = {HEARTH_NONE};
  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; i++)
    of_contexts[1 + i] = column_of(context_columns[i].reference);
  HEARTH_TRY(pack(w, frame_row, w->frames.count, none, HEARTH_FRAME_COLUMNS, &w->packed_frames));
  HEARTH_TRY(pack(w, stack_row, w->nodes.count, none, HEARTH_STACK_COLUMNS, &w->packed_stacks));
  return pack(w, context_row, w->contexts.count, of_contexts, CONTEXT_COLUMNS, &w->packed_contexts);
}

/* -------------------------------------------------- sections -------------------------------------------------- */

static size_t align8(size_t size) { return (size + 7) & ~(size_t)7; }

static bool has_section(const writer *w, uint32_t id) {
  return id <= HEARTH_SECTION_CHECKSUMS || (id == HEARTH_SECTION_HISTOGRAMS && w->histogram_count > 0) ||
         (id == HEARTH_SECTION_TYPES && w->type_count > 0) || (id == HEARTH_SECTION_PLAN && w->plan.size > 0);
}

static uint32_t section_count(const writer *w) {
  uint32_t count = 0;
  for (uint32_t id = 1; id <= HEARTH_SECTIONS; id++)
    count += has_section(w, id);
  return count;
}

static size_t section_table_size(const writer *w) { return section_count(w) * sizeof w->sections[0]; }

/* The checksums are at the end. */
static void lay_out(writer *w) {
  size_t offset = sizeof(hearth_indexed_header) + section_table_size(w);
  while (w->bucket_bits < 31 && (UINT32_C(1) << w->bucket_bits) < w->functions.count)
    w->bucket_bits++;
  size_t buckets = ((size_t)1 << w->bucket_bits) + 1;
  struct {
    size_t count, size;
  } sizes[HEARTH_SECTIONS + 1] = {
      [HEARTH_SECTION_SCHEMA] = {CONTEXT_COLUMNS, CONTEXT_COLUMNS * sizeof(hearth_indexed_field)},
      [HEARTH_SECTION_STRINGS] = {w->string_count, w->strings_size},
      [HEARTH_SECTION_PATHS] = {w->path_count, w->path_count * sizeof(hearth_indexed_path)},
      [HEARTH_SECTION_FUNCTIONS] = {w->functions.count, w->functions.count * sizeof(hearth_indexed_function)},
      [HEARTH_SECTION_BUCKETS] = {buckets, buckets * sizeof(uint32_t)},
      [HEARTH_SECTION_FRAMES] = {w->frames.count, w->packed_frames.size},
      [HEARTH_SECTION_STACKS] = {w->nodes.count, w->packed_stacks.size},
      [HEARTH_SECTION_CONTEXTS] = {w->contexts.count, w->packed_contexts.size},
      [HEARTH_SECTION_SUMMARY] = {1, w->summary.size},
      [HEARTH_SECTION_BINARIES] = {w->builder->binary_count, w->builder->binary_count * sizeof(hearth_indexed_binary)},
      [HEARTH_SECTION_HISTOGRAMS] = {w->histogram_count, w->histograms.size},
      [HEARTH_SECTION_TYPES] = {w->type_count, w->type_count * sizeof(hearth_indexed_type)},
      [HEARTH_SECTION_PLAN] = {1, w->plan.size},
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

static void fill(const writer *w, uint32_t id, const packed_bytes *from) {
  if (from->size)
    memcpy(section_data(w, id), from->data, from->size);
}

static void fill_schema(writer *w) {
  hearth_indexed_field *schema = section_data(w, HEARTH_SECTION_SCHEMA);
  for (size_t i = 0; i < CONTEXT_COLUMNS; i++) {
    size_t field = i ? (size_t)context_columns[i - 1].field : HEARTH_MIB_COLUMNS;
    schema[i] = (hearth_indexed_field){field_tags[field], writer_string_offset(w, field_names[field])};
  }
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
                                        .name = writer_string_offset(w, b->pool + f->name),
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
    rows[i].name = writer_string_offset(w, w->builder->pool + w->binaries[i].name);
    rows[i].build_id_size = w->binaries[i].build_id_size;
    memcpy(rows[i].build_id, w->binaries[i].build_id, sizeof rows[i].build_id);
  }
}

/* Header last but for the checksums of blocks, the first of which covers it. */
static void fill_header_and_checksums(writer *w) {
  hearth_indexed_header header = {.magic = HEARTH_INDEXED_MAGIC,
                                  .version = HEARTH_INDEXED_VERSION,
                                  .header_size = sizeof header,
                                  .file_size = w->size,
                                  .required_flags = writer_accesses_counted(w)        ? HEARTH_FLAG_ACCESSES
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

static hearth_status write_image(writer *w) {
  HEARTH_TRY(writer_mark_needed(w));
  HEARTH_TRY(writer_order_functions(w));
  HEARTH_TRY(writer_order_frames(w));
  HEARTH_TRY(writer_order_types(w));
  HEARTH_TRY(writer_collect_file_names(w));
  HEARTH_TRY(writer_collect_strings(w, field_names, CONTEXT_COLUMNS));
  HEARTH_TRY(writer_build_paths(w));
  HEARTH_TRY(writer_order_nodes(w));
  HEARTH_TRY(writer_order_contexts(w));
  HEARTH_TRY(writer_order_binaries(w));
  HEARTH_TRY(pack_tables(w));
  HEARTH_TRY(writer_encode_histograms(w));
  HEARTH_TRY(writer_sum_without_scopes(w));
  HEARTH_TRY(writer_summarise(w));
  if (w->plan_options)
    HEARTH_TRY(writer_plan(w));
  lay_out(w);
  HEARTH_TRY(writer_allocate(w, (void **)&w->image, w->size, 1));
  memcpy(section_data(w, HEARTH_SECTION_PATHS), w->paths, w->path_count * sizeof *w->paths);
  fill(w, HEARTH_SECTION_FRAMES, &w->packed_frames);
  fill(w, HEARTH_SECTION_STACKS, &w->packed_stacks);
  fill(w, HEARTH_SECTION_CONTEXTS, &w->packed_contexts);
  fill(w, HEARTH_SECTION_HISTOGRAMS, &w->histograms);
  fill(w, HEARTH_SECTION_SUMMARY, &w->summary);
  fill(w, HEARTH_SECTION_PLAN, &w->plan);
  writer_fill_types(w, section_data(w, HEARTH_SECTION_TYPES));
  fill_schema(w);
  fill_strings(w);
  fill_functions(w);
  fill_binaries(w);
  fill_header_and_checksums(w);
  return HEARTH_OK;
}

static hearth_status write_memory(const hearth_builder *builder, const hearth_plan_options *plan_options,
                                  void **ret_data, size_t *ret_size, hearth_error *err) {
  writer w = {.builder = builder, .plan_options = plan_options, .err = err};
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
  return write_memory(builder, NULL, ret_data, ret_size, err);
}

hearth_status hearth_builder_write_planned(hearth_builder *builder, const hearth_plan_options *options, void **ret_data,
                                           size_t *ret_size, hearth_error *err) {
  static const hearth_plan_options defaults;
  return write_memory(builder, options ? options : &defaults, ret_data, ret_size, err);
}

hearth_status hearth_builder_write(hearth_builder *builder, const char *path, hearth_error *err) {
  void *data;
  size_t size;
  HEARTH_TRY(hearth_builder_write_memory(builder, &data, &size, err));
  hearth_status status = hearth_file_write(path, data, size, err);
  free(data);
  return status;
}
