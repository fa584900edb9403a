/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The builder that `hearth index` would fill has the frames: keys are of its nodes. */
#include "hearth/trace_stack_keys.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "builder_tables.h"
#include "dump_contexts.h"
#include "file.h"
#include "hearth/ids.h"
#include "hearth/trace.h"
#include "option_size.h"

typedef struct reading {
  hearth_indexer_options options;
  hearth_builder *builder;
  hearth_binaries *binaries;
  hearth_modules *modules;
  uint32_t *nodes; /* of the builder, by the trace's nodes */
} reading;

static hearth_status visit(void *closure, uint32_t node, const hearth_raw_record *record, hearth_error *err) {
  const reading *r = closure;
  (void)err;
  if (record->stack != HEARTH_RAW_NO_PARENT)
    r->nodes[record->stack] = node;
  return HEARTH_OK;
}

/* Callers have lower numbers. */
static hearth_status find_keys(const hearth_builder *b, uint64_t **ret, hearth_error *err) {
  HEARTH_TRY(hearth_array_create(ret, b->node_count, sizeof **ret, err));
  for (uint32_t i = 0; i < b->node_count; i++) {
    const builder_frame *frame = &b->frames[b->nodes[i].frame];
    uint64_t caller = b->nodes[i].parent == HEARTH_NONE ? HEARTH_STACK_KEY_ROOT : (*ret)[b->nodes[i].parent];
    (*ret)[i] = hearth_stack_key(caller, hearth_stack_id(b->functions[frame->function].id, frame->line, frame->column));
  }
  return HEARTH_OK;
}

static hearth_status key_nodes(const reading *r, size_t count, uint64_t **ret, hearth_error *err) {
  uint64_t *keys;
  HEARTH_TRY(find_keys(r->builder, &keys, err));
  hearth_status status = hearth_array_create(ret, count, sizeof **ret, err);
  for (size_t i = 0; status == HEARTH_OK && i < count; i++)
    (*ret)[i] = r->nodes[i] == HEARTH_NONE ? 0 : keys[r->nodes[i]];
  free(keys);
  return status;
}

static hearth_status create(reading *r, hearth_error *err) {
  r->builder = hearth_builder_create(HEARTH_IDS_HEARTH);
  r->binaries = hearth_binaries_create(&r->options);
  r->modules = r->builder && r->binaries ? hearth_modules_create(r->builder, r->binaries, &r->options) : NULL;
  if (!r->modules)
    return hearth_error_nomem(err);
  hearth_binaries_use_symbols(r->binaries, true);
  hearth_builder_fold_recursion(r->builder, !r->options.full_recursion);
  return HEARTH_OK;
}

static hearth_status read_trace(reading *r, const char *path, const hearth_file *file, size_t *ret_count,
                                hearth_error *err) {
  hearth_raw_dump dump;
  size_t offset = 0;
  if (!hearth_trace_is_trace(file->data, file->size))
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not a trace, as 'hearth record --mode=trace' writes them", path);
  HEARTH_TRY(hearth_raw_read(path, file, &offset, &dump, err));
  *ret_count = dump.node_count;
  hearth_status status = hearth_array_create(&r->nodes, dump.node_count, sizeof *r->nodes, err);
  if (status == HEARTH_OK) {
    memset(r->nodes, 0xff, dump.node_count * sizeof *r->nodes);
    status = hearth_dump_each(r->builder, r->modules, &r->options, path, &dump, visit, r, err);
  }
  hearth_raw_free(&dump);
  return status;
}

hearth_status hearth_trace_stack_keys(const char *path, const hearth_indexer_options *options, uint64_t **ret,
                                      size_t *ret_count, hearth_error *err) {
  reading r = {0};
  hearth_file file;
  *ret = NULL;
  HEARTH_TRY(hearth_options_take(&r.options, sizeof r.options, options, err));
  HEARTH_TRY(hearth_file_read(path, &file, err));
  hearth_status status = create(&r, err);
  if (status == HEARTH_OK)
    status = read_trace(&r, path, &file, ret_count, err);
  if (status == HEARTH_OK)
    status = key_nodes(&r, *ret_count, ret, err);
  hearth_file_close(&file);
  hearth_modules_destroy(r.modules);
  hearth_binaries_destroy(r.binaries);
  hearth_builder_destroy(r.builder);
  free(r.nodes);
  return status;
}
