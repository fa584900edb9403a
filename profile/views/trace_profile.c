/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The indexer writes to memory, and the reader reads it there. */
#include "trace_profile.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "file.h"
#include "hearth/advice.h"
#include "hearth/indexer.h"
#include "hearth/raw.h"

trace_profile_kind hearth_trace_profile_kind(const char *path) {
  hearth_file file;
  hearth_error err;
  hearth_raw_header header = {.magic = 0};
  if (hearth_file_map(path, &file, &err) != HEARTH_OK)
    return TRACE_PROFILE_OTHER;
  bool is_trace = hearth_trace_is_trace(file.data, file.size);
  if (file.size >= sizeof header)
    memcpy(&header, file.data, sizeof header);
  hearth_file_close(&file);
  bool is_dump = header.magic == HEARTH_RAW_MAGIC && header.flags & HEARTH_RAW_OCCASION_MASK;
  return is_trace ? TRACE_PROFILE_TRACE : is_dump ? TRACE_PROFILE_HEAP_DUMP : TRACE_PROFILE_OTHER;
}

static void trace_profile_on_note(void *context, hearth_note_level level, const char *text) {
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

static hearth_status open_both(trace_profile *p, const char *path, const hearth_indexer_options *options,
                               hearth_error *err) {
  hearth_indexer *indexer;
  HEARTH_TRY(hearth_indexer_create(options, &indexer, err));
  hearth_status status = index_trace(p, indexer, path, err);
  hearth_indexer_destroy(indexer);
  return status == HEARTH_OK && options->trace_records ? hearth_trace_open(path, &p->trace, err) : status;
}

static void add_tallies(void *tallies, hearth_mib *records, size_t count) {
  hearth_trace_tallies_add(tallies, records, count);
}

static hearth_histogram get_series(void *tallies, size_t node) { return hearth_trace_tallies_series(tallies, node); }

static hearth_status tally(hearth_trace_tallies **ret, const char *path, hearth_error *err) {
  hearth_trace *trace;
  *ret = NULL;
  HEARTH_TRY(hearth_trace_open(path, &trace, err));
  hearth_status status = hearth_trace_tallies_create(trace, ret, err);
  hearth_trace_close(trace);
  return status;
}

bool hearth_trace_profile_open(trace_profile *ret, const char *path, trace_profile_kind kind) {
  hearth_trace_tallies *tallies = NULL;
  hearth_error err;
  bool is_trace = kind == TRACE_PROFILE_TRACE;
  *ret = (trace_profile){0};
  hearth_status status = is_trace ? tally(&tallies, path, &err) : HEARTH_OK;
  const hearth_indexer_options options = {.context = tallies,
                                          .note = trace_profile_on_note,
                                          .symbols = true,
                                          .trace_records = is_trace ? add_tallies : NULL,
                                          .trace_histogram = is_trace ? get_series : NULL};
  HEARTH_THEN(status, open_both(ret, path, &options, &err));
  hearth_trace_tallies_destroy(tallies);
  if (status != HEARTH_OK)
    hearth_tool_error("%s", err.message);
  return status == HEARTH_OK;
}

void hearth_trace_profile_close(trace_profile *both) {
  hearth_profile_close(both->profile);
  hearth_trace_close(both->trace);
  free(both->image);
}
