/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Heap dumps, read and printed. All dumps share one builder, whose trie of stacks becomes the nodes. */
#include "hearth/heap_dumps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "builder_tables.h"
#include "file.h"
#include "hearth/ids.h"
#include "hearth/status.h"
#include "hearth/trace.h"
#include "index.h"
#include "names.h"
#include "print.h"

struct hearth_heap_reader {
  hearth_indexer_options options;
  hearth_builder *builder;
  hearth_modules *modules;
  hearth_heap_dumps result;
  uint32_t *heap_of; /* by row of the builder's functions: row of names + 1; 0: not looked up */
  size_t name_room, dump_room;
  hearth_heap_dump *dump; /* being read */
  size_t entry_room;
};

/* -------------------------------------------------- life -------------------------------------------------- */

static hearth_status heap_dump_add_name(hearth_heap_reader *r, const char *name, uint32_t *ret, hearth_error *err) {
  hearth_heap_dumps *all = &r->result;
  for (uint32_t i = 0; i < all->name_count; i++)
    if (strcmp(all->names[i], name) == 0) {
      *ret = i;
      return HEARTH_OK;
    }
  HEARTH_TRY(hearth_rows_reserve(&all->names, &r->name_room, all->name_count, 1, sizeof *all->names, err));
  char *copy = strdup(name);
  HEARTH_TRY(hearth_check_memory(copy, err));
  *ret = (uint32_t)all->name_count;
  all->names[all->name_count++] = copy;
  return HEARTH_OK;
}

static hearth_heap_reader *create(const hearth_indexer_options *options) {
  hearth_heap_reader *r = calloc(1, sizeof *r);
  uint32_t row;
  if (!r)
    return NULL;
  r->options = *options;
  r->builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  r->modules = hearth_modules_create(r->builder, &r->options);
  if (r->builder && r->modules && heap_dump_add_name(r, "[unknown]", &row, NULL) == HEARTH_OK &&
      heap_dump_add_name(r, "malloc", &row, NULL) == HEARTH_OK) {
    hearth_modules_use_symbols(r->modules, true);
    hearth_builder_fold_recursion(r->builder, !r->options.full_recursion);
    return r;
  }
  hearth_heap_reader_destroy(r);
  return NULL;
}

hearth_status hearth_heap_reader_create(const hearth_indexer_options *options, hearth_heap_reader **ret,
                                        hearth_error *err) {
  hearth_indexer_options known;
  *ret = NULL;
  HEARTH_TRY(hearth_options_take(&known, sizeof known, options, err));
  *ret = create(&known);
  return *ret ? HEARTH_OK : hearth_error_nomem(err);
}

void hearth_heap_reader_destroy(hearth_heap_reader *r) {
  if (!r)
    return;
  for (size_t i = 0; i < r->result.dump_count; i++) {
    free((void *)(uintptr_t)r->result.dumps[i].name);
    free(r->result.dumps[i].entries);
  }
  for (size_t i = 0; i < r->result.name_count; i++)
    free((void *)(uintptr_t)r->result.names[i]);
  HEARTH_FREE(r->result.dumps, r->result.names, r->result.nodes, r->heap_of);
  hearth_modules_destroy(r->modules);
  hearth_builder_destroy(r->builder);
  free(r);
}

hearth_status hearth_heap_reader_add_binary(hearth_heap_reader *r, const char *path, hearth_error *err) {
  return hearth_modules_give(r->modules, path, err);
}

/* -------------------------------------------------- reading -------------------------------------------------- */

static const char *pool_text(const hearth_heap_reader *r, uint32_t offset) { return r->builder->pool + offset; }

/* The heap that a stack's leaf names; malloc if it names none. */
static hearth_status heap_of(hearth_heap_reader *r, uint32_t node, uint32_t *ret, hearth_error *err) {
  *ret = HEARTH_HEAP_MALLOC;
  if (node == HEARTH_NONE)
    return HEARTH_OK;
  uint32_t row = r->builder->frames[r->builder->nodes[node].frame].function;
  const builder_function *function = &r->builder->functions[row];
  if (strcmp(pool_text(r, function->path), HEARTH_HEAP_FILE) != 0)
    return HEARTH_OK;
  return heap_dump_add_name(r, pool_text(r, function->name), ret, err);
}

static hearth_status heap_dump_type_of(hearth_heap_reader *r, uint64_t id, uint32_t *ret, hearth_error *err) {
  const hearth_builder *b = r->builder;
  *ret = HEARTH_HEAP_UNKNOWN_TYPE;
  for (size_t i = 0; id != 0 && i < b->type_count; i++)
    if (b->types[i].id == id)
      return heap_dump_add_name(r, pool_text(r, b->types[i].name), ret, err);
  return HEARTH_OK;
}

static hearth_status visit(void *closure, uint32_t node, const hearth_raw_record *record, hearth_error *err) {
  hearth_heap_reader *r = closure;
  hearth_heap_dump *dump = r->dump;
  hearth_heap_entry entry = {.node = node, .blocks = record->mib.AllocCount, .bytes = record->mib.TotalSize};
  HEARTH_TRY(heap_of(r, node, &entry.heap, err));
  if (strcmp(r->result.names[entry.heap], HEARTH_RAW_PROFILER) == 0) {
    dump->profiler_bytes += entry.bytes;
    return HEARTH_OK;
  }
  if (entry.heap != HEARTH_HEAP_MALLOC)
    entry.node = r->builder->nodes[node].parent;
  HEARTH_TRY(heap_dump_type_of(r, record->mib.DataTypeId, &entry.type, err));
  memcpy(entry.residency, record->residency, sizeof entry.residency);
  HEARTH_TRY(hearth_rows_reserve(&dump->entries, &r->entry_room, dump->entry_count, 1, sizeof *dump->entries, err));
  dump->entries[dump->entry_count++] = entry;
  return HEARTH_OK;
}

/* Callees have higher nodes; entries without node come first of all. */
static int compare_heap_entries(const void *a, const void *b) {
  const hearth_heap_entry *x = a, *y = b;
  uint32_t nodes[] = {x->node + 1, y->node + 1}; /* HEARTH_NONE is 0 */
  if (nodes[0] != nodes[1])
    return nodes[0] < nodes[1] ? -1 : 1;
  if (x->heap != y->heap)
    return x->heap < y->heap ? -1 : 1;
  return (x->type > y->type) - (x->type < y->type);
}

/* Stacks that differ in recursion alone have one node. */
static void sum_alike(hearth_heap_dump *dump) {
  size_t count = 0;
  if (dump->entry_count > 0)
    qsort(dump->entries, dump->entry_count, sizeof *dump->entries, compare_heap_entries);
  for (size_t i = 0; i < dump->entry_count; i++)
    if (count > 0 && compare_heap_entries(&dump->entries[count - 1], &dump->entries[i]) == 0)
      hearth_heap_add(&dump->entries[count - 1], &dump->entries[i]);
    else
      dump->entries[count++] = dump->entries[i];
  dump->entry_count = count;
}

static hearth_status add_dump(hearth_heap_reader *r, const char *name, hearth_raw_dump *raw, hearth_error *err) {
  hearth_heap_dumps *all = &r->result;
  if (raw->occasion == HEARTH_RAW_NO_DUMP)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a heap dump: it is a raw profile: use 'hearth index'", name);
  HEARTH_TRY(hearth_rows_reserve(&all->dumps, &r->dump_room, all->dump_count, 1, sizeof *all->dumps, err));
  r->dump = &all->dumps[all->dump_count];
  *r->dump = (hearth_heap_dump){.name = strdup(name),
                                .occasion = raw->occasion,
                                .time_ns = raw->duration_ns,
                                .start_unix_ns = raw->start_unix_ns,
                                .pid = raw->pid,
                                .sample_bytes = raw->sample_bytes,
                                .dropped_blocks = raw->dropped_blocks,
                                .has_residency = raw->has_residency};
  r->entry_room = 0;
  HEARTH_TRY(hearth_check_memory(r->dump->name, err));
  all->dump_count++;
  hearth_status status = hearth_dump_each(r->builder, r->modules, &r->options, name, raw, visit, r, err);
  sum_alike(r->dump);
  return status;
}

static hearth_status refuse_foreign(const char *path, const hearth_file *file, hearth_error *err) {
  const char *kind = hearth_file_kind(file->data, file->size);
  return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a heap dump, as 'hearth record --mode=live' writes them%s%s",
                          path, kind ? ": it is " : "", kind ? kind : "");
}

static hearth_status add_file(hearth_heap_reader *r, const char *path, const hearth_file *file, hearth_error *err) {
  size_t offset = 0;
  if (!hearth_raw_is_raw(file->data, file->size) || hearth_trace_is_trace(file->data, file->size))
    return refuse_foreign(path, file, err);
  while (offset < file->size) {
    hearth_raw_dump raw;
    HEARTH_TRY(hearth_raw_read(path, file, &offset, &raw, err));
    hearth_status status = add_dump(r, path, &raw, err);
    hearth_raw_free(&raw);
    if (status != HEARTH_OK)
      return status;
  }
  return HEARTH_OK;
}

hearth_status hearth_heap_reader_add_memory(hearth_heap_reader *r, const void *data, size_t size, const char *name,
                                            hearth_error *err) {
  const hearth_file file = {.data = data, .size = size};
  return add_file(r, name, &file, err);
}

hearth_status hearth_heap_reader_add(hearth_heap_reader *r, const char *path, hearth_error *err) {
  hearth_file file;
  HEARTH_TRY(hearth_file_read(path, &file, err));
  hearth_status status = add_file(r, path, &file, err);
  hearth_file_close(&file);
  return status;
}

/* -------------------------------------------------- result -------------------------------------------------- */

static hearth_heap_node heap_dump_node_of(const hearth_heap_reader *r, uint32_t row) {
  const hearth_builder *b = r->builder;
  const builder_frame *frame = &b->frames[b->nodes[row].frame];
  const builder_function *function = &b->functions[frame->function];
  bool known = frame->line != HEARTH_LINE_UNKNOWN && function->start_line != 0;
  return (hearth_heap_node){.parent = b->nodes[row].parent,
                            .function = pool_text(r, function->name),
                            .path = pool_text(r, function->path),
                            .start_line = function->start_line,
                            .line = known ? function->start_line + frame->line : 0,
                            .column = known ? frame->column : 0,
                            .inlined = frame->flags & HEARTH_FRAME_INLINED};
}

static int compare_dumps(const void *a, const void *b) {
  const hearth_heap_dump *x = a, *y = b;
  if (x->start_unix_ns != y->start_unix_ns)
    return x->start_unix_ns < y->start_unix_ns ? -1 : 1;
  if (x->pid != y->pid)
    return x->pid < y->pid ? -1 : 1;
  if (x->time_ns != y->time_ns)
    return x->time_ns < y->time_ns ? -1 : 1;
  return strcmp(x->name, y->name);
}

hearth_status hearth_heap_reader_result(hearth_heap_reader *r, const hearth_heap_dumps **ret, hearth_error *err) {
  hearth_heap_dumps *all = &r->result;
  size_t count = r->builder->node_count;
  free(all->nodes);
  all->nodes = calloc(count + 1, sizeof *all->nodes);
  HEARTH_TRY(hearth_check_memory(all->nodes, err));
  for (uint32_t i = 0; i < count; i++)
    all->nodes[i] = heap_dump_node_of(r, i);
  all->node_count = count;
  hearth_modules_report(r->modules);
  if (all->dump_count > 0)
    qsort(all->dumps, all->dump_count, sizeof *all->dumps, compare_dumps);
  *ret = all;
  return HEARTH_OK;
}

/* -------------------------------------------------- entries -------------------------------------------------- */

void hearth_heap_add(hearth_heap_entry *into, const hearth_heap_entry *from) {
  into->blocks = hearth_merge_SUM(into->blocks, from->blocks);
  into->bytes = hearth_merge_SUM(into->bytes, from->bytes);
  for (size_t i = 0; i < HEARTH_RAW_RESIDENCIES; i++)
    into->residency[i] = hearth_merge_SUM(into->residency[i], from->residency[i]);
}

hearth_heap_entry hearth_heap_total(const hearth_heap_dump *dump) {
  hearth_heap_entry total = {0};
  for (size_t i = 0; i < dump->entry_count; i++)
    hearth_heap_add(&total, &dump->entries[i]);
  return total;
}

bool hearth_heap_same_process(const hearth_heap_dump *a, const hearth_heap_dump *b) {
  return a->pid == b->pid && a->start_unix_ns == b->start_unix_ns;
}

/* -------------------------------------------------- text -------------------------------------------------- */

char *hearth_heap_node_name(const hearth_heap_node *node, const hearth_heap_view_options *options) {
  hearth_name_style style = options->full_names ? HEARTH_NAMES_FULL : HEARTH_NAMES_SHORT;
  return hearth_name_make(node->function, hearth_is_name_file(node->path) ? HEARTH_NAMES_LINKED : style);
}

static void print_heap_size(const char *text, uint64_t bytes, FILE *stream) {
  fprintf(stream, "%s%s", text, hearth_amount_bytes(bytes).c);
}

static void print_residency(const hearth_heap_entry *entry, FILE *stream) {
  print_heap_size(", in memory ", entry->residency[HEARTH_RAW_RESIDENT], stream);
  print_heap_size(", swapped out ", entry->residency[HEARTH_RAW_SWAPPED], stream);
  if (entry->residency[HEARTH_RAW_UNWRITTEN])
    print_heap_size(", not written to since the dump before ", entry->residency[HEARTH_RAW_UNWRITTEN], stream);
}

static void print_dump(const hearth_heap_dump *dump, size_t number, FILE *stream) {
  static const char *const occasions[] = {"none", "exit", "period", "request", "peak"};
  hearth_heap_entry total = hearth_heap_total(dump);
  fprintf(stream, "%3zu  %-8s %10s  %12s in %10" PRIu64 " blocks", number + 1, occasions[dump->occasion],
          hearth_amount_time((double)dump->time_ns).c, hearth_amount_bytes(total.bytes).c, total.blocks);
  if (dump->has_residency)
    print_residency(&total, stream);
  print_heap_size(", profiler ", dump->profiler_bytes, stream);
  fputs("  ", stream);
  hearth_print_name(dump->name, 0, stream);
  fputc('\n', stream);
}

static bool has_several_processes(const hearth_heap_dumps *dumps) {
  return !hearth_heap_same_process(&dumps->dumps[0], &dumps->dumps[dumps->dump_count - 1]);
}

static void print_process(const hearth_heap_dump *dump, FILE *stream) {
  time_t start = (time_t)(dump->start_unix_ns / 1000000000);
  struct tm parts;
  char text[64] = "at an unknown time";
  if (gmtime_r(&start, &parts))
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  fprintf(stream, "Process %" PRIu64 ", started %s:\n", dump->pid, text);
}

static void print_dumps(const hearth_heap_dumps *dumps, FILE *stream) {
  for (size_t i = 0; i < dumps->dump_count; i++) {
    const hearth_heap_dump *dump = &dumps->dumps[i];
    if (has_several_processes(dumps) && (i == 0 || !hearth_heap_same_process(&dump[-1], dump)))
      print_process(dump, stream);
    print_dump(dump, i, stream);
  }
}

/* Most bytes first; among equals in the order of nodes, which depends on nothing else. */
static int compare_bytes(const void *a, const void *b) {
  const hearth_heap_entry *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return (x->node > y->node) - (x->node < y->node);
}

static hearth_status print_frame(const hearth_heap_node *node, const hearth_heap_view_options *options, FILE *stream,
                                 hearth_error *err) {
  char *name = hearth_heap_node_name(node, options);
  HEARTH_TRY(hearth_check_memory(name, err));
  fputs("      ", stream);
  hearth_print_name(name, 28, stream);
  free(name);
  fputs("  ", stream);
  hearth_print_name(hearth_base_name(node->path), 0, stream);
  if (node->line)
    fprintf(stream, ":%u:%u", node->line, node->column);
  fputs(node->inlined ? " (inlined)\n" : "\n", stream);
  return HEARTH_OK;
}

static hearth_status print_heap_entry(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                                      const hearth_heap_entry *entry, const hearth_heap_view_options *options,
                                      FILE *stream, hearth_error *err) {
  fprintf(stream, "\n   %s (%" PRIu64 " bytes) in %" PRIu64 " block%s", hearth_amount_bytes(entry->bytes).c,
          entry->bytes, entry->blocks, hearth_plural(entry->blocks));
  if (dump->has_residency)
    print_residency(entry, stream);
  if (entry->type != HEARTH_HEAP_UNKNOWN_TYPE) {
    fputs(" of type ", stream);
    hearth_print_name(dumps->names[entry->type], 0, stream);
  }
  if (entry->heap != HEARTH_HEAP_MALLOC) {
    fputs(" from ", stream);
    hearth_print_name(dumps->names[entry->heap], 0, stream);
  }
  fputc('\n', stream);
  if (entry->node == HEARTH_NONE)
    fputs("      in code that is not known\n", stream);
  for (uint32_t node = entry->node; node != HEARTH_NONE; node = dumps->nodes[node].parent)
    HEARTH_TRY(print_frame(&dumps->nodes[node], options, stream, err));
  return HEARTH_OK;
}

static hearth_status print_entries(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                                   const hearth_heap_view_options *options, FILE *stream, hearth_error *err) {
  size_t count = dump->entry_count, most = options->most && options->most < count ? options->most : count;
  hearth_heap_entry *entries;
  hearth_status status = HEARTH_OK;
  HEARTH_TRY(hearth_array_create(&entries, count, sizeof *entries, err));
  for (size_t i = 0; i < count; i++)
    entries[i] = dump->entries[i];
  qsort(entries, count, sizeof *entries, compare_bytes);
  for (size_t i = 0; status == HEARTH_OK && i < most; i++)
    status = print_heap_entry(dumps, dump, &entries[i], options, stream, err);
  if (most < count)
    fprintf(stream, "\n   ... and %zu more\n", count - most);
  free(entries);
  return status;
}

hearth_status hearth_heap_print(const hearth_heap_dumps *dumps, const hearth_heap_dump *dump,
                                const hearth_heap_view_options *options, FILE *stream, hearth_error *err) {
  hearth_heap_view_options known;
  HEARTH_TRY(hearth_options_take(&known, sizeof known, options, err));
  if (dumps->dump_count > 0)
    print_dumps(dumps, stream);
  if (!dump)
    return hearth_stream_flush(stream, err);
  fputs("\nLive in ", stream);
  hearth_print_name(dump->name, 0, stream);
  if (has_several_processes(dumps))
    fprintf(stream, " of process %" PRIu64, dump->pid);
  if (dump->sample_bytes)
    fprintf(stream, ", estimated from one block for %" PRIu64 " bytes", dump->sample_bytes);
  if (dump->dropped_blocks)
    fprintf(stream, ", %" PRIu64 " allocations without a record", dump->dropped_blocks);
  fputs(":\n", stream);
  HEARTH_TRY(print_entries(dumps, dump, &known, stream, err));
  return hearth_stream_flush(stream, err);
}
