/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes LLVM's records of a profile. Frames are sorted and numbered anew; stacks and inline chains become nodes of one
 * tree; each context is listed under the functions of its leaf's inline chain, each call under those of its frames;
 * then sites are sorted by function, and functions by their bucket. */
#define _GNU_SOURCE /* qsort_r */

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ids.h"
#include "llvm_parts.h"

/* While the records are made: the new rows for rows of the profile. */
typedef struct maker {
  hearth_llvm_records *r;
  hearth_profile *profile;
  hearth_error *err;
  uint64_t *guids;    /* of functions */
  uint32_t *frames;   /* of frames */
  uint32_t *nodes;    /* of stack nodes */
  uint32_t *contexts; /* of our nodes; HEARTH_NONE: none */
  uint8_t *starts;    /* of our nodes: STARTS_* */
  uint32_t *chain;    /* frames of the inline chain at hand */
  size_t chain_room;
  bool accesses_known;
} maker;

/* A node is the innermost of an inline chain: of a context's leaf, of a call further out, or of both. */
enum { STARTS_ALLOCATION = 1, STARTS_CALL = 2 };

/* Room for one more row; rows are numbered with 32 bits, in a file with 31. */
static hearth_status record_reserve(maker *m, void *items, size_t *room, size_t count, size_t item_size) {
  if (count >= INT32_MAX)
    return hearth_error_set(m->err, HEARTH_E_FULL, "the profile has more rows than LLVM's format can number");
  return hearth_check_memory(hearth_array_grow(items, room, count, item_size), m->err);
}

/* -------------------------------------------------- frames -------------------------------------------------- */

static hearth_status name_functions(maker *m) {
  hearth_profile_summary summary;
  uint32_t count = hearth_profile_function_count(m->profile);
  HEARTH_TRY(hearth_profile_get_summary(m->profile, &summary, m->err));
  HEARTH_TRY(hearth_array_create(&m->guids, count, sizeof *m->guids, m->err));
  for (uint32_t i = 0; i < count; i++) {
    hearth_function_info f;
    HEARTH_TRY(hearth_profile_get_function(m->profile, i, &f, m->err));
    if (summary.id_scheme != HEARTH_IDS_LLVM && !*f.name)
      return hearth_error_set(m->err, HEARTH_E_MISMATCH,
                              "function 0x%016llx has no name, and LLVM's id is made of it: make the profile from raw "
                              "ones",
                              (unsigned long long)f.id);
    m->guids[i] = summary.id_scheme == HEARTH_IDS_LLVM ? f.id : hearth_llvm_id_of_name(f.name);
  }
  return HEARTH_OK;
}

typedef struct frame_row {
  hearth_llvm_frame frame;
  uint32_t row; /* in the profile */
} frame_row;

static int record_compare_frames(const void *a, const void *b) {
  const hearth_llvm_frame *x = &((const frame_row *)a)->frame, *y = &((const frame_row *)b)->frame;
  if (x->function != y->function)
    return x->function < y->function ? -1 : 1;
  if (x->line_offset != y->line_offset)
    return x->line_offset < y->line_offset ? -1 : 1;
  if (x->column != y->column)
    return x->column < y->column ? -1 : 1;
  return (x->inlined > y->inlined) - (x->inlined < y->inlined);
}

static hearth_status read_frames(maker *m, frame_row *rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    hearth_frame_info f;
    HEARTH_TRY(hearth_profile_get_frame(m->profile, i, &f, m->err));
    rows[i].frame = (hearth_llvm_frame){
        .function = m->guids[f.function], .line_offset = f.line, .column = f.column, .inlined = f.inlined};
    rows[i].row = i;
  }
  return HEARTH_OK;
}

/* Frames that only a discriminator, or the file of a static function, tells apart become one. */
static hearth_status make_frames(maker *m) {
  hearth_llvm_records *r = m->r;
  frame_row *rows;
  uint32_t count = hearth_profile_frame_count(m->profile);
  HEARTH_TRY(hearth_array_create(&r->frames, count, sizeof *r->frames, m->err));
  HEARTH_TRY(hearth_array_create(&m->frames, count, sizeof *m->frames, m->err));
  HEARTH_TRY(hearth_array_create(&rows, count, sizeof *rows, m->err));
  hearth_status status = read_frames(m, rows, count);
  if (status == HEARTH_OK) {
    qsort(rows, count, sizeof *rows, record_compare_frames);
    for (uint32_t i = 0; i < count; i++) {
      if (i == 0 || record_compare_frames(&rows[i - 1], &rows[i]) != 0)
        r->frames[r->frame_count++] = rows[i].frame;
      m->frames[rows[i].row] = (uint32_t)(r->frame_count - 1);
    }
  }
  free(rows);
  return status;
}

/* ---------------------------------------- nodes and contexts ---------------------------------------- */

static bool record_equal_node(const void *owner, uint32_t row, const void *key) {
  const hearth_llvm_node *a = &((const hearth_llvm_records *)owner)->nodes[row], *b = key;
  return a->frame == b->frame && a->parent == b->parent;
}

static hearth_status record_intern_node(maker *m, uint32_t frame, uint32_t parent, uint32_t *ret) {
  hearth_llvm_records *r = m->r;
  hearth_llvm_node key = {frame, parent};
  uint64_t hash = id_table_mix((uint64_t)parent << 32 | frame);
  *ret = id_table_find(&r->nodes_by_content, hash, record_equal_node, r, &key);
  if (*ret != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(record_reserve(m, &r->nodes, &r->node_room, r->node_count, sizeof *r->nodes));
  HEARTH_TRY(hearth_check_memory(id_table_reserve(&r->nodes_by_content), m->err));
  *ret = (uint32_t)r->node_count++;
  r->nodes[*ret] = key;
  id_table_insert(&r->nodes_by_content, hash, *ret);
  return HEARTH_OK;
}

static hearth_status record_make_nodes(maker *m) {
  uint32_t count = hearth_profile_stack_count(m->profile);
  HEARTH_TRY(hearth_array_create(&m->nodes, count, sizeof *m->nodes, m->err));
  for (uint32_t i = 0; i < count; i++) {
    uint32_t frame, parent;
    HEARTH_TRY(hearth_profile_get_stack(m->profile, i, &frame, &parent, m->err));
    uint32_t above = parent == HEARTH_NONE ? HEARTH_NONE : m->nodes[parent];
    HEARTH_TRY(record_intern_node(m, m->frames[frame], above, &m->nodes[i]));
  }
  return HEARTH_OK;
}

/* Fields that hold the accesses of some runs only: a reader of LLVM's profile cannot tell. */
static hearth_status find_partial_columns(maker *m, uint64_t *ret) {
#define COLUMN(Name) (UINT64_C(1) << HEARTH_COL_##Name)
  hearth_profile_summary summary;
  HEARTH_TRY(hearth_profile_get_summary(m->profile, &summary, m->err));
  *ret = 0;
  if (!summary.accesses_counted)
    *ret |= COLUMN(TotalAccessCount) | COLUMN(MinAccessCount) | COLUMN(MaxAccessCount);
  if (!hearth_accesses_known(&summary))
    *ret |= COLUMN(TotalLifetimeAccessDensity) | COLUMN(MinLifetimeAccessDensity) | COLUMN(MaxLifetimeAccessDensity);
  m->accesses_known = hearth_accesses_known(&summary);
#undef COLUMN
  return HEARTH_OK;
}

static void clear_columns(maker *m, uint64_t columns, hearth_mib *mib) {
  for (size_t i = 0; columns && i < HEARTH_MIB_COLUMNS; i++)
    if (columns & UINT64_C(1) << i && mib->v[i]) {
      mib->v[i] = 0;
      m->r->losses.partial = true;
    }
}

/* By the rule of LLVM's compiler with its default options: -memprof-lifetime-access-density-cold-threshold=0.05 and
 * -memprof-ave-lifetime-cold-threshold=200, in single precision as there. */
static bool is_cold_to_llvm(const hearth_mib *mib) {
  uint64_t cut = 0;
  float blocks = (float)hearth_llvm_entry_value(1, mib, &cut);
  float density = (float)mib->TotalLifetimeAccessDensity / blocks / 100;
  float lifetime_ms = (float)hearth_llvm_entry_value(10, mib, &cut) / blocks;
  return density < 0.05F && lifetime_ms >= 200 * 1000;
}

static hearth_status make_contexts(maker *m) {
  hearth_llvm_records *r = m->r;
  uint64_t partial;
  uint32_t count = hearth_profile_context_count(m->profile);
  HEARTH_TRY(hearth_array_create(&r->contexts, count, sizeof *r->contexts, m->err));
  HEARTH_TRY(hearth_array_create(&m->contexts, r->node_count, sizeof *m->contexts, m->err));
  memset(m->contexts, 0xff, r->node_count * sizeof *m->contexts);
  HEARTH_TRY(find_partial_columns(m, &partial));
  for (uint32_t i = 0; i < count; i++) {
    uint32_t leaf;
    hearth_mib mib;
    hearth_histogram histogram;
    HEARTH_TRY(hearth_profile_get_context(m->profile, i, &leaf, &mib, m->err));
    clear_columns(m, partial, &mib);
    HEARTH_TRY(hearth_profile_get_histogram(m->profile, i, &histogram, m->err));
    r->losses.histograms |= histogram.size > 0;
    uint32_t *context = &m->contexts[m->nodes[leaf]];
    if (*context == HEARTH_NONE)
      *context = (uint32_t)r->context_count++;
    else
      r->losses.summed++;
    hearth_mib_merge(&r->contexts[*context], &mib);
  }
  for (size_t i = 0; !m->accesses_known && i < r->context_count; i++)
    r->losses.taken_for_cold += is_cold_to_llvm(&r->contexts[i]);
  return HEARTH_OK;
}

/* -------------------------------------------------- sites -------------------------------------------------- */

static hearth_status add_site(maker *m, hearth_llvm_site site) {
  hearth_llvm_records *r = m->r;
  HEARTH_TRY(record_reserve(m, &r->sites, &r->site_room, r->site_count, sizeof *r->sites));
  r->sites[r->site_count++] = site;
  return HEARTH_OK;
}

static const hearth_llvm_frame *frame_of(const hearth_llvm_records *r, uint32_t node) {
  return &r->frames[r->nodes[node].frame];
}

/* The next node of the same inline chain, or HEARTH_NONE. */
static uint32_t next_in_chain(const hearth_llvm_records *r, uint32_t node) {
  return frame_of(r, node)->inlined ? r->nodes[node].parent : HEARTH_NONE;
}

static void mark_starts(maker *m) {
  const hearth_llvm_records *r = m->r;
  for (uint32_t i = 0; i < r->node_count; i++) {
    if (m->contexts[i] != HEARTH_NONE)
      m->starts[i] |= STARTS_ALLOCATION;
    if (!frame_of(r, i)->inlined && r->nodes[i].parent != HEARTH_NONE)
      m->starts[r->nodes[i].parent] |= STARTS_CALL;
  }
}

/* The inline chain that begins at `node` as a stack of its own: the same for all callers further out. */
static hearth_status make_chain(maker *m, uint32_t node, uint32_t *ret) {
  size_t count = 0;
  for (; node != HEARTH_NONE; node = next_in_chain(m->r, node)) {
    HEARTH_TRY(record_reserve(m, &m->chain, &m->chain_room, count, sizeof *m->chain));
    m->chain[count++] = m->r->nodes[node].frame;
  }
  *ret = HEARTH_NONE;
  while (count > 0)
    HEARTH_TRY(record_intern_node(m, m->chain[--count], *ret, ret));
  return HEARTH_OK;
}

static hearth_status add_allocation(maker *m, uint32_t node) {
  for (uint32_t at = node; at != HEARTH_NONE; at = next_in_chain(m->r, at))
    HEARTH_TRY(add_site(m, (hearth_llvm_site){frame_of(m->r, at)->function, node, m->contexts[node]}));
  return HEARTH_OK;
}

static hearth_status add_calls(maker *m, uint32_t node, uint8_t starts) {
  uint32_t chain, first = starts & STARTS_CALL ? node : next_in_chain(m->r, node);
  if (first == HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(make_chain(m, node, &chain));
  for (uint32_t at = first; at != HEARTH_NONE; at = next_in_chain(m->r, at))
    HEARTH_TRY(add_site(m, (hearth_llvm_site){frame_of(m->r, at)->function, chain, HEARTH_NONE}));
  return HEARTH_OK;
}

static hearth_status make_sites(maker *m) {
  size_t stack_nodes = m->r->node_count; /* chains are added behind */
  HEARTH_TRY(hearth_array_create(&m->starts, stack_nodes, sizeof *m->starts, m->err));
  mark_starts(m);
  for (uint32_t i = 0; i < stack_nodes; i++) {
    if (m->starts[i] & STARTS_ALLOCATION)
      HEARTH_TRY(add_allocation(m, i));
    if (m->starts[i])
      HEARTH_TRY(add_calls(m, i, m->starts[i]));
  }
  return HEARTH_OK;
}

/* -------------------------------------------------- order -------------------------------------------------- */

/* By content, leaf first: node numbers depend on the profile's ids. */
static int record_compare_stacks(const hearth_llvm_records *r, uint32_t a, uint32_t b) {
  while (a != b && a != HEARTH_NONE && b != HEARTH_NONE) {
    uint32_t x = r->nodes[a].frame, y = r->nodes[b].frame;
    if (x != y)
      return x < y ? -1 : 1;
    a = r->nodes[a].parent;
    b = r->nodes[b].parent;
  }
  return a == b ? 0 : a == HEARTH_NONE ? -1 : 1;
}

static int record_compare_sites(const void *a, const void *b, void *records) {
  const hearth_llvm_site *x = a, *y = b;
  if (x->guid != y->guid)
    return x->guid < y->guid ? -1 : 1;
  bool x_calls = x->context == HEARTH_NONE, y_calls = y->context == HEARTH_NONE;
  return x_calls != y_calls ? x_calls - y_calls : record_compare_stacks(records, x->node, y->node);
}

/* A context stands in a record once, and so does a call: recursion that was inlined gives equal sites. */
static void sort_sites(hearth_llvm_records *r) {
  size_t kept = 0;
  if (r->site_count)
    qsort_r(r->sites, r->site_count, sizeof *r->sites, record_compare_sites, r);
  for (size_t i = 0; i < r->site_count; i++)
    if (kept == 0 || record_compare_sites(&r->sites[kept - 1], &r->sites[i], r) != 0)
      r->sites[kept++] = r->sites[i];
  r->site_count = kept;
}

static int compare_records(const void *a, const void *b, void *mask) {
  const hearth_llvm_record *x = a, *y = b;
  uint64_t x_bucket = x->guid & *(const uint64_t *)mask, y_bucket = y->guid & *(const uint64_t *)mask;
  if (x_bucket != y_bucket)
    return x_bucket < y_bucket ? -1 : 1;
  return (x->guid > y->guid) - (x->guid < y->guid);
}

static hearth_status make_records(maker *m) {
  hearth_llvm_records *r = m->r;
  HEARTH_TRY(hearth_array_create(&r->records, r->site_count, sizeof *r->records, m->err));
  for (size_t i = 0; i < r->site_count; i++) {
    const hearth_llvm_site *site = &r->sites[i];
    if (i == 0 || site->guid != site[-1].guid)
      r->records[r->record_count++] = (hearth_llvm_record){.guid = site->guid, .first = i, .calls = i};
    hearth_llvm_record *record = &r->records[r->record_count - 1];
    record->end = i + 1;
    if (site->context != HEARTH_NONE)
      record->calls = i + 1;
  }
  uint64_t mask = hearth_llvm_bucket_count(r->record_count) - 1;
  qsort_r(r->records, r->record_count, sizeof *r->records, compare_records, &mask);
  return HEARTH_OK;
}

/* -------------------------------------------------- schema -------------------------------------------------- */

static bool is_read_by_compiler(uint32_t tag) {
  int column = hearth_llvm_entries[tag].column;
  return column == HEARTH_COL_AllocCount || column == HEARTH_COL_TotalSize || column == HEARTH_COL_TotalLifetime ||
         column == HEARTH_COL_TotalLifetimeAccessDensity;
}

static void record_choose_schema(hearth_llvm_records *r) {
  uint64_t filled = 0, held = 0;
  for (size_t i = 0; i < r->context_count; i++)
    for (size_t column = 0; column < HEARTH_MIB_COLUMNS; column++)
      filled |= (uint64_t)(r->contexts[i].v[column] != 0) << column;
  for (uint32_t tag = 1; tag < HEARTH_LLVM_MIB_LIMIT; tag++) {
    int column = hearth_llvm_entries[tag].column;
    held |= column >= 0 ? UINT64_C(1) << column : 0;
    if (column >= 0 && (is_read_by_compiler(tag) || filled & UINT64_C(1) << column))
      r->tags[r->tag_count++] = tag;
  }
  r->losses.columns = filled & ~held;
  for (size_t i = 0; i < r->context_count; i++)
    for (uint32_t k = 0; k < r->tag_count; k++)
      hearth_llvm_entry_value(r->tags[k], &r->contexts[i], &r->losses.cut);
}

/* -------------------------------------------------- all -------------------------------------------------- */

static hearth_status make_all(maker *m) {
  HEARTH_TRY(name_functions(m));
  HEARTH_TRY(make_frames(m));
  HEARTH_TRY(record_make_nodes(m));
  HEARTH_TRY(make_contexts(m));
  HEARTH_TRY(make_sites(m));
  sort_sites(m->r);
  HEARTH_TRY(make_records(m));
  record_choose_schema(m->r);
  return HEARTH_OK;
}

hearth_status hearth_llvm_records_make(hearth_llvm_records *records, hearth_profile *profile, hearth_error *err) {
  maker m = {.r = records, .profile = profile, .err = err};
  memset(records, 0, sizeof *records);
  hearth_status status = make_all(&m);
  HEARTH_FREE(m.guids, m.frames, m.nodes, m.contexts, m.starts, m.chain);
  return status;
}

void hearth_llvm_records_free(hearth_llvm_records *records) {
  HEARTH_FREE(records->frames, records->nodes, records->contexts, records->sites, records->records,
              records->nodes_by_content.slots);
}

hearth_llvm_summary hearth_llvm_summarise(const hearth_llvm_records *records) {
  hearth_llvm_summary sum = {.contexts = records->context_count};
  for (size_t i = 0; i < records->context_count; i++) {
    const hearth_mib *mib = &records->contexts[i];
    bool cold = is_cold_to_llvm(mib);
    uint64_t *largest = cold ? &sum.largest_cold : &sum.largest_warm;
    sum.cold += cold;
    if (mib->TotalSize > *largest)
      *largest = mib->TotalSize;
  }
  return sum;
}

/* ------------------------------------------------ fields of a MIB ------------------------------------------------ */

/* Fields of LLVM's MIB as schemas of its indexed profiles number them: bytes in a file, the column that holds it, and
 * its unit. LLVM's name is that of the column if none is given. Of a histogram, LLVM has the counters in raw profiles
 * only; its indexed ones keep their number, and an address of a process that has ended: these have no column. Source:
 * measured on LLVM 22.1.8. */

enum { UNIT_SAME = 1, UNIT_MS = 1000000 };

/* clang-format off */
const hearth_llvm_entry hearth_llvm_entries[HEARTH_LLVM_MIB_LIMIT] = {
  [1] = {4, HEARTH_COL_AllocCount, UNIT_SAME},
  [2] = {8, HEARTH_COL_TotalAccessCount, UNIT_SAME},
  [3] = {8, HEARTH_COL_MinAccessCount, UNIT_SAME},
  [4] = {8, HEARTH_COL_MaxAccessCount, UNIT_SAME},
  [5] = {8, HEARTH_COL_TotalSize, UNIT_SAME},
  [6] = {4, HEARTH_COL_MinSize, UNIT_SAME},
  [7] = {4, HEARTH_COL_MaxSize, UNIT_SAME},
  [8] = {4, HEARTH_COL_AllocTimestamp, UNIT_MS},
  [9] = {4, HEARTH_COL_DeallocTimestamp, UNIT_MS},
  [10] = {8, HEARTH_COL_TotalLifetime, UNIT_MS},
  [11] = {4, HEARTH_COL_MinLifetime, UNIT_MS},
  [12] = {4, HEARTH_COL_MaxLifetime, UNIT_MS},
  [13] = {4, HEARTH_COL_AllocCPU, UNIT_SAME}, /* AllocCpuId */
  [14] = {4, HEARTH_COL_DeallocCPU, UNIT_SAME}, /* DeallocCpuId */
  [15] = {4, HEARTH_COL_NumMigration, UNIT_SAME}, /* NumMigratedCpu */
  [16] = {4, HEARTH_COL_NumLifetimeOverlaps, UNIT_SAME},
  [17] = {4, HEARTH_COL_NumSameAllocCPU, UNIT_SAME}, /* NumSameAllocCpu */
  [18] = {4, HEARTH_COL_NumSameDeallocCPU, UNIT_SAME}, /* NumSameDeallocCpu */
  [19] = {8, HEARTH_COL_DataTypeId, UNIT_SAME},
  [20] = {8, HEARTH_COL_TotalAccessDensity, UNIT_SAME},
  [21] = {4, HEARTH_COL_MinAccessDensity, UNIT_SAME},
  [22] = {4, HEARTH_COL_MaxAccessDensity, UNIT_SAME},
  [23] = {8, HEARTH_COL_TotalLifetimeAccessDensity, UNIT_SAME},
  [24] = {4, HEARTH_COL_MinLifetimeAccessDensity, UNIT_SAME},
  [25] = {4, HEARTH_COL_MaxLifetimeAccessDensity, UNIT_SAME},
  [26] = {4, -1, UNIT_SAME}, /* AccessHistogramSize */
  [27] = {8, -1, UNIT_SAME}, /* AccessHistogram */
};
/* clang-format on */

void hearth_llvm_entry_load(uint32_t tag, uint64_t value, hearth_mib *mib) {
  const hearth_llvm_entry *entry = &hearth_llvm_entries[tag];
  if (entry->column >= 0)
    mib->v[entry->column] = value > UINT64_MAX / entry->unit ? UINT64_MAX : value * entry->unit;
}

uint64_t hearth_llvm_entry_value(uint32_t tag, const hearth_mib *mib, uint64_t *ret_cut) {
  const hearth_llvm_entry *entry = &hearth_llvm_entries[tag];
  uint64_t value = mib->v[entry->column] / entry->unit;
  if (entry->bytes == 8 || value <= UINT32_MAX)
    return value;
  ++*ret_cut;
  return UINT32_MAX;
}
