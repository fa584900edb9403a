/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Snapshot files have two halves, written in turn, each with a sequence number: lists those that are complete, the
 * newer one first. */
#include "raw_dump.h"

#include <string.h>

static hearth_status check_header(const hearth_raw_input *in, hearth_raw_snapshots *header, hearth_error *err) {
  size_t rest = in->file->size - in->begin;
  if (rest < sizeof *header)
    return hearth_raw_fail(in, 0, HEARTH_E_TRUNCATED, err, "the file ends inside the header");
  memcpy(header, in->file->data + in->begin, sizeof *header);
  HEARTH_TRY(hearth_raw_check_version(in, header->version, err));
  if (header->header_size < sizeof *header)
    return hearth_raw_fail(in, offsetof(hearth_raw_snapshots, header_size), HEARTH_E_CORRUPT, err, "wrong header size");
  if (header->header_size > rest || header->half_size > (rest - header->header_size) / 2)
    return hearth_raw_fail(in, rest, HEARTH_E_TRUNCATED, err, "the file ends before its snapshots do");
  return HEARTH_OK;
}

hearth_status hearth_raw_find_snapshots(const hearth_raw_input *in, hearth_raw_places *ret, hearth_error *err) {
  hearth_raw_snapshots header;
  HEARTH_TRY(check_header(in, &header, err));
  size_t newer = header.sequence[1] > header.sequence[0];
  *ret = (hearth_raw_places){.size = header.header_size + 2 * header.half_size};
  for (size_t i = 0; i < 2; ++i) {
    size_t half = i == 0 ? newer : !newer;
    if (header.sequence[half] != 0)
      ret->begin[ret->count++] = header.header_size + half * header.half_size;
  }
  if (ret->count == 0)
    return hearth_raw_fail(in, offsetof(hearth_raw_snapshots, sequence), HEARTH_E_TRUNCATED, err,
                           "no snapshot was complete");
  return HEARTH_OK;
}
