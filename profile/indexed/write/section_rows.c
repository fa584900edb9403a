/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes sections of rows: types, histograms, variances, facts of runs; and sums contexts that differ in scopes alone. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/ids.h"
#include "hearth/raw.h"
#include "reader_internal.h"
#include "writer.h"

/* Writes the TYPES section: the types that contexts have, sorted by id. */

static builder_type *find_type(const writer *w, uint64_t id) {
  return bsearch(&id, w->types, w->type_count, sizeof *w->types, hearth_compare_u64);
}

/* Order the types that contexts have. */
hearth_status hearth_writer_order_types(writer *w) {
  const hearth_builder *b = w->builder;
  bool *used;
  size_t kept = 0;
  HEARTH_TRY(hearth_array_create(&w->types, b->type_count, sizeof *w->types, w->err));
  HEARTH_TRY(hearth_array_create(&used, b->type_count, sizeof *used, w->err));
  w->type_count = b->type_count;
  if (b->type_count > 0) {
    memcpy(w->types, b->types, b->type_count * sizeof *w->types);
    qsort(w->types, w->type_count, sizeof *w->types, hearth_compare_u64);
  }
  for (size_t i = 0; w->type_count > 0 && i < b->context_count; i++) {
    builder_type *type = find_type(w, b->mibs[i].DataTypeId);
    if (type)
      used[type - w->types] = true;
  }
  for (size_t i = 0; i < w->type_count; i++)
    if (used[i])
      w->types[kept++] = w->types[i];
  w->type_count = kept;
  free(used);
  return HEARTH_OK;
}

hearth_status hearth_writer_encode_types(writer *w) {
  hearth_indexed_type *rows;
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_TYPES, w->type_count, w->type_count * sizeof *rows, &rows));
  for (size_t i = 0; i < w->type_count; i++)
    rows[i] =
        (hearth_indexed_type){w->types[i].id, hearth_writer_string_offset(w, w->builder->pool + w->types[i].name), 0};
  return HEARTH_OK;
}

/* Writes the GLOBALS section. */

static double section_density_of(const builder_global *g) {
  return (double)g->accesses / (g->size ? (double)g->size : 1);
}

static int compare_heat(const void *left, const void *right) {
  const builder_global *a = left, *b = right;
  const double density_a = section_density_of(a), density_b = section_density_of(b);
  const int kind_a = (int)hearth_global_kind_of(a->flags), kind_b = (int)hearth_global_kind_of(b->flags);
  if (kind_a != kind_b)
    return kind_a - kind_b;
  return density_a != density_b ? (density_a < density_b ? 1 : -1) : hearth_compare_u64(&a->id, &b->id);
}

/* Of one kind, those of most accesses per byte first, so that the hot bytes are few. Equal ones are all hot, or none
 * is. */
static void mark_hot(builder_global *rows, size_t count) {
  uint64_t sum = 0, seen = 0;
  for (size_t i = 0; i < count; i++)
    sum = hearth_merge_SUM(sum, rows[i].accesses);
  const bool all = count > 0 && hearth_global_kind_of(rows[0].flags) == HEARTH_GLOBAL_UNKNOWN; /* LLVM has chosen */
  const uint64_t rest = all ? 0 : sum / 1000 * (1000 - HEARTH_GLOBALS_HOT_SHARE);
  for (size_t i = 0; i < count && rows[i].accesses > 0; i++) {
    bool equals_hot = i > 0 && rows[i - 1].flags & HEARTH_GLOBAL_HOT &&
                      section_density_of(&rows[i]) == section_density_of(&rows[i - 1]);
    if (sum - seen > rest || equals_hot)
      rows[i].flags |= HEARTH_GLOBAL_HOT;
    seen = hearth_merge_SUM(seen, rows[i].accesses);
  }
}

static hearth_indexed_global section_row_of_global(const writer *w, const builder_global *g) {
  return (hearth_indexed_global){.id = g->id,
                                 .size = g->size,
                                 .accesses = g->accesses,
                                 .touched_lines = g->touched_lines,
                                 .stores = g->stores,
                                 .name = hearth_writer_string_offset(w, w->builder->pool + g->name),
                                 .file = hearth_writer_string_offset(w, w->builder->pool + g->file),
                                 .line = g->line,
                                 .flags = g->flags};
}

hearth_status hearth_writer_encode_globals(writer *w) {
  const size_t count = w->builder->global_count;
  builder_global *globals;
  hearth_indexed_global *rows;
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_GLOBALS, count, count * sizeof *rows, &rows));
  HEARTH_TRY(hearth_array_create(&globals, count, sizeof *globals, w->err));
  if (count > 0)
    memcpy(globals, w->builder->globals, count * sizeof *globals);
  qsort(globals, count, sizeof *globals, compare_heat);
  for (size_t i = 0, next; i < count; i = next) {
    next = i + 1;
    while (next < count && hearth_global_kind_of(globals[next].flags) == hearth_global_kind_of(globals[i].flags))
      next++;
    mark_hot(&globals[i], next - i);
  }
  qsort(globals, count, sizeof *globals, hearth_compare_u64);
  for (size_t i = 0; i < count; i++)
    rows[i] = section_row_of_global(w, &globals[i]);
  free(globals);
  return HEARTH_OK;
}

/* Writes the HISTOGRAMS section: its size is computed first, then rows and numbers are written side by side. */

static size_t varint_size(uint64_t number) {
  uint8_t packed[HEARTH_RAW_VARINT_MOST];
  return (size_t)(hearth_raw_put_varint(packed, number) - packed);
}

static size_t encoded_size(const hearth_histogram *histogram) {
  size_t size = varint_size(histogram->size);
  for (uint64_t i = 0; i < histogram->size; i++)
    size += varint_size(histogram->counts[i]);
  return size;
}

static hearth_histogram histogram_of(const writer *w, uint32_t context) {
  return hearth_builder_histogram(w->builder, w->contexts.order[context]);
}

hearth_status hearth_writer_encode_histograms(writer *w) {
  uint64_t bytes = 0, count = 0;
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    hearth_histogram histogram = histogram_of(w, i);
    count += histogram.size > 0;
    bytes += histogram.size > 0 ? encoded_size(&histogram) : 0;
  }
  if (bytes > UINT32_MAX)
    return hearth_error_set(w->err, HEARTH_E_FULL, "the histograms exceed 4 GiB");
  hearth_indexed_histogram *row;
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_HISTOGRAMS, count, count * sizeof *row + bytes, &row));
  uint8_t *first = (uint8_t *)(row + count), *to = first;
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    hearth_histogram histogram = histogram_of(w, i);
    if (histogram.size == 0)
      continue;
    *row++ = (hearth_indexed_histogram){i, (uint32_t)(to - first)};
    to = hearth_raw_put_varint(to, histogram.size);
    for (uint64_t k = 0; k < histogram.size; k++)
      to = hearth_raw_put_varint(to, histogram.counts[k]);
  }
  return HEARTH_OK;
}

/* The VARIANCES section: a packed table in the order of the contexts. Its rows are put in order before they are
 * packed, since the packing reads them twice. */

typedef struct variance_row {
  uint32_t context;
  hearth_variance variance;
} variance_row;

static size_t order_rows(const writer *w, variance_row *rows) {
  size_t count = 0;
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    variance_row row = {i, hearth_builder_variance(w->builder, w->contexts.order[i])};
    if (row.variance.runs > 0)
      rows[count++] = row;
  }
  return count;
}

static void fill_rows(const void *context, size_t first, size_t count, uint64_t (*ret)[HEARTH_PACKED_ROWS]) {
  const variance_row *rows = (const variance_row *)context + first;
  for (size_t i = 0; i < count; i++) {
    ret[HEARTH_VARIANCE_CONTEXT][i] = rows[i].context;
    for (size_t column = HEARTH_VARIANCE_RUNS; column < HEARTH_VARIANCE_COLUMNS; column++)
      ret[column][i] = rows[i].variance.sums[column - HEARTH_VARIANCE_RUNS];
  }
}

/* Without weights the runs are their own squares. */
static const uint32_t references[HEARTH_VARIANCE_COLUMNS] = {HEARTH_NONE, HEARTH_NONE, HEARTH_VARIANCE_RUNS,
                                                             HEARTH_NONE, HEARTH_NONE, HEARTH_NONE,
                                                             HEARTH_NONE, HEARTH_NONE, HEARTH_NONE};

hearth_status hearth_writer_encode_variances(writer *w) {
  variance_row *rows;
  writer_section *s = &w->sections[HEARTH_SECTION_VARIANCES];
  if (hearth_builder_is_one_run(w->builder))
    return HEARTH_OK;
  HEARTH_TRY(hearth_array_create(&rows, w->contexts.count, sizeof *rows, w->err));
  s->count = (uint32_t)order_rows(w, rows);
  bool good = s->count == 0 ||
              hearth_packed_encode(fill_rows, rows, s->count, references, HEARTH_VARIANCE_COLUMNS, &s->data, &s->size);
  free(rows);
  return hearth_check_memory(good, w->err);
}

hearth_status hearth_writer_encode_history(writer *w) {
  const hearth_builder *b = w->builder;
  uint32_t next = 0, count = 0;
  for (uint32_t i = 0; i < w->contexts.count; i++)
    count += hearth_builder_levels(b, w->contexts.order[i]) != NULL;
  if (b->history.runs == 0 && count == 0) /* a shard may have rows alone */
    return HEARTH_OK;
  size_t most =
      sizeof(hearth_indexed_history) + (count + (size_t)1) * (HEARTH_RAW_LEVELS_MOST + HEARTH_RAW_VARINT_MOST);
  uint8_t *data;
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_HISTORY, count, most, &data));
  const hearth_indexed_history header = {.runs = b->history.runs, .peak_ppm = b->history.peak_ppm};
  memcpy(data, &header, sizeof header);
  uint8_t *to = hearth_raw_put_levels(data + sizeof header, b->history.levels);
  for (uint32_t i = 0; i < w->contexts.count; i++) {
    const uint64_t *levels = hearth_builder_levels(b, w->contexts.order[i]);
    if (!levels)
      continue;
    to = hearth_raw_put_levels(hearth_raw_put_varint(to, i - next), levels);
    next = i + 1;
  }
  w->sections[HEARTH_SECTION_HISTORY].size = (size_t)(to - data);
  return HEARTH_OK;
}

hearth_status hearth_writer_encode_run_facts(writer *w) {
  hearth_run_facts facts = hearth_builder_run_facts(w->builder);
  hearth_indexed_run_facts stored = {.peak_bytes = facts.peak_bytes,
                                     .command = hearth_writer_string_offset(w, facts.command),
                                     .flags = facts.commands_differ ? HEARTH_COMMANDS_DIFFER : 0,
                                     .first_day = facts.first_day,
                                     .last_day = facts.last_day};
  if (stored.peak_bytes == 0 && stored.command == 0 && stored.flags == 0 && stored.last_day == 0)
    return HEARTH_OK;
  hearth_indexed_run_facts *row;
  HEARTH_TRY(hearth_writer_add_section(w, HEARTH_SECTION_RUN_FACTS, 1, sizeof *row, &row));
  *row = stored;
  return HEARTH_OK;
}

/* Sums of contexts without their scopes. The compiler sees no scopes: contexts that differ in them only are one to it,
 * and count together for cutoffs and plans. The tree of stacks is copied without frames of scopes; contexts that meet
 * at a node are equal. */

static bool *mark_scopes(const hearth_builder *b, bool *ret_any) {
  bool *is_scope = calloc(b->function_count + 1, sizeof *is_scope);
  *ret_any = false;
  for (size_t i = 0; is_scope && i < b->function_count; i++) {
    is_scope[i] = strcmp(b->pool + b->functions[i].path, HEARTH_SCOPE_FILE) == 0;
    *ret_any |= is_scope[i];
  }
  return is_scope;
}

/* Nodes that are left: rows of `nodes`, found by parent and frame; in `context`, the first context there. */
typedef struct unscoped_stacks {
  builder_node *nodes;
  size_t count;
  node_table by_content;
  uint32_t *of; /* of each node of the builder; HEARTH_NONE: only scopes so far */
} unscoped_stacks;

static bool section_row_begin(unscoped_stacks *unscoped, size_t node_count) {
  unscoped->nodes = malloc((node_count + 1) * sizeof *unscoped->nodes);
  unscoped->of = malloc((node_count + 1) * sizeof *unscoped->of);
  return unscoped->nodes && unscoped->of && node_table_reserve(&unscoped->by_content, unscoped->nodes, 0, node_count);
}

/* A caller's node is lower. */
static void strip_node(unscoped_stacks *unscoped, const hearth_builder *b, const bool *is_scope, uint32_t node) {
  const builder_node *n = &b->nodes[node];
  uint32_t parent = n->parent == HEARTH_NONE ? HEARTH_NONE : unscoped->of[n->parent];
  if (is_scope[b->frames[n->frame].function]) {
    unscoped->of[node] = parent;
    return;
  }
  uint32_t *slot = node_table_slot(&unscoped->by_content, unscoped->nodes, parent, n->frame);
  if (*slot == HEARTH_NONE) {
    *slot = (uint32_t)unscoped->count;
    unscoped->nodes[unscoped->count++] = (builder_node){.frame = n->frame, .parent = parent, .context = HEARTH_NONE};
  }
  unscoped->of[node] = *slot;
}

/* Sum the contexts of each node that is left under the first of them. */
static void sum_contexts(writer *w, unscoped_stacks *unscoped) {
  const hearth_builder *b = w->builder;
  for (uint32_t i = 0; i < b->context_count; i++) {
    uint32_t node = unscoped->of[b->context_nodes[i]];
    uint32_t *first = node == HEARTH_NONE ? NULL : &unscoped->nodes[node].context; /* a scope alone is like no other */
    if (first && *first == HEARTH_NONE)
      *first = i;
    w->unscoped_contexts[i] = first ? *first : i;
    hearth_mib_merge(&w->unscoped_sums[w->unscoped_contexts[i]], &b->mibs[i]);
    hearth_variance variance = hearth_builder_variance(b, i);
    hearth_variance_add(&w->unscoped_variances[w->unscoped_contexts[i]], &variance, 1);
  }
}

hearth_status hearth_writer_sum_without_scopes(writer *w) {
  const hearth_builder *b = w->builder;
  unscoped_stacks unscoped = {0};
  bool any;
  bool *is_scope = mark_scopes(b, &any);
  bool good = is_scope != NULL;
  if (good && any && (good = section_row_begin(&unscoped, b->node_count))) {
    for (uint32_t i = 0; i < b->node_count; i++)
      strip_node(&unscoped, b, is_scope, i);
    w->unscoped_contexts = malloc((b->context_count + 1) * sizeof *w->unscoped_contexts);
    w->unscoped_sums = calloc(b->context_count + 1, sizeof *w->unscoped_sums);
    w->unscoped_variances = calloc(b->context_count + 1, sizeof *w->unscoped_variances);
    if ((good = w->unscoped_contexts && w->unscoped_sums && w->unscoped_variances))
      sum_contexts(w, &unscoped);
  }
  HEARTH_FREE(is_scope, unscoped.nodes, unscoped.of, unscoped.by_content.slots);
  return good ? HEARTH_OK : hearth_error_nomem(w->err);
}
