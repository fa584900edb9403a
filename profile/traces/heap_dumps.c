/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All dumps share one builder, whose trie of stacks becomes the nodes. */
#include "hearth/heap_dumps.h"

#include <stdlib.h>
#include <string.h>

#include "builder_tables.h"
#include "file.h"
#include "hearth/ids.h"
#include "hearth/status.h"
#include "hearth/trace.h"
#include "index.h"

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

hearth_status hearth_heap_reader_add_debug_directory(hearth_heap_reader *r, const char *path, hearth_error *err) {
  return hearth_modules_add_directory(r->modules, path, err);
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
  return hearth_dump_each(r->builder, r->modules, &r->options, name, raw, visit, r, err);
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
