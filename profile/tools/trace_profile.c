/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The indexer writes to memory, and the reader reads it there. */
#include "trace_profile.h"

#include <stdlib.h>

#include "commands.h"
#include "file.h"
#include "hearth/indexer.h"

bool hearth_trace_profile_is_trace(const char *path) {
  hearth_file file;
  hearth_error err;
  if (hearth_file_map(path, &file, &err) != HEARTH_OK)
    return false;
  bool is_trace = hearth_trace_is_trace(file.data, file.size);
  hearth_file_close(&file);
  return is_trace;
}

static void on_note(void *context, hearth_note_level level, const char *text) {
  (void)context;
  if (level == HEARTH_NOTE_WARNING)
    hearth_tool_warning("%s", text);
}

static hearth_status index_trace(trace_profile *p, hearth_indexer *indexer, const char *path, hearth_error *err) {
  hearth_builder *builder;
  size_t size;
  HEARTH_TRY(hearth_indexer_add_input(indexer, path, err));
  HEARTH_TRY(hearth_indexer_result(indexer, path, &builder, err));
  HEARTH_TRY(hearth_builder_write_memory(builder, &p->image, &size, err));
  return hearth_profile_open_memory(p->image, size, path, &p->profile, err);
}

bool hearth_trace_profile_open(trace_profile *ret, const char *path) {
  const hearth_indexer_options options = {.note = on_note, .symbols = true}; /* enough to look at */
  hearth_error err;
  *ret = (trace_profile){0};
  hearth_indexer *indexer;
  hearth_status status = hearth_indexer_create(&options, &indexer, &err);
  if (status == HEARTH_OK)
    status = index_trace(ret, indexer, path, &err);
  hearth_indexer_destroy(indexer);
  if (status == HEARTH_OK)
    status = hearth_trace_open(path, &ret->trace, &err);
  if (status != HEARTH_OK)
    hearth_tool_error("%s", err.message);
  return status == HEARTH_OK;
}

void hearth_trace_profile_close(trace_profile *both) {
  hearth_profile_close(both->profile);
  hearth_trace_close(both->trace);
  free(both->image);
}
