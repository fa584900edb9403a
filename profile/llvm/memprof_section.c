/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Opens a MemProf section of version 2, 3 or 4: offsets, schema, and the bounds of each part. */
#include "memprof_section.h"

/* Offsets at the beginning of the section, in the order of each version. */
static hearth_status take_offsets(hearth_llvm_cursor *c, hearth_llvm_section *s) {
  uint64_t offsets[5] = {0};
  size_t count = s->version == 2 ? 5 : s->version == 3 ? 3 : 4;
  HEARTH_TRY(hearth_llvm_take(c, offsets, count * sizeof *offsets));
  if (s->version == 2) {
    s->records_control = offsets[0];
    s->frames = offsets[1];
    s->frames_control = offsets[2];
    s->stacks = offsets[3];
    s->stacks_control = offsets[4];
  } else {
    s->stacks = s->frames_control = offsets[0];
    s->records = s->stacks_control = offsets[1];
    s->records_control = offsets[2];
    s->has_data_accesses = offsets[3] != 0;
  }
  return HEARTH_OK;
}

/* The sums of the records, which follow from them: skipped. */
static hearth_status skip_summary(hearth_llvm_cursor *c) {
  uint32_t fields;
  hearth_llvm_cursor summary;
  HEARTH_TRY(hearth_llvm_take(c, &fields, sizeof fields));
  return hearth_llvm_split(c, (uint64_t)fields * sizeof(uint64_t), &summary);
}

static hearth_status take_schema(hearth_llvm_cursor *c, hearth_llvm_section *s) {
  uint64_t count, at = c->at;
  HEARTH_TRY(hearth_llvm_take_count(c, sizeof(uint64_t), &count));
  if (count >= HEARTH_LLVM_MIB_LIMIT)
    return hearth_llvm_corrupt(c->in, at, "its schema has more fields than there are");
  for (uint64_t i = 0; i < count; i++) {
    uint64_t tag;
    at = c->at;
    HEARTH_TRY(hearth_llvm_take(c, &tag, sizeof tag));
    if (tag == 0 || tag >= HEARTH_LLVM_MIB_LIMIT)
      return hearth_error_set(c->in->err, HEARTH_E_VERSION,
                              "%s: offset %llu: its schema has field %llu; this release of Hearth knows fields 1 to %u",
                              c->in->name, (unsigned long long)at, (unsigned long long)tag, HEARTH_LLVM_MIB_LIMIT - 1);
    s->tags[s->tag_count++] = (uint32_t)tag;
    s->mib_bytes += hearth_llvm_entries[tag].bytes;
  }
  return HEARTH_OK;
}

hearth_status hearth_llvm_section_open(const hearth_llvm_input *in, uint64_t offset, hearth_llvm_section *ret) {
  hearth_llvm_cursor c;
  uint64_t version;
  *ret = (hearth_llvm_section){.in = in};
  HEARTH_TRY(hearth_llvm_part(in, offset, in->size, "the MemProf section", &c));
  HEARTH_TRY(hearth_llvm_take(&c, &version, sizeof version));
  /* Version 0 has no version field: it begins with an offset, which is greater than any version. */
  if (version < 2 || version > 4)
    return hearth_error_set(
        in->err, HEARTH_E_VERSION,
        "%s: offset %llu: a MemProf section of version %llu; this release of Hearth reads versions 2 "
        "to 4 (LLVM 19 to 22): make it again with one of those",
        in->name, (unsigned long long)offset, (unsigned long long)(version > offset ? 0 : version));
  ret->version = (uint32_t)version;
  HEARTH_TRY(take_offsets(&c, ret));
  if (version == 4)
    HEARTH_TRY(skip_summary(&c));
  HEARTH_TRY(take_schema(&c, ret));
  if (version == 2)
    ret->records = c.at;
  else
    ret->frames = c.at;
  return HEARTH_OK;
}
