/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads a raw profile of any layout: its magic number tells the reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hearth/llvm_files.h"
#include "hearth/trace.h"
#include "raw_dump.h"

static uint64_t magic_at(const void *data) {
  uint64_t magic;
  memcpy(&magic, data, sizeof magic);
  return magic;
}

static bool is_swapped(uint64_t magic) {
  magic = __builtin_bswap64(magic);
  return magic == HEARTH_RAW_MAGIC || magic == HEARTH_LLVM_RAW_MAGIC || magic == HEARTH_TRACE_MAGIC;
}

bool hearth_raw_is_raw(const void *data, size_t size) {
  if (size < sizeof(uint64_t))
    return false;
  uint64_t magic = magic_at(data);
  return magic == HEARTH_RAW_MAGIC || magic == HEARTH_LLVM_RAW_MAGIC || magic == HEARTH_TRACE_MAGIC ||
         is_swapped(magic);
}

/* Read the dump at in->begin, whichever layout it has. */
static hearth_status raw_read_dump(const hearth_raw_input *in, hearth_raw_dump *ret, size_t *ret_size,
                                   hearth_error *err) {
  hearth_status status;
  if (in->begin > in->file->size || in->file->size - in->begin < sizeof(uint64_t))
    return hearth_raw_fail(in, 0, HEARTH_E_TRUNCATED, err, "too short for a raw profile");
  uint64_t magic = magic_at(in->file->data + in->begin);
  if (magic == HEARTH_RAW_MAGIC)
    status = hearth_raw_read_hearth(in, ret, ret_size, err);
  else if (magic == HEARTH_LLVM_RAW_MAGIC)
    status = hearth_raw_read_llvm(in, ret, ret_size, err);
  else if (magic == HEARTH_TRACE_MAGIC)
    status = hearth_raw_read_trace(in, ret, ret_size, err);
  else if (is_swapped(magic))
    status = hearth_raw_fail(in, 0, HEARTH_E_VERSION, err, "written by a machine of the other byte order");
  else
    status = hearth_raw_fail(in, 0, HEARTH_E_FORMAT, err, "no raw profile begins here");
  if (status != HEARTH_OK)
    hearth_raw_free(ret);
  else
    ret->in = *in;
  return status;
}

hearth_status hearth_raw_read(const char *name, const hearth_file *file, size_t *offset, hearth_raw_dump *ret,
                              hearth_error *err) {
  hearth_raw_input in = {.name = name, .file = file, .begin = *offset};
  size_t size = 0;

  memset(ret, 0, sizeof *ret);
  HEARTH_TRY(raw_read_dump(&in, ret, &size, err));
  *offset += size;
  return HEARTH_OK;
}

bool hearth_raw_next_record(hearth_raw_dump *dump, hearth_raw_record *ret) {
  if (dump->next_record == dump->record_count)
    return false;
  size_t from = dump->next_at;
  ret->levels = NULL;
  dump->read_record(dump, ret);
  dump->next_record++;
  hearth_raw_passed(&dump->in, from, dump->next_at);
  return true;
}

void hearth_raw_free(hearth_raw_dump *dump) {
  for (size_t i = 0; i < dump->map_count; ++i)
    free(dump->maps[i].path);
  free(dump->maps);
  free(dump->nodes);
  for (size_t i = 0; i < dump->name_count; ++i)
    free(dump->names[i]);
  HEARTH_FREE(dump->names, dump->globals, dump->command, dump->history, dump->counts, dump->mibs);
  hearth_raw_stacks_free(dump->stacks);
  memset(dump, 0, sizeof *dump);
}

/* Messages and room that the readers of all layouts share. */

static const char *remedy(hearth_status status) {
  switch (status) {
  case HEARTH_E_TRUNCATED:
    return "was the program killed while writing, or the copy cut short? run it again";
  case HEARTH_E_VERSION:
    return "use the runtime and the hearth command of one release, or clang 16 to 22 for LLVM's layout";
  case HEARTH_E_NOMEM:
    return "free memory or index fewer profiles at once";
  default:
    return "run the program again to get an intact profile";
  }
}

hearth_status hearth_raw_fail(const hearth_raw_input *in, size_t at, hearth_status status, hearth_error *err,
                              const char *reason) {
  return hearth_error_set(err, status, "%s: offset %zu: %s (%s)", in->name, in->begin + at, reason, remedy(status));
}

hearth_status hearth_raw_check_version(const hearth_raw_input *in, uint32_t version, hearth_error *err) {
  char reason[96];
  if (version == HEARTH_RAW_VERSION)
    return HEARTH_OK;
  snprintf(reason, sizeof reason, "raw profile version %u, this command reads version %u", (unsigned)version,
           HEARTH_RAW_VERSION);
  return hearth_raw_fail(in, offsetof(hearth_raw_header, version), HEARTH_E_VERSION, err, reason);
}

hearth_status hearth_raw_reserve_histogram(const hearth_raw_input *in, hearth_raw_dump *dump, uint64_t size,
                                           hearth_error *err) {
  if (size == 0)
    return HEARTH_OK;
  dump->counts = malloc(size * sizeof *dump->counts);
  return dump->counts ? HEARTH_OK : hearth_raw_fail(in, 0, HEARTH_E_NOMEM, err, "out of memory");
}
