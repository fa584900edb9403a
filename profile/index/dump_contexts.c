/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Each node of the dump's stacks is looked up once, and put under the builder's node of its caller once, whatever the
 * number of stacks that share it. A record is then one step from its leaf to the builder's node. */
#include "index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
#include "file.h"
#include "hearth/ids.h"

/* An address of the dump and its frames, innermost first: rows [first, first + count) of frame_rows. */
typedef struct address {
  uint64_t pc;
  uint32_t first, count;
  bool of_runtime;
  bool named; /* a scope or a heap */
} address;

typedef struct symboliser {
  hearth_dump_visit *visit;
  void *closure;
  hearth_builder *builder;
  hearth_modules *modules;
  const char *name;
  hearth_raw_dump *dump;
  hearth_placed_map *placed; /* sorted by address */
  size_t placed_count;
  address *addresses;
  id_table addresses_by_pc;
  uint32_t *frame_rows; /* of the builder */
  size_t address_count, address_room, frame_count, frame_room;
  hearth_container_types containers;
  /* For each node of the dump: */
  uint32_t *address_of; /* row of addresses */
  uint32_t *node_of;    /* the builder's node of the stack from the root to here; HEARTH_NONE: no frames so far */
} symboliser;

/* -------------------------------------------------- addresses -------------------------------------------------- */

static const hearth_placed_map *map_of(const symboliser *s, uint64_t pc) {
  size_t low = 0, high = s->placed_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const hearth_raw_map *map = s->placed[middle].map;
    if (pc < map->start)
      high = middle;
    else if (pc >= map->end)
      low = middle + 1;
    else
      return &s->placed[middle];
  }
  return NULL;
}

static bool elf_address(const symboliser *s, const hearth_placed_map *placed, uint64_t pc, uint64_t *ret) {
  if (s->dump->kind == HEARTH_RAW_FILE_OFFSET)
    return hearth_binary_address(placed->binary, pc - placed->map->start + placed->map->base, ret);
  *ret = pc - placed->map->base;
  return true;
}

/* A frame with a name and without a place. */
static hearth_status dump_context_add_frame(symboliser *s, address *a, const char *name, const char *file,
                                            hearth_error *err) {
  hearth_builder_frame frame = {.line = HEARTH_LINE_UNKNOWN};
  HEARTH_TRY(hearth_builder_function(s->builder, name, file, 0, &frame.function, err));
  HEARTH_TRY(hearth_rows_reserve(&s->frame_rows, &s->frame_room, s->frame_count, 1, sizeof *s->frame_rows, err));
  HEARTH_TRY(hearth_builder_frame_row(s->builder, &frame, &s->frame_rows[s->frame_count], err));
  a->first = (uint32_t)s->frame_count++;
  a->count = 1;
  return HEARTH_OK;
}

/* The mapping of an address, whether its file is known or not. */
static const hearth_raw_map *raw_map_of(const symboliser *s, uint64_t pc) {
  for (size_t i = 0; i < s->dump->map_count; ++i)
    if (pc >= s->dump->maps[i].start && pc < s->dump->maps[i].end)
      return &s->dump->maps[i];
  return NULL;
}

/* Where the names are that this pc may be one of; NULL: it is an address. */
static const char *file_of_named(const symboliser *s, uint64_t pc) {
  if ((uint32_t)pc >= s->dump->name_count)
    return NULL;
  return HEARTH_RAW_IS_NAMED(pc, HEARTH_RAW_SCOPE_PC)  ? HEARTH_SCOPE_FILE
         : HEARTH_RAW_IS_NAMED(pc, HEARTH_RAW_HEAP_PC) ? HEARTH_HEAP_FILE
                                                       : NULL;
}

/* Add the frames of debug information. */
static hearth_status dump_context_add_frames(symboliser *s, address *a, hearth_error *err) {
  uint64_t elf;
  hearth_frame_span span;
  const hearth_placed_map *placed = map_of(s, a->pc);
  if (!placed || !elf_address(s, placed, a->pc, &elf))
    return HEARTH_OK;
  HEARTH_TRY(hearth_frame_cache_get(placed->cache, elf, &span, err));
  HEARTH_TRY(
      hearth_rows_reserve(&s->frame_rows, &s->frame_room, s->frame_count, span.count, sizeof *s->frame_rows, err));
  for (uint32_t i = 0; i < span.count; ++i)
    s->frame_rows[s->frame_count + i] = hearth_frame_cache_rows(placed->cache, span)[i];
  a->first = (uint32_t)s->frame_count;
  a->count = span.count;
  a->of_runtime = span.of_runtime;
  s->frame_count += span.count;
  return HEARTH_OK;
}

/* Fill in the frames of an address; it stays without if they are not known. */
static hearth_status symbolise(symboliser *s, address *a, hearth_error *err) {
  const char *named = file_of_named(s, a->pc);
  if (named) {
    a->named = true;
    return dump_context_add_frame(s, a, s->dump->names[(uint32_t)a->pc], named, err);
  }
  return dump_context_add_frames(s, a, err);
}

static bool equal_address(const void *owner, uint32_t row, const void *pc) {
  return ((const symboliser *)owner)->addresses[row].pc == *(const uint64_t *)pc;
}

static hearth_status intern_address(symboliser *s, uint64_t pc, uint32_t *ret, hearth_error *err) {
  address found = {.pc = pc};
  *ret = id_table_find(&s->addresses_by_pc, id_table_mix(pc), equal_address, s, &pc);
  if (*ret != HEARTH_NONE)
    return HEARTH_OK;
  HEARTH_TRY(symbolise(s, &found, err));
  HEARTH_TRY(
      id_table_reserve_row(&s->addresses_by_pc, &s->addresses, &s->address_room, s->address_count, sizeof found, err));
  *ret = (uint32_t)s->address_count++;
  s->addresses[*ret] = found;
  id_table_insert(&s->addresses_by_pc, id_table_mix(pc), *ret);
  return HEARTH_OK;
}

/* Have files that could not be read named in the end. */
static void dump_context_tell_missed(const symboliser *s) {
  for (size_t i = 0; i < s->address_count; ++i) {
    const address *a = &s->addresses[i];
    const hearth_raw_map *map = a->count == 0 && !map_of(s, a->pc) ? raw_map_of(s, a->pc) : NULL;
    if (map)
      hearth_modules_miss(s->modules, map);
  }
}

static uint64_t count_without_frames(const symboliser *s) {
  uint64_t count = 0;
  for (size_t i = 0; i < s->address_count; ++i)
    count += s->addresses[i].count == 0 && s->addresses[i].pc != HEARTH_RAW_LEFT_OUT;
  return count;
}

/* -------------------------------------------------- stacks -------------------------------------------------- */

static const address *address_at(const symboliser *s, uint32_t node) { return &s->addresses[s->address_of[node]]; }

/* Is the node the root that marks calls which the runtime's folding left out of stacks? */
static bool is_over_left_out(const symboliser *s, uint32_t node) {
  return s->dump->kind == HEARTH_RAW_FILE_OFFSET && s->dump->nodes[node].pc == HEARTH_RAW_LEFT_OUT &&
         s->dump->nodes[node].parent == HEARTH_RAW_NO_PARENT;
}

static void mark_recursive(symboliser *s, const address *a) {
  for (uint32_t i = 0; i < a->count; ++i)
    hearth_builder_mark_recursive(s->builder, s->frame_rows[a->first + i]);
}

static hearth_status dump_context_add_node(symboliser *s, size_t node, hearth_error *err) {
  uint32_t parent = s->dump->nodes[node].parent;
  uint32_t at = parent == HEARTH_RAW_NO_PARENT ? HEARTH_NONE : s->node_of[parent];
  HEARTH_TRY(intern_address(s, s->dump->nodes[node].pc, &s->address_of[node], err));
  const address *a = address_at(s, (uint32_t)node);
  for (uint32_t i = a->count; i-- > 0;)
    HEARTH_TRY(hearth_builder_intern_node(s->builder, at, s->frame_rows[a->first + i], &at, err));
  s->node_of[node] = at;
  if (parent != HEARTH_RAW_NO_PARENT && is_over_left_out(s, parent))
    mark_recursive(s, a);
  return HEARTH_OK;
}

/* The nodes of a first dump are all new. */
static hearth_status dump_context_add_stacks(symboliser *s, hearth_error *err) {
  if (s->builder->node_count == 0 && !s->builder->fold_recursion)
    HEARTH_TRY(hearth_builder_reserve_nodes(s->builder, s->dump->node_count, err));
  for (size_t i = 0; i < s->dump->node_count; ++i)
    HEARTH_TRY(dump_context_add_node(s, i, err));
  return HEARTH_OK;
}

/* -------------------------------------------------- records -------------------------------------------------- */

/* Account for a context without frames by the file of its innermost address, the runtime's own left out. */
static void lose(const symboliser *s, const hearth_raw_record *record, hearth_lost_contexts *lost) {
  uint32_t node = record->stack;
  if (node == HEARTH_RAW_NO_PARENT && s->dump->dropped_stacks > 0) {
    hearth_lost_stacks_add(&lost->no_room, &(hearth_lost_stacks){record->mib.AllocCount, record->mib.TotalSize});
    return;
  }
  while (node != HEARTH_RAW_NO_PARENT && address_at(s, node)->count > 0)
    node = s->dump->nodes[node].parent;
  hearth_lost_file file = {0};
  if (node != HEARTH_RAW_NO_PARENT) {
    uint64_t pc = s->dump->nodes[node].pc;
    const hearth_placed_map *placed = map_of(s, pc);
    const hearth_raw_map *map = raw_map_of(s, pc);
    file.given = placed != NULL;
    file.path = placed ? hearth_binary_path(placed->binary) : map ? map->path : NULL;
    file.reason = map && !placed ? hearth_modules_lose(s->modules, map, record->mib.TotalSize) : NULL;
  }
  hearth_lost_add(lost, file, record->mib.TotalSize);
}

/* The type that the program named; where it did not, the container whose buffer or node it is, or the one that the
 * binary has noted for the innermost frame of a node. */
static hearth_status dump_context_add_type(symboliser *s, uint32_t node, uint64_t *id, hearth_error *err) {
  if (HEARTH_RAW_IS_NAMED(*id, HEARTH_RAW_NAMED_TYPE) && (uint32_t)*id < s->dump->name_count) {
    const char *name = s->dump->names[(uint32_t)*id];
    return hearth_builder_type(s->builder, name, strlen(name), id, err);
  }
  if (address_at(s, node)->count == 0)
    return HEARTH_OK;
  uint64_t found = 0;
  if (s->dump->kind != HEARTH_RAW_LOAD_BIAS) /* of LLVM's raw profiles, LLVM's tools say no types */
    HEARTH_TRY(hearth_container_type_find(&s->containers, s->builder, s->node_of[node], &found, err));
  const hearth_placed_map *placed = map_of(s, s->dump->nodes[node].pc);
  if (found == 0 && placed) {
    const builder_frame *frame = &s->builder->frames[s->frame_rows[address_at(s, node)->first]];
    hearth_bytes name = hearth_types_find(hearth_binary_types(placed->binary),
                                          s->builder->functions[frame->function].id, frame->line, frame->column);
    if (name.size > 0)
      HEARTH_TRY(hearth_builder_type(s->builder, (const char *)name.data, name.size, &found, err));
  }
  *id = hearth_merge_SAME(*id, found);
  return HEARTH_OK;
}

/* The address that a context begins with says nothing of columns if it is a heap's name. */
static bool has_column(const symboliser *s, uint32_t node) {
  const address *a = address_at(s, node);
  return a->named || s->builder->frames[s->frame_rows[a->first]].column != 0;
}

static bool is_scope(const symboliser *s, uint32_t node) {
  return address_at(s, node)->named && HEARTH_RAW_IS_NAMED(s->dump->nodes[node].pc, HEARTH_RAW_SCOPE_PC);
}

/* A context begins with the first function that is not an entry point of LLVM's runtime; scopes alone are none. */
static uint32_t dump_context_find_leaf(const symboliser *s, const hearth_raw_record *record) {
  uint32_t node = record->stack;
  while (node != HEARTH_RAW_NO_PARENT && (address_at(s, node)->count == 0 || address_at(s, node)->of_runtime))
    node = s->dump->nodes[node].parent;
  return node != HEARTH_RAW_NO_PARENT && is_scope(s, node) ? HEARTH_RAW_NO_PARENT : node;
}

/* Did a library allocate that the code at `leaf` calls? Code of the leaf's own file without a description is the runtime
 * of an instrumented program. */
static bool is_library_below(const symboliser *s, const hearth_raw_record *record, uint32_t leaf) {
  uint32_t inner = HEARTH_RAW_NO_PARENT;
  const hearth_raw_map *own = raw_map_of(s, s->dump->nodes[leaf].pc);
  for (uint32_t node = record->stack; node != leaf; node = s->dump->nodes[node].parent)
    inner = node;
  const hearth_raw_map *map = inner == HEARTH_RAW_NO_PARENT ? NULL : raw_map_of(s, s->dump->nodes[inner].pc);
  if (!map || !map->path || !own || address_at(s, inner)->of_runtime || address_at(s, inner)->named)
    return false;
  bool same = own->path && strcmp(own->path, map->path) == 0;
  return !same && !hearth_modules_is_runtime(map);
}

/* A leaf that symbols alone name is in a library itself, unless it is in the program (the first mapping). */
static bool is_leaf_in_library(const symboliser *s, uint32_t leaf) {
  const address *a = address_at(s, leaf);
  const builder_frame *frame = &s->builder->frames[s->frame_rows[a->first]];
  const hearth_raw_map *map = raw_map_of(s, s->dump->nodes[leaf].pc);
  const char *program = s->dump->map_count ? s->dump->maps[0].path : NULL;
  return !a->named && frame->line == HEARTH_LINE_UNKNOWN && s->builder->functions[frame->function].start_line == 0 &&
         map && map->path && program && strcmp(map->path, program) != 0;
}

/* The builder's node of a record's stack: its leaf says so if a library allocated. */
static hearth_status node_of_record(symboliser *s, const hearth_raw_record *record, uint32_t leaf, uint32_t *ret,
                                    hearth_error *err) {
  uint32_t row;
  *ret = s->node_of[leaf];
  if (is_leaf_in_library(s, leaf) || !is_library_below(s, record, leaf))
    return HEARTH_OK;
  builder_frame frame = s->builder->frames[s->builder->nodes[*ret].frame];
  frame.flags |= HEARTH_FRAME_LIBRARY;
  frame.recursive = false;
  HEARTH_TRY(hearth_builder_intern_frame(s->builder, &frame, &row, err));
  return hearth_builder_intern_node(s->builder, s->builder->nodes[*ret].parent, row, ret, err);
}

/* `lost` takes records without frames; NULL: they are visited, too. */
static hearth_status visit_record(symboliser *s, hearth_raw_record *record, hearth_dump_counts *counts,
                                  hearth_lost_contexts *lost, hearth_error *err) {
  uint32_t node = dump_context_find_leaf(s, record);
  if (node == HEARTH_RAW_NO_PARENT && !lost)
    return s->visit(s->closure, HEARTH_NONE, record, err);
  if (node == HEARTH_RAW_NO_PARENT) {
    lose(s, record, lost);
    return HEARTH_OK;
  }
  counts->contexts++;
  counts->with_column += has_column(s, node);
  HEARTH_TRY(dump_context_add_type(s, node, &record->mib.DataTypeId, err));
  uint32_t stack;
  HEARTH_TRY(node_of_record(s, record, node, &stack, err));
  return s->visit(s->closure, stack, record, err);
}

/* The runtime tells its own memory as this heap's. */
static bool is_of_profiler(const hearth_raw_dump *dump, const hearth_raw_record *record) {
  uint64_t pc = record->stack == HEARTH_RAW_NO_PARENT ? 0 : dump->nodes[record->stack].pc;
  return HEARTH_RAW_IS_NAMED(pc, HEARTH_RAW_HEAP_PC) && strcmp(dump->names[(uint32_t)pc], HEARTH_RAW_PROFILER) == 0;
}

/* A heap dump as a profile: its blocks are live. */
static void live_on(const hearth_raw_dump *dump, hearth_raw_record *record) {
  hearth_mib_set_live(&record->mib);
  if (dump->occasion == HEARTH_RAW_PEAK) {
    record->mib.PeakBlocks = record->mib.AllocCount;
    record->mib.PeakBytes = record->mib.TotalSize;
  }
}

static hearth_status visit_all(symboliser *s, hearth_dump_counts *counts, hearth_lost_contexts *lost,
                               uint64_t *ret_bytes, hearth_error *err) {
  hearth_raw_record record;
  *ret_bytes = 0;
  HEARTH_TRY(dump_context_add_stacks(s, err));
  while (hearth_raw_next_record(s->dump, &record))
    if (record.mib.AllocCount > 0 && !(lost && is_of_profiler(s->dump, &record))) {
      if (lost && s->dump->occasion != HEARTH_RAW_NO_DUMP)
        live_on(s->dump, &record);
      *ret_bytes = hearth_merge_SUM(*ret_bytes, record.mib.TotalSize);
      HEARTH_TRY(visit_record(s, &record, counts, lost, err));
    }
  return HEARTH_OK;
}

static hearth_status dump_context_begin(symboliser *s, hearth_error *err) {
  HEARTH_TRY(hearth_check_memory(id_table_expect(&s->addresses_by_pc, s->dump->node_count / 2), err));
  s->address_of = malloc((s->dump->node_count + 1) * sizeof *s->address_of);
  s->node_of = malloc((s->dump->node_count + 1) * sizeof *s->node_of);
  return s->address_of && s->node_of ? HEARTH_OK : hearth_error_nomem(err);
}

static void dump_context_finish(symboliser *s) {
  HEARTH_FREE(s->placed, s->addresses, s->addresses_by_pc.slots, s->frame_rows, s->containers.of_function,
              s->address_of, s->node_of);
}

static void tell_estimates(const hearth_indexer_options *options, const char *name, const hearth_raw_dump *dump) {
  char text[640];
  if (!options->note || dump->sample_bytes == 0)
    return;
  snprintf(text, sizeof text, "%.300s: sampled, one block for %" PRIu64 " bytes: sums are estimates", name,
           dump->sample_bytes);
  options->note(options->context, HEARTH_NOTE_WARNING, text);
}

static hearth_status add_to_builder(void *closure, uint32_t node, const hearth_raw_record *record, hearth_error *err) {
  hearth_builder *builder = closure;
  HEARTH_TRY(hearth_builder_add_to_node(builder, node, &record->mib, err));
  if (record->levels)
    HEARTH_TRY(hearth_builder_add_levels(builder, node, record->levels, err));
  return hearth_builder_add_histogram(builder, node, &record->histogram, err);
}

/* Of a run whose beginning is elsewhere, it is the history of all of it. */
static hearth_status dump_context_add_history(hearth_builder *builder, const hearth_raw_dump *dump, hearth_error *err) {
  hearth_heap_history history = {.runs = 1};
  if (!dump->has_history)
    return HEARTH_OK;
  history.peak_ppm = dump->duration_ns ? (uint64_t)((double)dump->peak_ns / (double)dump->duration_ns * 1e6) : 0;
  history.peak_ppm = history.peak_ppm < 1000000 ? history.peak_ppm : 1000000;
  memcpy(history.levels, dump->levels, sizeof history.levels);
  return hearth_builder_add_history(builder, &history, err);
}

#define NS_OF_A_DAY (86400 * UINT64_C(1000000000))

static hearth_status dump_context_add_globals(const symboliser *s, hearth_error *err) {
  char name[HEARTH_GLOBAL_NAME_MAX + 1], file[HEARTH_GLOBAL_NAME_MAX + 1];
  for (size_t i = 0; s->dump->accesses_counted && i < s->dump->global_count; i++) {
    const hearth_raw_global *raw = &s->dump->globals[i];
    snprintf(name, sizeof name, "%.*s", (int)raw->name_size, raw->name);
    snprintf(file, sizeof file, "%.*s", (int)raw->file_size, raw->file);
    const hearth_global global = {.name = name,
                                  .file = file,
                                  .line = raw->line,
                                  .flags = raw->flags,
                                  .size = raw->size,
                                  .accesses = raw->accesses,
                                  .touched_lines = raw->touched_lines,
                                  .stores = raw->stores};
    HEARTH_TRY(hearth_builder_add_global(s->builder, &global, err));
  }
  return HEARTH_OK;
}

static hearth_status add_run(symboliser *s, const hearth_lost_contexts *lost, hearth_error *err) {
  hearth_profile_summary run = {.runs = s->dump->continues ? 0 : 1,
                                .duration_ns = s->dump->duration_ns,
                                .dropped_blocks = hearth_merge_SUM(s->dump->dropped_blocks, lost->no_room.blocks),
                                .dropped_frames = count_without_frames(s),
                                .accesses_counted = s->dump->accesses_counted,
                                .accesses_estimated = s->dump->accesses_estimated};
  const uint32_t day = (uint32_t)(s->dump->start_unix_ns / NS_OF_A_DAY);
  const hearth_run_facts facts = {.peak_bytes = s->dump->peak_bytes,
                                  .first_day = day,
                                  .last_day = day,
                                  .command = s->dump->command ? s->dump->command : ""};
  HEARTH_TRY(dump_context_add_globals(s, err));
  HEARTH_TRY(hearth_builder_add_run_facts(s->builder, &facts, err));
  HEARTH_TRY(dump_context_add_history(s->builder, s->dump, err));
  HEARTH_TRY(hearth_builder_end_run(s->builder, &run, err));
  return hearth_builder_add_run(s->builder, &run, err);
}

hearth_status hearth_dump_add(hearth_builder *builder, hearth_modules *modules, const hearth_indexer_options *options,
                              const char *name, hearth_raw_dump *dump, hearth_dump_counts *counts,
                              hearth_lost_contexts *lost, hearth_error *err) {
  symboliser s = {
      .visit = add_to_builder, .closure = builder, .builder = builder, .modules = modules, .name = name, .dump = dump};
  uint64_t total_bytes;
  tell_estimates(options, name, dump);
  *lost = (hearth_lost_contexts){.uninstrumented = !dump->accesses_counted};
  HEARTH_TRY(hearth_modules_place(modules, name, dump, &s.placed, &s.placed_count, err));
  hearth_status status = dump_context_begin(&s, err);
  hearth_builder_begin_run(builder);
  HEARTH_THEN(status, visit_all(&s, counts, lost, &total_bytes, err));
  if (status == HEARTH_OK) {
    dump_context_tell_missed(&s);
    hearth_lost_report(lost, name, total_bytes, options);
    status = add_run(&s, lost, err);
  }
  dump_context_finish(&s);
  return status;
}

/* No usable binary at all is no reason to give up where symbols, or places, do. */
hearth_status hearth_dump_each(hearth_builder *builder, hearth_modules *modules, const hearth_indexer_options *options,
                               const char *name, hearth_raw_dump *dump, hearth_dump_visit *visit, void *closure,
                               hearth_error *err) {
  symboliser s = {
      .visit = visit, .closure = closure, .builder = builder, .modules = modules, .name = name, .dump = dump};
  hearth_dump_counts counts = {0};
  uint64_t total_bytes;
  tell_estimates(options, name, dump);
  HEARTH_TRY(hearth_modules_place(modules, name, dump, &s.placed, &s.placed_count, err));
  hearth_status status = dump_context_begin(&s, err);
  HEARTH_THEN(status, visit_all(&s, &counts, NULL, &total_bytes, err));
  if (status == HEARTH_OK)
    dump_context_tell_missed(&s);
  dump_context_finish(&s);
  return status;
}
