/* Writes the builder's tables in canonical order. Each pass is a sort or a counting sort over one table, so the cost is
 * close to linear in the output; nothing depends on the order of arrival. */
#include <stdlib.h>
#include <string.h>

#include "builder_internal.h"
#include "classify_internal.h"
#include "file.h"
#include "packed.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the format is little-endian and this file stores structs as they are: add byte swaps for this machine"
#endif

static const uint32_t cold_shares_ppm[] = {1000, 5000, 10000, 20000, 50000, 100000};
static const uint32_t hot_shares_ppm[] = {500000, 800000, 900000, 950000, 990000};

static const struct {
  uint32_t tag;
  const char *name;
} fields[HEARTH_MIB_COLUMNS] = {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description) {tag, #Name},
#include "hearth/mib_fields.def"
};

static const char leaf_name[] = "StackID";

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

enum {
  COLD_CUTOFFS = sizeof cold_shares_ppm / sizeof cold_shares_ppm[0],
  HOT_CUTOFFS = sizeof hot_shares_ppm / sizeof hot_shares_ppm[0],
  SECTIONS = HEARTH_SECTION_CHECKSUMS
};

/* A table that is renumbered: `order` lists the builder's rows in their new order; `rank` gives a row's new number, or
 * HEARTH_NONE where no context needs it. */
typedef struct renumbering {
  uint32_t *order, *rank;
  uint32_t count;
} renumbering;

typedef struct packed_bytes {
  uint8_t *data;
  size_t size;
} packed_bytes;

typedef struct writer {
  const hearth_builder *builder;
  hearth_error *err;
  renumbering functions, frames, nodes, contexts;
  const char **strings; /* sorted, each once */
  uint32_t *string_offsets;
  size_t string_count, strings_size;
  hearth_indexed_path *paths;
  size_t path_count;
  const char **file_names; /* the distinct paths of functions, sorted */
  uint32_t *file_rows;     /* their rows in `paths` */
  size_t file_count;
  char *components; /* the file names again, each '/' a NUL: room for the strings of `paths` */
  builder_binary *binaries;
  packed_bytes packed_stacks, packed_contexts;
  uint32_t bucket_bits;
  hearth_indexed_section sections[SECTIONS];
  uint8_t *image;
  size_t size;
} writer;

static hearth_status allocate(writer *w, void **ret, size_t count, size_t item_size) {
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
  free(w->binaries);
  free(w->packed_stacks.data);
  free(w->packed_contexts.data);
  free(w->image);
}

/* -------------------------------------------------- renumbering -------------------------------------------------- */

static hearth_status renumbering_create(writer *w, renumbering *table, size_t rows) {
  HEARTH_TRY(allocate(w, (void **)&table->order, rows, sizeof *table->order));
  HEARTH_TRY(allocate(w, (void **)&table->rank, rows, sizeof *table->rank));
  memset(table->rank, 0xff, rows * sizeof *table->rank);
  return HEARTH_OK;
}

static void renumbering_append(renumbering *table, uint32_t row) {
  table->rank[row] = table->count;
  table->order[table->count++] = row;
}

/* While marking, any rank but HEARTH_NONE means "needed". */
static hearth_status mark_needed(writer *w) {
  const hearth_builder *b = w->builder;
  HEARTH_TRY(renumbering_create(w, &w->functions, b->function_count));
  HEARTH_TRY(renumbering_create(w, &w->frames, b->frame_count));
  HEARTH_TRY(renumbering_create(w, &w->nodes, b->node_count));
  HEARTH_TRY(renumbering_create(w, &w->contexts, b->context_count));
  for (size_t i = 0; i < b->context_count; i++) {
    uint32_t node = b->context_nodes[i];
    while (node != HEARTH_NONE && w->nodes.rank[node] == HEARTH_NONE) {
      uint32_t frame = b->nodes[node].frame;
      w->nodes.rank[node] = 0;
      w->frames.rank[frame] = 0;
      w->functions.rank[b->frames[frame].function] = 0;
      node = b->nodes[node].parent;
    }
  }
  return HEARTH_OK;
}

typedef struct function_key {
  uint64_t id;
  uint32_t row;
} function_key;

static int compare_function_keys(const void *a, const void *b) {
  uint64_t x = ((const function_key *)a)->id, y = ((const function_key *)b)->id;
  return (x > y) - (x < y);
}

static hearth_status order_functions(writer *w) {
  const hearth_builder *b = w->builder;
  function_key *keys;
  size_t n = 0;
  HEARTH_TRY(allocate(w, (void **)&keys, b->function_count, sizeof *keys));
  for (uint32_t i = 0; i < b->function_count; i++)
    if (w->functions.rank[i] != HEARTH_NONE)
      keys[n++] = (function_key){b->functions[i].id, i};
  qsort(keys, n, sizeof *keys, compare_function_keys);
  for (size_t i = 0; i < n; i++)
    renumbering_append(&w->functions, keys[i].row);
  free(keys);
  return HEARTH_OK;
}

typedef struct frame_key {
  uint32_t field[5]; /* function's new number, line, column, discriminator, flags */
  uint32_t row;
} frame_key;

static int compare_frame_keys(const void *a, const void *b) {
  const frame_key *x = a, *y = b;
  for (size_t i = 0; i < 5; i++)
    if (x->field[i] != y->field[i])
      return x->field[i] < y->field[i] ? -1 : 1;
  return 0;
}

static hearth_status order_frames(writer *w) {
  const hearth_builder *b = w->builder;
  frame_key *keys;
  size_t n = 0;
  HEARTH_TRY(allocate(w, (void **)&keys, b->frame_count, sizeof *keys));
  for (uint32_t i = 0; i < b->frame_count; i++) {
    const builder_frame *f = &b->frames[i];
    if (w->frames.rank[i] != HEARTH_NONE)
      keys[n++] =
          (frame_key){{w->functions.rank[f->function], f->line, f->column, f->discriminator, f->flags}, .row = i};
  }
  qsort(keys, n, sizeof *keys, compare_frame_keys);
  for (size_t i = 0; i < n; i++)
    renumbering_append(&w->frames, keys[i].row);
  free(keys);
  return HEARTH_OK;
}

static uint32_t node_frame(const writer *w, uint32_t node) { return w->frames.rank[w->builder->nodes[node].frame]; }

/* Lists the needed nodes by parent: the roots at children[0, starts[1]), the children of row r at
 * children[starts[r + 1], starts[r + 2]). Goes through the nodes in order of arrival, where a node mostly stands beside
 * its parent: what costs time here is memory that is not in the cache. */
static void list_children(const writer *w, uint32_t *children, uint32_t *starts) {
  const builder_node *nodes = w->builder->nodes;
  size_t rows = w->builder->node_count, keys = rows + 1; /* a parent's key is its row + 1; HEARTH_NONE + 1 is 0 */
  for (size_t i = 0; i < rows; i++)
    if (w->nodes.rank[i] != HEARTH_NONE)
      starts[nodes[i].parent + 1]++;
  for (size_t k = 1; k < keys; k++)
    starts[k] += starts[k - 1];
  starts[keys] = starts[keys - 1];
  for (size_t i = rows; i-- > 0;) /* from ends back to beginnings */
    if (w->nodes.rank[i] != HEARTH_NONE)
      children[--starts[nodes[i].parent + 1]] = (uint32_t)i;
}

typedef struct sibling {
  uint32_t frame, node;
} sibling;

static int compare_siblings(const void *a, const void *b) {
  uint32_t x = ((const sibling *)a)->frame, y = ((const sibling *)b)->frame;
  return (x > y) - (x < y);
}

/* Siblings have different frames, so that no tie is left to chance. `room` holds the greatest family. */
static void sort_siblings(const writer *w, uint32_t *children, const uint32_t *starts, sibling *room) {
  for (size_t key = 0; key <= w->builder->node_count; key++) {
    uint32_t first = starts[key], n = starts[key + 1] - first;
    if (n < 2)
      continue;
    for (uint32_t i = 0; i < n; i++)
      room[i] = (sibling){node_frame(w, children[first + i]), children[first + i]};
    qsort(room, n, sizeof *room, compare_siblings);
    for (uint32_t i = 0; i < n; i++)
      children[first + i] = room[i].node;
  }
}

/* Depth first: `pending` is a stack of nodes, the next one on top. A node's children, sorted by frame, are pushed in
 * reverse. */
static void number_depth_first(writer *w, const uint32_t *children, const uint32_t *starts, uint32_t *pending) {
  size_t n = 0;
  for (uint32_t i = starts[1]; i-- > 0;)
    pending[n++] = children[i];
  while (n > 0) {
    uint32_t node = pending[--n];
    renumbering_append(&w->nodes, node);
    for (uint32_t i = starts[node + 2]; i-- > starts[node + 1];)
      pending[n++] = children[i];
  }
}

static size_t greatest_family(const writer *w, const uint32_t *starts) {
  uint32_t greatest = 0;
  for (size_t key = 0; key <= w->builder->node_count; key++)
    greatest = starts[key + 1] - starts[key] > greatest ? starts[key + 1] - starts[key] : greatest;
  return greatest;
}

static hearth_status order_nodes(writer *w) {
  size_t rows = w->builder->node_count;
  uint32_t *children = NULL, *pending = NULL, *starts = NULL;
  sibling *room = NULL;
  hearth_status status = allocate(w, (void **)&children, rows, sizeof *children);
  if (status == HEARTH_OK)
    status = allocate(w, (void **)&starts, rows + 1, sizeof *starts);
  if (status == HEARTH_OK) {
    list_children(w, children, starts);
    status = allocate(w, (void **)&room, greatest_family(w, starts), sizeof *room);
  }
  if (status == HEARTH_OK)
    status = allocate(w, (void **)&pending, rows, sizeof *pending);
  if (status == HEARTH_OK) {
    sort_siblings(w, children, starts, room);
    number_depth_first(w, children, starts, pending);
  }
  free(children);
  free(pending);
  free(starts);
  free(room);
  return status;
}

static uint32_t context_frame(const writer *w, uint32_t context) {
  return node_frame(w, w->builder->context_nodes[context]);
}

/* By (leaf frame, node): a stable counting sort by frame of the contexts in the order of their nodes. */
static hearth_status order_contexts(writer *w) {
  const hearth_builder *b = w->builder;
  uint32_t *starts; /* of each frame's contexts */
  HEARTH_TRY(allocate(w, (void **)&starts, w->frames.count, sizeof *starts));
  for (uint32_t i = 0; i < b->context_count; i++)
    starts[context_frame(w, i) + 1]++;
  for (uint32_t frame = 0; frame < w->frames.count; frame++)
    starts[frame + 1] += starts[frame];
  for (uint32_t i = 0; i < w->nodes.count; i++) {
    uint32_t context = b->nodes[w->nodes.order[i]].context;
    if (context != HEARTH_NONE)
      w->contexts.order[starts[context_frame(w, context)]++] = context;
  }
  w->contexts.count = (uint32_t)b->context_count;
  free(starts);
  return HEARTH_OK;
}

/* -------------------------------------------------- strings and paths
 * -------------------------------------------------- */

static int compare_strings(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts, removes duplicates, returns how many remain. */
static size_t sort_unique(const char **strings, size_t n) {
  size_t kept = 0;
  qsort(strings, n, sizeof *strings, compare_strings);
  for (size_t i = 0; i < n; i++)
    if (kept == 0 || strcmp(strings[kept - 1], strings[i]) != 0)
      strings[kept++] = strings[i];
  return kept;
}

static size_t find_sorted(const char *const *strings, size_t n, const char *wanted) {
  return (size_t)((const char *const *)bsearch(&wanted, strings, n, sizeof *strings, compare_strings) - strings);
}

static uint32_t string_offset(const writer *w, const char *string) {
  return w->string_offsets[find_sorted(w->strings, w->string_count, string)];
}

static const char *function_string(const writer *w, uint32_t new_row, bool path) {
  const builder_function *f = &w->builder->functions[w->functions.order[new_row]];
  return w->builder->pool + (path ? f->path : f->name);
}

static hearth_status collect_file_names(writer *w) {
  size_t n = 0, length = 0;
  HEARTH_TRY(allocate(w, (void **)&w->file_names, w->functions.count, sizeof *w->file_names));
  for (uint32_t i = 0; i < w->functions.count; i++)
    if (*function_string(w, i, true))
      w->file_names[n++] = function_string(w, i, true);
  w->file_count = sort_unique(w->file_names, n);
  HEARTH_TRY(allocate(w, (void **)&w->file_rows, w->file_count, sizeof *w->file_rows));
  for (size_t i = 0; i < w->file_count; i++)
    length += strlen(w->file_names[i]) + 1;
  HEARTH_TRY(allocate(w, (void **)&w->components, length, 1));
  char *to = w->components;
  for (size_t i = 0; i < w->file_count; i++) {
    size_t size = strlen(w->file_names[i]) + 1;
    memcpy(to, w->file_names[i], size);
    for (size_t k = 0; k < size; k++)
      to[k] = to[k] == '/' ? '\0' : to[k];
    to += size;
  }
  return HEARTH_OK;
}

/* Number of components of a path: "a/b" 2, "/a" 2 (the first is empty), "/" 1 (the root alone). */
static size_t component_count(const char *path) {
  size_t n = 1;
  if (strcmp(path, "/") == 0)
    return 1;
  for (; *path; path++)
    n += *path == '/';
  return n;
}

static hearth_status collect_strings(writer *w) {
  const hearth_builder *b = w->builder;
  size_t components = 0, n = 0, offset = 0;
  for (size_t i = 0; i < w->file_count; i++)
    components += component_count(w->file_names[i]);
  size_t room = 1 + CONTEXT_COLUMNS + w->functions.count + components + b->binary_count;
  HEARTH_TRY(allocate(w, (void **)&w->strings, room, sizeof *w->strings));
  HEARTH_TRY(allocate(w, (void **)&w->string_offsets, room, sizeof *w->string_offsets));

  w->strings[n++] = "";
  w->strings[n++] = leaf_name;
  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; i++)
    w->strings[n++] = fields[i].name;
  for (uint32_t i = 0; i < w->functions.count; i++)
    w->strings[n++] = function_string(w, i, false);
  for (size_t i = 0; i < b->binary_count; i++)
    w->strings[n++] = b->pool + b->binaries[i].name;
  const char *component = w->components;
  for (size_t i = 0; i < w->file_count; i++) {
    const char *end = component + strlen(w->file_names[i]);
    for (size_t k = component_count(w->file_names[i]); k-- > 0; component += strlen(component) + 1)
      w->strings[n++] = component;
    component = end + 1;
  }

  w->string_count = sort_unique(w->strings, n);
  for (size_t i = 0; i < w->string_count; i++) {
    if (offset > HEARTH_NONE - 1)
      return hearth_error_set(w->err, HEARTH_E_FULL, "the profile's strings exceed 4 GiB");
    w->string_offsets[i] = (uint32_t)offset;
    offset += strlen(w->strings[i]) + 1;
  }
  w->strings_size = offset;
  return HEARTH_OK;
}

typedef struct path_key {
  uint32_t parent, name; /* as in hearth_indexed_path */
  size_t file;
  const char *rest; /* of the components, behind `name` */
  size_t rest_count;
} path_key;

static int compare_path_keys(const void *a, const void *b) {
  const path_key *x = a, *y = b;
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  return (x->name > y->name) - (x->name < y->name);
}

/* Adds the rows of one level of the tree: the first components of all file names, then the second ones, ... As rows
 * are numbered level by level, they end up sorted by (parent, name) with every parent before its children. Returns how
 * many keys still have components. */
static size_t add_path_level(writer *w, path_key *keys, size_t n) {
  size_t remaining = 0;
  qsort(keys, n, sizeof *keys, compare_path_keys);
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || compare_path_keys(&keys[i], &keys[i - 1]) != 0)
      w->paths[w->path_count++] = (hearth_indexed_path){keys[i].name, keys[i].parent};
    w->file_rows[keys[i].file] = (uint32_t)(w->path_count - 1);
  }
  for (size_t i = 0; i < n; i++) {
    path_key next = keys[i];
    if (next.rest_count == 0)
      continue;
    next.parent = w->file_rows[next.file];
    next.name = string_offset(w, next.rest);
    next.rest += strlen(next.rest) + 1;
    next.rest_count--;
    keys[remaining++] = next;
  }
  return remaining;
}

static hearth_status build_paths(writer *w) {
  size_t components = 0;
  path_key *keys;
  for (size_t i = 0; i < w->file_count; i++)
    components += component_count(w->file_names[i]);
  HEARTH_TRY(allocate(w, (void **)&w->paths, components, sizeof *w->paths));
  HEARTH_TRY(allocate(w, (void **)&keys, w->file_count, sizeof *keys));
  const char *first = w->components;
  for (size_t i = 0; i < w->file_count; i++) {
    keys[i] = (path_key){.parent = HEARTH_NONE,
                         .name = string_offset(w, first),
                         .file = i,
                         .rest = first + strlen(first) + 1,
                         .rest_count = component_count(w->file_names[i]) - 1};
    first += strlen(w->file_names[i]) + 1;
  }
  for (size_t n = w->file_count; n > 0;)
    n = add_path_level(w, keys, n);
  free(keys);
  return HEARTH_OK;
}

/* -------------------------------------------------- binaries -------------------------------------------------- */

static int compare_binaries(const void *a, const void *b, const char *pool) {
  const builder_binary *x = a, *y = b;
  int names = strcmp(pool + x->name, pool + y->name);
  if (names != 0)
    return names;
  int ids = memcmp(x->build_id, y->build_id, sizeof x->build_id);
  return ids != 0 ? ids : (x->build_id_size > y->build_id_size) - (x->build_id_size < y->build_id_size);
}

/* By (name, build id); insertion sort, as a run has a few dozen binaries at most. */
static hearth_status order_binaries(writer *w) {
  const hearth_builder *b = w->builder;
  HEARTH_TRY(allocate(w, (void **)&w->binaries, b->binary_count, sizeof *w->binaries));
  for (size_t i = 0; i < b->binary_count; i++) {
    size_t at = i;
    for (; at > 0 && compare_binaries(&w->binaries[at - 1], &b->binaries[i], b->pool) > 0; at--)
      w->binaries[at] = w->binaries[at - 1];
    w->binaries[at] = b->binaries[i];
  }
  return HEARTH_OK;
}

/* -------------------------------------------------- packed tables --------------------------------------------- */

static void stack_row(const void *context, size_t row, uint64_t *ret) {
  const writer *w = context;
  const builder_node *n = &w->builder->nodes[w->nodes.order[row]];
  uint32_t parent = n->parent == HEARTH_NONE ? HEARTH_NONE : w->nodes.rank[n->parent];
  ret[HEARTH_STACK_FRAME] = w->frames.rank[n->frame];
  ret[HEARTH_STACK_UP] = (uint32_t)row - 1 - parent; /* HEARTH_NONE is -1 */
}

static void context_row(const void *context, size_t row, uint64_t *ret) {
  const writer *w = context;
  hearth_mib mib;
  uint32_t number = w->contexts.order[row];
  mib_rows_get(&w->builder->mibs, number, &mib);
  ret[0] = w->nodes.rank[w->builder->context_nodes[number]];
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
  static const uint32_t of_stacks[HEARTH_STACK_COLUMNS] = {HEARTH_NONE, HEARTH_NONE};
  uint32_t of_contexts[CONTEXT_COLUMNS] = {HEARTH_NONE};
  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; i++)
    of_contexts[1 + i] = column_of(context_columns[i].reference);
  HEARTH_TRY(pack(w, stack_row, w->nodes.count, of_stacks, HEARTH_STACK_COLUMNS, &w->packed_stacks));
  return pack(w, context_row, w->contexts.count, of_contexts, CONTEXT_COLUMNS, &w->packed_contexts);
}

/* -------------------------------------------------- sections -------------------------------------------------- */

static size_t align8(size_t size) { return (size + 7) & ~(size_t)7; }

static bool accesses_counted(const writer *w) { return w->builder->has_runs && w->builder->runs.accesses_counted; }

static void lay_out(writer *w) {
  size_t offset = sizeof(hearth_indexed_header) + sizeof w->sections;
  size_t cutoffs = accesses_counted(w) ? COLD_CUTOFFS + HOT_CUTOFFS : 0;
  while (w->bucket_bits < 31 && (UINT32_C(1) << w->bucket_bits) < w->functions.count)
    w->bucket_bits++;
  size_t buckets = ((size_t)1 << w->bucket_bits) + 1;
  struct {
    size_t count, size;
  } plan[SECTIONS + 1] = {
      [HEARTH_SECTION_SCHEMA] = {CONTEXT_COLUMNS, CONTEXT_COLUMNS * sizeof(hearth_indexed_field)},
      [HEARTH_SECTION_STRINGS] = {w->string_count, w->strings_size},
      [HEARTH_SECTION_PATHS] = {w->path_count, w->path_count * sizeof(hearth_indexed_path)},
      [HEARTH_SECTION_FUNCTIONS] = {w->functions.count, w->functions.count * sizeof(hearth_indexed_function)},
      [HEARTH_SECTION_BUCKETS] = {buckets, buckets * sizeof(uint32_t)},
      [HEARTH_SECTION_FRAMES] = {w->frames.count, w->frames.count * sizeof(hearth_indexed_frame)},
      [HEARTH_SECTION_STACKS] = {w->nodes.count, w->packed_stacks.size},
      [HEARTH_SECTION_CONTEXTS] = {w->contexts.count, w->packed_contexts.size},
      [HEARTH_SECTION_SUMMARY] = {1, sizeof(hearth_indexed_summary) + cutoffs * sizeof(hearth_indexed_cutoff)},
      [HEARTH_SECTION_BINARIES] = {w->builder->binary_count, w->builder->binary_count * sizeof(hearth_indexed_binary)},
  };
  for (uint32_t id = 1; id <= SECTIONS; id++) {
    if (id == HEARTH_SECTION_CHECKSUMS) {
      plan[id].count = (offset + HEARTH_BLOCK_SIZE - 1) / HEARTH_BLOCK_SIZE;
      plan[id].size = plan[id].count * sizeof(uint64_t);
    }
    w->sections[id - 1] = (hearth_indexed_section){id, (uint32_t)plan[id].count, offset, plan[id].size};
    offset = align8(offset + plan[id].size);
  }
  w->size = offset;
}

static void *section_data(const writer *w, uint32_t id) { return w->image + w->sections[id - 1].offset; }

static void fill_schema(writer *w) {
  hearth_indexed_field *schema = section_data(w, HEARTH_SECTION_SCHEMA);
  schema[0] = (hearth_indexed_field){HEARTH_TAG_StackID, string_offset(w, leaf_name)};
  for (size_t i = 0; i < HEARTH_MIB_COLUMNS; i++) {
    enum hearth_mib_column field = context_columns[i].field;
    schema[1 + i] = (hearth_indexed_field){fields[field].tag, string_offset(w, fields[field].name)};
  }
}

static void fill_strings(writer *w) {
  char *to = section_data(w, HEARTH_SECTION_STRINGS);
  for (size_t i = 0; i < w->string_count; i++)
    memcpy(to + w->string_offsets[i], w->strings[i], strlen(w->strings[i]) + 1);
}

static uint32_t path_row(const writer *w, uint32_t function) {
  const char *path = function_string(w, function, true);
  return *path ? w->file_rows[find_sorted(w->file_names, w->file_count, path)] : HEARTH_NONE;
}

static void fill_functions(writer *w) {
  const hearth_builder *b = w->builder;
  hearth_indexed_function *rows = section_data(w, HEARTH_SECTION_FUNCTIONS);
  uint32_t *buckets = section_data(w, HEARTH_SECTION_BUCKETS);
  uint32_t bucket_count = UINT32_C(1) << w->bucket_bits, frame = 0, bucket = 0;
  for (uint32_t i = 0; i < w->functions.count; i++) {
    const builder_function *f = &b->functions[w->functions.order[i]];
    rows[i] = (hearth_indexed_function){.id = f->id,
                                        .name = string_offset(w, b->pool + f->name),
                                        .path = path_row(w, i),
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

static void fill_frames(writer *w) {
  const hearth_builder *b = w->builder;
  hearth_indexed_frame *frames = section_data(w, HEARTH_SECTION_FRAMES);
  uint32_t context = 0;
  for (uint32_t i = 0; i < w->frames.count; i++) {
    const builder_frame *f = &b->frames[w->frames.order[i]];
    frames[i] =
        (hearth_indexed_frame){w->functions.rank[f->function], f->line, f->column, f->discriminator, f->flags, context};
    while (context < w->contexts.count && context_frame(w, w->contexts.order[context]) == i)
      context++;
  }
}

static hearth_status fill_cutoffs(writer *w, hearth_indexed_summary *summary, hearth_indexed_cutoff *cutoffs) {
  hearth_density_point *points;
  size_t n = w->contexts.count;
  double lasting = hearth_lasting_lifetime_ns(summary->duration_ns, summary->runs);
  HEARTH_TRY(allocate(w, (void **)&points, n, sizeof *points));
  for (size_t i = 0; i < n; i++) {
    hearth_mib mib;
    mib_rows_get(&w->builder->mibs, w->contexts.order[i], &mib);
    points[i] = hearth_density_point_of(&mib, lasting);
  }
  if (!hearth_density_points_sort(points, n)) {
    free(points);
    return hearth_error_set(w->err, HEARTH_E_NOMEM, "out of memory writing the profile");
  }
  for (size_t i = 0; i < COLD_CUTOFFS; i++)
    *cutoffs++ =
        (hearth_indexed_cutoff){.share_ppm = cold_shares_ppm[i],
                                .density = hearth_cold_cutoff(points, n, summary->total_accesses, cold_shares_ppm[i])};
  for (size_t i = 0; i < HOT_CUTOFFS; i++)
    *cutoffs++ =
        (hearth_indexed_cutoff){.share_ppm = hot_shares_ppm[i],
                                .density = hearth_hot_cutoff(points, n, summary->total_accesses, hot_shares_ppm[i])};
  summary->cold_cutoffs = COLD_CUTOFFS;
  summary->hot_cutoffs = HOT_CUTOFFS;
  free(points);
  return HEARTH_OK;
}

static hearth_status fill_summary(writer *w) {
  const hearth_profile_summary *runs = &w->builder->runs;
  hearth_indexed_summary *summary = section_data(w, HEARTH_SECTION_SUMMARY);
  *summary = (hearth_indexed_summary){.runs = runs->runs,
                                      .duration_ns = runs->duration_ns,
                                      .dropped_blocks = runs->dropped_blocks,
                                      .dropped_frames = runs->dropped_frames};
  for (size_t i = 0; i < w->contexts.count; i++) {
    hearth_mib mib;
    mib_rows_get(&w->builder->mibs, w->contexts.order[i], &mib);
    summary->total_allocs = hearth_merge_SUM(summary->total_allocs, mib.AllocCount);
    summary->total_bytes = hearth_merge_SUM(summary->total_bytes, mib.TotalSize);
    summary->total_accesses = hearth_merge_SUM(summary->total_accesses, mib.TotalAccessCount);
  }
  return accesses_counted(w) ? fill_cutoffs(w, summary, (hearth_indexed_cutoff *)(summary + 1)) : HEARTH_OK;
}

static void fill_binaries(writer *w) {
  hearth_indexed_binary *rows = section_data(w, HEARTH_SECTION_BINARIES);
  for (size_t i = 0; i < w->builder->binary_count; i++) {
    rows[i].name = string_offset(w, w->builder->pool + w->binaries[i].name);
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
                                  .required_flags = accesses_counted(w) ? HEARTH_FLAG_ACCESSES : 0,
                                  .id_scheme = w->builder->scheme,
                                  .section_count = SECTIONS};
  size_t covered = sizeof header + sizeof w->sections;
  memcpy(w->image, &header, sizeof header);
  memcpy(w->image + sizeof header, w->sections, sizeof w->sections);
  header.checksum = XXH3_64bits(w->image, covered);
  memcpy(w->image, &header, sizeof header);

  uint64_t *checksums = section_data(w, HEARTH_SECTION_CHECKSUMS);
  size_t end = w->sections[HEARTH_SECTION_CHECKSUMS - 1].offset;
  for (size_t at = 0; at < end; at += HEARTH_BLOCK_SIZE)
    *checksums++ = XXH3_64bits(w->image + at, end - at < HEARTH_BLOCK_SIZE ? end - at : HEARTH_BLOCK_SIZE);
}

static hearth_status write_image(writer *w) {
  HEARTH_TRY(mark_needed(w));
  HEARTH_TRY(order_functions(w));
  HEARTH_TRY(order_frames(w));
  HEARTH_TRY(order_nodes(w));
  HEARTH_TRY(order_contexts(w));
  HEARTH_TRY(collect_file_names(w));
  HEARTH_TRY(collect_strings(w));
  HEARTH_TRY(build_paths(w));
  HEARTH_TRY(order_binaries(w));
  HEARTH_TRY(pack_tables(w));
  lay_out(w);
  HEARTH_TRY(allocate(w, (void **)&w->image, w->size, 1));
  memcpy(section_data(w, HEARTH_SECTION_PATHS), w->paths, w->path_count * sizeof *w->paths);
  memcpy(section_data(w, HEARTH_SECTION_STACKS), w->packed_stacks.data, w->packed_stacks.size);
  memcpy(section_data(w, HEARTH_SECTION_CONTEXTS), w->packed_contexts.data, w->packed_contexts.size);
  fill_schema(w);
  fill_strings(w);
  fill_functions(w);
  fill_frames(w);
  fill_binaries(w);
  HEARTH_TRY(fill_summary(w));
  fill_header_and_checksums(w);
  return HEARTH_OK;
}

hearth_status hearth_builder_write_memory(hearth_builder *builder, void **ret_data, size_t *ret_size,
                                          hearth_error *err) {
  writer w = {.builder = builder, .err = err};
  hearth_status status = write_image(&w);
  if (status == HEARTH_OK) {
    *ret_data = w.image;
    *ret_size = w.size;
    w.image = NULL;
  }
  writer_free(&w);
  return status;
}

hearth_status hearth_builder_write(hearth_builder *builder, const char *path, hearth_error *err) {
  void *data;
  size_t size;
  HEARTH_TRY(hearth_builder_write_memory(builder, &data, &size, err));
  hearth_status status = hearth_file_write(path, data, size, err);
  free(data);
  return status;
}
