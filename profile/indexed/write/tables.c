/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* FRAMES, STACKS and CONTEXTS as packed tables: a source for each fills blocks of rows from the builder's rows in
 * their new order. */
#include "reader_internal.h"
#include "writer.h"

static const uint32_t field_tags[HEARTH_MIB_COLUMNS] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) tag,
#include "hearth/mib_fields.def"
};

/* Fields whose numbers are stored relative to those of another field, which is before them. Most contexts have one block, or
 * blocks that are alike, so that the greatest number is the least, the total is either, and the difference is 0. */
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

void hearth_writer_choose_columns(writer *w) {
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

hearth_status hearth_writer_pack_tables(writer *w) {
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
