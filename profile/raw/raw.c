/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads a raw profile of any layout: its magic number tells the reader. */
#include "raw_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hearth/raw_llvm.h"
#include "hearth/trace.h"

static uint64_t magic_at(const void *data) {
  uint64_t magic;
  memcpy(&magic, data, sizeof magic);
  return magic;
}

static bool is_swapped(uint64_t magic) {
  magic = __builtin_bswap64(magic);
  return magic == HEARTH_RAW_MAGIC || magic == HEARTH_RAW_SNAPSHOTS_MAGIC || magic == HEARTH_LLVM_RAW_MAGIC ||
         magic == HEARTH_TRACE_MAGIC;
}

bool hearth_raw_is_raw(const void *data, size_t size) {
  if (size < sizeof(uint64_t))
    return false;
  uint64_t magic = magic_at(data);
  return magic == HEARTH_RAW_MAGIC || magic == HEARTH_RAW_SNAPSHOTS_MAGIC || magic == HEARTH_LLVM_RAW_MAGIC ||
         magic == HEARTH_TRACE_MAGIC || is_swapped(magic);
}

/* Read the dump at in->begin, whichever layout it has. */
static hearth_status read_dump(const hearth_raw_input *in, hearth_raw_dump *ret, size_t *ret_size, hearth_error *err) {
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

static bool begins_snapshots(const hearth_file *file, size_t offset) {
  return offset <= file->size && file->size - offset >= sizeof(uint64_t) &&
         magic_at(file->data + offset) == HEARTH_RAW_SNAPSHOTS_MAGIC;
}

/* The machine may have stopped before both halves were on the disk: then the older one may do. */
static hearth_status read_newest(const hearth_raw_input *in, hearth_raw_dump *ret, size_t *ret_size,
                                 hearth_error *err) {
  hearth_raw_places places;
  hearth_status status = HEARTH_OK;
  size_t size = 0;
  HEARTH_TRY(hearth_raw_find_snapshots(in, &places, err));
  *ret_size = places.size;
  for (size_t i = 0; i < places.count; ++i) {
    hearth_raw_input half = {.name = in->name, .file = in->file, .begin = in->begin + places.begin[i]};
    status = read_dump(&half, ret, &size, err);
    if (status == HEARTH_OK)
      return HEARTH_OK;
  }
  return status;
}

hearth_status hearth_raw_read(const char *name, const hearth_file *file, size_t *offset, hearth_raw_dump *ret,
                              hearth_error *err) {
  hearth_raw_input in = {.name = name, .file = file, .begin = *offset};
  size_t size = 0;

  memset(ret, 0, sizeof *ret);
  if (begins_snapshots(file, *offset))
    HEARTH_TRY(read_newest(&in, ret, &size, err));
  else
    HEARTH_TRY(read_dump(&in, ret, &size, err));
  *offset += size;
  return HEARTH_OK;
}

bool hearth_raw_next_record(hearth_raw_dump *dump, hearth_raw_record *ret) {
  if (dump->next_record == dump->record_count)
    return false;
  size_t from = dump->next_at;
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
  free(dump->names);
  free(dump->host);
  free(dump->command);
  free(dump->counts);
  free(dump->mibs);
  hearth_raw_stacks_free(dump->stacks);
  memset(dump, 0, sizeof *dump);
}
