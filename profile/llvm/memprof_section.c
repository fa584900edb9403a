/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The MemProf section of LLVM's profiles: opened, read into a builder, written. */

#include "array.h"
#include "hearth/llvm_profile.h"
#include "llvm_parts.h"

/* Opens a MemProf section of version 3 or 4: offsets, schema, and the bounds of each part. */

static hearth_status take_offsets(hearth_llvm_cursor *c, hearth_llvm_section *s) {
  uint64_t offsets[4] = {0};
  HEARTH_TRY(hearth_llvm_take(c, offsets, s->version * sizeof *offsets)); /* as many as the version says */
  s->stacks = s->frames_control = offsets[0];
  s->records = s->stacks_control = offsets[1];
  s->records_control = offsets[2];
  s->data_accesses = offsets[3];
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
  if (version < 3 || version > 4)
    return hearth_error_set(
        in->err, HEARTH_E_VERSION,
        "%s: offset %llu: a MemProf section of version %llu; this release of Hearth reads versions 3 and 4 (LLVM 19 to "
        "22): make it again with 'llvm-profdata merge --memprof-version=3'",
        in->name, (unsigned long long)offset, (unsigned long long)(version > offset ? 0 : version));
  ret->version = (uint32_t)version;
  HEARTH_TRY(take_offsets(&c, ret));
  if (version == 4)
    HEARTH_TRY(skip_summary(&c));
  HEARTH_TRY(take_schema(&c, ret));
  ret->frames = c.at;
  return HEARTH_OK;
}

/* Records of a MemProf section into a builder. A record is keyed by a function's GUID: u64 count and allocation
 * sites (a reference to a call stack, the MIB), u64 count and call sites (a reference; in version 4 u64 count and
 * GUIDs of callees). Call sites follow from the call stacks of the contexts: they are checked for their size and
 * left. */

typedef struct reader {
  const hearth_llvm_section *section;
  hearth_llvm_stacks stacks;
  hearth_llvm_import import;
} reader;

enum { REFERENCE_BYTES = 4 }; /* to a call stack */

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
  HEARTH_TRY(hearth_llvm_take_count(record, REFERENCE_BYTES + r->section->mib_bytes, &count));
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
  HEARTH_TRY(hearth_llvm_take_count(record, REFERENCE_BYTES, &count));
  for (uint64_t i = 0; i < count; i++) {
    HEARTH_TRY(hearth_llvm_split(record, REFERENCE_BYTES, &skipped));
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
  HEARTH_TRY(hearth_llvm_items_begin(s->in, s->records, s->records_control, &items));
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

hearth_status hearth_llvm_read(const void *data, size_t size, const char *name, hearth_llvm_inflate *inflate,
                               hearth_builder *into, hearth_llvm_skipped *ret, hearth_error *err) {
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
  *ret = (hearth_llvm_skipped){0};
  hearth_status status = read_section(&r, ret);
  if (status == HEARTH_OK && section.data_accesses)
    status = hearth_llvm_take_data_accesses(&in, section.data_accesses, inflate, into, &ret->data_accesses);
  hearth_llvm_stacks_free(&r.stacks);
  hearth_llvm_import_free(&r.import);
  return status;
}

/* A MemProf section of version 3 or 4:
 *
 *   u64 version, offsets of call stacks, records, their control block (version 4: and of data accesses, or 0)
 *   version 4: u32 number of u64 fields in the summary, the summary
 *   u64 number of fields, their tags; frames; call stacks; table of records */

typedef struct writer {
  hearth_llvm_buffer *out;
  hearth_profile *profile;
  const hearth_llvm_records *r;
  uint32_t version;
  hearth_error *err;
  uint32_t *elements; /* the array of call stacks, back to front: an index counts from its end */
  size_t element_count, element_room;
  uint32_t *node_elements;  /* of nodes: element that a stack reaches it by; HEARTH_NONE: not written yet */
  uint32_t *stack_elements; /* of nodes that are a site's: element with the depth */
} writer;

/* -------------------------------------------------- call stacks -------------------------------------------------- */

/* Room for a stack of `depth` frames: its frames or a jump, and its depth. */
static hearth_status memprof_section_reserve(writer *w, size_t depth) {
  if (depth + 2 > INT32_MAX - w->element_count)
    return hearth_error_set(w->err, HEARTH_E_FULL, "more call stacks than LLVM's format can number");
  return hearth_check_memory(
      hearth_array_reserve(&w->elements, &w->element_room, w->element_count, depth + 2, sizeof *w->elements), w->err);
}

/* Frames that a stack shares with one already written are not written again, but jumped to. */
static hearth_status write_stack(writer *w, uint32_t leaf) {
  const hearth_llvm_node *nodes = w->r->nodes;
  uint32_t depth = 0, own = 0, shared = leaf;
  for (uint32_t node = leaf; node != HEARTH_NONE; node = nodes[node].parent)
    depth++;
  HEARTH_TRY(memprof_section_reserve(w, depth));
  for (; shared != HEARTH_NONE && w->node_elements[shared] == HEARTH_NONE; shared = nodes[shared].parent)
    own++;
  if (shared != HEARTH_NONE) {
    uint32_t distance = (uint32_t)w->element_count - w->node_elements[shared];
    w->elements[w->element_count++] = UINT32_MAX - distance + 1;
  }
  uint32_t node = leaf;
  for (uint32_t i = 0; i < own; i++, node = nodes[node].parent) {
    size_t element = w->element_count + own - 1 - i;
    w->elements[element] = nodes[node].frame;
    w->node_elements[node] = (uint32_t)element;
  }
  w->element_count += own;
  w->stack_elements[leaf] = (uint32_t)w->element_count;
  w->elements[w->element_count++] = depth;
  return HEARTH_OK;
}

static hearth_status make_stacks(writer *w) {
  size_t bytes = (w->r->node_count + 1) * sizeof(uint32_t);
  w->node_elements = malloc(bytes);
  w->stack_elements = malloc(bytes);
  HEARTH_TRY(hearth_check_memory(w->node_elements && w->stack_elements, w->err));
  memset(w->node_elements, 0xff, bytes);
  memset(w->stack_elements, 0xff, bytes);
  for (size_t i = 0; i < w->r->record_count; i++)
    for (size_t k = w->r->records[i].first; k < w->r->records[i].end; k++) {
      uint32_t node = w->r->sites[k].node;
      if (w->stack_elements[node] == HEARTH_NONE)
        HEARTH_TRY(write_stack(w, node));
    }
  return HEARTH_OK;
}

static uint32_t stack_index(const writer *w, uint32_t node) {
  return (uint32_t)(w->element_count - 1 - w->stack_elements[node]);
}

/* -------------------------------------------------- records -------------------------------------------------- */

static void put_mib(writer *w, const hearth_mib *mib) {
  uint64_t cut = 0; /* counted before */
  for (uint32_t i = 0; i < w->r->tag_count; i++) {
    uint64_t value = hearth_llvm_entry_value(w->r->tags[i], mib, &cut);
    hearth_llvm_put(w->out, &value, hearth_llvm_entries[w->r->tags[i]].bytes);
  }
}

static void put_record(writer *w, const hearth_llvm_record *record) {
  const hearth_llvm_site *sites = w->r->sites;
  hearth_llvm_put_u64(w->out, record->calls - record->first);
  for (size_t i = record->first; i < record->calls; i++) {
    hearth_llvm_put_u32(w->out, stack_index(w, sites[i].node));
    put_mib(w, &w->r->contexts[sites[i].context]);
  }
  hearth_llvm_put_u64(w->out, record->end - record->calls);
  for (size_t i = record->calls; i < record->end; i++) {
    hearth_llvm_put_u32(w->out, stack_index(w, sites[i].node));
    if (w->version == 4)
      hearth_llvm_put_u64(w->out, 0); /* GUIDs of callees: llvm-profdata finds none in raw profiles either */
  }
}

/* Begin the bucket of the records from `first` on with their number. */
static hearth_status put_bucket_size(writer *w, size_t first, uint64_t mask) {
  const hearth_llvm_records *r = w->r;
  size_t end = first + 1;
  while (end < r->record_count && (r->records[end].guid & mask) == (r->records[first].guid & mask))
    end++;
  uint16_t size = (uint16_t)(end - first);
  if (size != end - first)
    return hearth_error_set(w->err, HEARTH_E_FULL, "more functions with like ids than LLVM's format can hold");
  hearth_llvm_put(w->out, &size, sizeof size);
  return HEARTH_OK;
}

static void put_item(writer *w, const hearth_llvm_record *record) {
  hearth_llvm_put_u64(w->out, record->guid); /* the hash */
  hearth_llvm_put_u64(w->out, sizeof record->guid);
  size_t length_at = w->out->size;
  hearth_llvm_put_u64(w->out, 0);
  hearth_llvm_put_u64(w->out, record->guid);
  size_t begin = w->out->size;
  put_record(w, record);
  hearth_llvm_patch_u64(w->out, length_at, w->out->size - begin);
}

static hearth_status memprof_section_put_records(writer *w, size_t *ret_control) {
  const hearth_llvm_records *r = w->r;
  uint64_t buckets = hearth_llvm_bucket_count(r->record_count), mask = buckets - 1;
  uint64_t *offsets = calloc(buckets, sizeof *offsets);
  HEARTH_TRY(hearth_check_memory(offsets, w->err));
  hearth_status status = HEARTH_OK;
  for (size_t i = 0; status == HEARTH_OK && i < r->record_count; i++) {
    uint64_t *offset = &offsets[r->records[i].guid & mask];
    if (!*offset) {
      *offset = w->out->size;
      status = put_bucket_size(w, i, mask);
    }
    put_item(w, &r->records[i]);
  }
  hearth_llvm_align(w->out);
  *ret_control = w->out->size;
  hearth_llvm_put_u64(w->out, buckets);
  hearth_llvm_put_u64(w->out, r->record_count);
  hearth_llvm_put(w->out, offsets, buckets * sizeof *offsets);
  free(offsets);
  return status;
}

/* -------------------------------------------------- section -------------------------------------------------- */

static void put_head(writer *w, size_t *ret_offsets_at) {
  hearth_llvm_put_u64(w->out, w->version);
  *ret_offsets_at = w->out->size;
  for (uint32_t i = 0; i < w->version; i++) /* 3 offsets, or 4 */
    hearth_llvm_put_u64(w->out, 0);
  if (w->version == 4) {
    hearth_llvm_summary summary = hearth_llvm_summarise(w->r);
    hearth_llvm_put_u32(w->out, sizeof summary / sizeof(uint64_t));
    hearth_llvm_put(w->out, &summary, sizeof summary);
  }
  hearth_llvm_put_u64(w->out, w->r->tag_count);
  for (uint32_t i = 0; i < w->r->tag_count; i++)
    hearth_llvm_put_u64(w->out, w->r->tags[i]);
}

static hearth_status put_section(writer *w) {
  size_t offsets_at, control = 0;
  HEARTH_TRY(make_stacks(w));
  put_head(w, &offsets_at);
  hearth_llvm_put(w->out, w->r->frames, w->r->frame_count * sizeof *w->r->frames);
  hearth_llvm_patch_u64(w->out, offsets_at, w->out->size);
  for (size_t i = w->element_count; i-- > 0;)
    hearth_llvm_put_u32(w->out, w->elements[i]);
  hearth_llvm_patch_u64(w->out, offsets_at + 8, w->out->size);
  HEARTH_TRY(memprof_section_put_records(w, &control));
  hearth_llvm_patch_u64(w->out, offsets_at + 16, control);
  size_t data_accesses = w->out->size;
  if (w->version < 4)
    return HEARTH_OK;
  HEARTH_TRY(hearth_llvm_put_data_accesses(w->out, w->profile, w->err));
  if (w->out->size > data_accesses)
    hearth_llvm_patch_u64(w->out, offsets_at + 24, data_accesses);
  return HEARTH_OK;
}

hearth_status hearth_llvm_put_section(hearth_llvm_buffer *out, hearth_profile *profile, uint32_t version,
                                      hearth_llvm_losses *ret_losses, hearth_error *err) {
  hearth_llvm_records records;
  writer w = {.out = out, .profile = profile, .r = &records, .version = version, .err = err};
  if (version != 3 && version != 4)
    return hearth_error_set(err, HEARTH_E_USAGE, "MemProf sections are written in version 3 or 4, not %u", version);
  hearth_status status = hearth_llvm_records_make(&records, profile, err);
  HEARTH_THEN(status, put_section(&w));
  *ret_losses = records.losses;
  HEARTH_FREE(w.elements, w.node_elements, w.stack_elements);
  hearth_llvm_records_free(&records);
  return status;
}
