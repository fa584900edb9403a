/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records of a MemProf section into a builder. A record is keyed by a function's GUID: u64 count and allocation sites (a
 * reference to a call stack, the MIB), u64 count and call sites (a reference; in version 4 u64 count and GUIDs of
 * callees). Call sites follow from the call stacks of the contexts: they are checked for their size and left. */
#include "hearth/llvm_profile.h"
#include "import.h"
#include "memprof_section.h"

typedef struct reader {
  const hearth_llvm_section *section;
  hearth_llvm_stacks stacks;
  hearth_llvm_import import;
} reader;

static uint64_t reference_bytes(const hearth_llvm_section *s) { return s->version == 2 ? 8 : 4; }

static hearth_status take_mib(hearth_llvm_cursor *record, const hearth_llvm_section *s, hearth_mib *ret) {
  memset(ret, 0, sizeof *ret);
  for (uint32_t i = 0; i < s->tag_count; i++) {
    uint64_t value = 0;
    HEARTH_TRY(hearth_llvm_take(record, &value, hearth_llvm_entries[s->tags[i]].bytes));
    hearth_llvm_entry_load(s->tags[i], value, ret);
  }
  return HEARTH_OK;
}

static hearth_status take_allocations(reader *r, uint32_t function, hearth_llvm_cursor *record) {
  uint64_t count;
  HEARTH_TRY(hearth_llvm_take_count(record, reference_bytes(r->section) + r->section->mib_bytes, &count));
  for (uint64_t i = 0; i < count; i++) {
    const hearth_builder_frame *frames;
    size_t n;
    hearth_mib mib;
    HEARTH_TRY(hearth_llvm_stacks_take(&r->stacks, record, &frames, &n));
    HEARTH_TRY(take_mib(record, r->section, &mib));
    HEARTH_TRY(hearth_llvm_import_site(&r->import, function, frames, n, &mib));
  }
  return HEARTH_OK;
}

static hearth_status skip_call_sites(const hearth_llvm_section *s, hearth_llvm_cursor *record) {
  uint64_t count, callees = 0;
  hearth_llvm_cursor skipped;
  HEARTH_TRY(hearth_llvm_take_count(record, reference_bytes(s), &count));
  for (uint64_t i = 0; i < count; i++) {
    HEARTH_TRY(hearth_llvm_split(record, reference_bytes(s), &skipped));
    if (s->version == 4) {
      HEARTH_TRY(hearth_llvm_take_count(record, sizeof(uint64_t), &callees));
      HEARTH_TRY(hearth_llvm_split(record, callees * sizeof(uint64_t), &skipped));
    }
  }
  return hearth_llvm_left(record) ? hearth_llvm_corrupt(record->in, record->at, "a record is too long") : HEARTH_OK;
}

static hearth_status read_records(reader *r) {
  const hearth_llvm_section *s = r->section;
  hearth_llvm_items items;
  HEARTH_TRY(hearth_llvm_items_begin(s->in, s->records, s->records_control, HEARTH_LLVM_KEY_AND_DATA, &items));
  for (;;) {
    bool end;
    uint64_t guid;
    uint32_t function;
    hearth_llvm_cursor record;
    HEARTH_TRY(hearth_llvm_items_next(&items, &end, &guid, &record));
    if (end)
      return HEARTH_OK;
    HEARTH_TRY(hearth_builder_function_by_id(r->import.builder, guid, "", "", 0, &function, s->in->err));
    HEARTH_TRY(take_allocations(r, function, &record));
    HEARTH_TRY(skip_call_sites(s, &record));
  }
}

static hearth_status read_section(reader *r, hearth_llvm_skipped *ret) {
  HEARTH_TRY(hearth_llvm_stacks_load(r->section, r->import.builder, &r->stacks));
  for (r->import.pass = 0; r->import.pass < HEARTH_LLVM_PASSES; r->import.pass++)
    HEARTH_TRY(read_records(r));
  return hearth_llvm_import_finish(&r->import, ret);
}

hearth_status hearth_llvm_read(const void *data, size_t size, const char *name, hearth_builder *into,
                               hearth_llvm_skipped *ret, hearth_error *err) {
  hearth_llvm_input in = {name, data, size, err};
  hearth_llvm_contents contents;
  hearth_llvm_section section;
  HEARTH_TRY(hearth_llvm_inspect(data, size, name, &contents, err));
  if (!contents.section_offset)
    return hearth_error_set(err, HEARTH_E_NOT_FOUND,
                            "%s: a profile of llvm-profdata without a heap profile: give the raw heap profiles", name);
  HEARTH_TRY(hearth_llvm_section_open(&in, contents.section_offset, &section));
  reader r = {.section = &section, .import = {.builder = into, .err = err}};
  hearth_builder_begin_run(into);
  *ret = (hearth_llvm_skipped){.data_accesses = section.has_data_accesses};
  hearth_status status = read_section(&r, ret);
  hearth_llvm_stacks_free(&r.stacks);
  hearth_llvm_import_free(&r.import);
  return status;
}
