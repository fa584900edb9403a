/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* FRAMES, STACKS and CONTEXTS as packed tables: a source for each fills blocks of rows from the builder's rows in
 * their new order. */
#include "reader_internal.h"
#include "writer.h"

static const uint32_t field_tags[HEARTH_MIB_COLUMNS] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) tag,
#include "hearth/mib_fields.def"
};
static const char *const field_names[HEARTH_MIB_COLUMNS] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) #Name,
#include "hearth/mib_fields.def"
};

/* Columns of CONTEXTS behind the leaf node: the fields in the order of their tags, but each behind the one that its
 * numbers are stored relative to. Most contexts have one block, or blocks that are alike, so that the greatest number
 * is the least, the total is either, and the difference is 0. Some profiles lack the last ones. */
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
    {HEARTH_COL_LookedLifetime, HEARTH_COL_TotalLifetime}, /* the first of LOOK_COLUMNS */
    {HEARTH_COL_EstimatedAccessCount, HEARTH_COL_TotalAccessCount},
    {HEARTH_COL_Looks, -1},
    {HEARTH_COL_TouchedLooks, HEARTH_COL_Looks},
    {HEARTH_COL_LookTime, -1},
    {HEARTH_COL_ShortLooks, -1},
    {HEARTH_COL_TouchedShortLooks, HEARTH_COL_ShortLooks},
    {HEARTH_COL_ShortLookTime, -1},
    {HEARTH_COL_SizedAtExit, HEARTH_COL_LiveAtExit},
    {HEARTH_COL_LiveBytes, -1},
    {HEARTH_COL_Picks, -1},
    {HEARTH_COL_LatePicks, HEARTH_COL_Picks},
    {HEARTH_COL_UsedPageBytes, -1},
    {HEARTH_COL_IdlePageBytes, -1},
    {HEARTH_COL_TouchedPages, HEARTH_COL_TouchedLooks},
    {HEARTH_COL_PeakBytes, -1},
    {HEARTH_COL_PeakBlocks, -1},
};

_Static_assert(sizeof context_columns / sizeof context_columns[0] == HEARTH_MIB_COLUMNS, "each field has its column");

enum { LOOK_COLUMNS = 8, LIVE_COLUMNS = 2, PICK_COLUMNS = 4, PEAK_COLUMNS = 2 };
enum {
  PLAIN_COLUMNS = HEARTH_MIB_COLUMNS - LOOK_COLUMNS - LIVE_COLUMNS - PICK_COLUMNS - 1 /* TouchedPages */ - PEAK_COLUMNS
};

/* Does any context have a number in one of the columns from this one on? */
static bool has_any(const hearth_builder *b, unsigned first, unsigned count) {
  for (unsigned i = first; i < first + count; i++)
    if (b->mibs.columns[i].width > 0)
      return true;
  return false;
}

static bool table_is_wanted(const hearth_builder *b, size_t column) {
  if (column < PLAIN_COLUMNS)
    return true;
  if (column >= HEARTH_COL_PeakBytes)
    return has_any(b, HEARTH_COL_PeakBytes, PEAK_COLUMNS);
  if (column < PLAIN_COLUMNS + LOOK_COLUMNS || column == HEARTH_COL_TouchedPages)
    return b->runs.accesses_estimated || has_any(b, HEARTH_COL_LookedLifetime, LOOK_COLUMNS);
  if (column < PLAIN_COLUMNS + LOOK_COLUMNS + LIVE_COLUMNS)
    return has_any(b, HEARTH_COL_SizedAtExit, LIVE_COLUMNS);
  return has_any(b, HEARTH_COL_Picks, PICK_COLUMNS);
}

void hearth_writer_choose_columns(writer *w) {
  w->column_names[0] = "StackID";
  w->column_count = 1;
  for (uint8_t i = 0; i < HEARTH_MIB_COLUMNS; i++)
    if (table_is_wanted(w->builder, i)) {
      w->column_names[w->column_count] = field_names[context_columns[i].field];
      w->columns[w->column_count++] = i;
    }
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
    hearth_mib_rows_gather(&w->builder->mibs, numbers, count, context_columns[w->columns[i]].field, ret[i]);
}

/* Column of CONTEXTS that holds a field, which is there. */
static uint32_t column_of(const writer *w, int field) {
  uint32_t column = 1;
  while (field >= 0 && (int)context_columns[w->columns[column]].field != field)
    column++;
  return field < 0 ? HEARTH_NONE : column;
}

static bool table_pack(const writer *w, packed_source *source, size_t rows, const uint32_t *column_references,
                       size_t columns, packed_bytes *ret) {
  return hearth_packed_encode(source, w, rows, column_references, columns, &ret->data, &ret->size);
}

hearth_status hearth_writer_pack_tables(const writer *w, writer_tables *ret, hearth_error *err) {
  static const uint32_t none[] = {HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE, HEARTH_NONE};
  _Static_assert(sizeof none / sizeof none[0] >= HEARTH_FRAME_COLUMNS, "one for each column");
  _Static_assert(sizeof none / sizeof none[0] >= HEARTH_STACK_COLUMNS, "one for each column");
  uint32_t of_contexts[WRITER_CONTEXT_COLUMNS] = {HEARTH_NONE};
  for (size_t i = 1; i < w->column_count; i++)
    of_contexts[i] = column_of(w, context_columns[w->columns[i]].reference);
  if (table_pack(w, frame_rows, w->frames.count, none, HEARTH_FRAME_COLUMNS, &ret->frames) &&
      table_pack(w, stack_rows, w->nodes.count, none, HEARTH_STACK_COLUMNS, &ret->stacks) &&
      table_pack(w, context_rows, w->contexts.count, of_contexts, w->column_count, &ret->contexts))
    return HEARTH_OK;
  return hearth_error_nomem(err);
}

void hearth_writer_fill_schema(const writer *w, hearth_indexed_field *rows) {
  for (size_t i = 0; i < w->column_count; i++)
    rows[i] = (hearth_indexed_field){i ? field_tags[context_columns[w->columns[i]].field] : HEARTH_TAG_StackID,
                                     hearth_writer_string_offset(w, w->column_names[i])};
}
