/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The container around LLVM's profiles, and the trailer behind it that leads to a profile of Hearth's. Reading checks
 * header and trailer only; writing copies function counters and moves the offsets of the parts behind the heap
 * profile. */
#include <stdlib.h>

#include "file.h"
#include "hearth/indexed.h"
#include "hearth/llvm_files.h"
#include "hearth/llvm_profile.h"
#include "llvm_parts.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* -------------------------------------------------- read -------------------------------------------------- */

static hearth_status container_truncated(const hearth_llvm_input *in) {
  return hearth_error_set(in->err, HEARTH_E_TRUNCATED, "%s: the file ends inside the header (%zu bytes are there)",
                          in->name, in->size);
}

/* Bytes of the header that every container of this version has. */
static size_t header_size(uint32_t version) {
  if (version < HEARTH_LLVM_FIRST_WITH_HEAP)
    return offsetof(hearth_llvm_header, memprof_offset);
  return version < 9    ? offsetof(hearth_llvm_header, binary_ids_offset)
         : version < 10 ? offsetof(hearth_llvm_header, traces_offset)
         : version < 12 ? offsetof(hearth_llvm_header, vtables_offset)
                        : sizeof(hearth_llvm_header);
}

static hearth_status container_read_header(const hearth_llvm_input *in, hearth_llvm_header *ret) {
  memset(ret, 0, sizeof *ret);
  if (in->size < offsetof(hearth_llvm_header, memprof_offset))
    return container_truncated(in);
  memcpy(ret, in->data, offsetof(hearth_llvm_header, memprof_offset));
  uint32_t version = (uint32_t)(ret->version & HEARTH_LLVM_VERSION_MASK);
  if (version > HEARTH_LLVM_LAST_CONTAINER)
    return hearth_error_set(
        in->err, HEARTH_E_VERSION,
        "%s: container version %u of llvm-profdata; this release of Hearth reads up to %u (LLVM 22)", in->name, version,
        HEARTH_LLVM_LAST_CONTAINER);
  if (in->size < header_size(version))
    return container_truncated(in);
  memcpy(ret, in->data, header_size(version));
  return HEARTH_OK;
}

/* The table of functions is where a reader of counters begins; without entries there are no counters. */
static hearth_status has_functions(const hearth_llvm_input *in, const hearth_llvm_header *header, bool *ret) {
  hearth_llvm_cursor c;
  hearth_llvm_table table;
  HEARTH_TRY(hearth_llvm_part(in, header->functions_offset, in->size, "the table of functions", &c));
  HEARTH_TRY(hearth_llvm_take(&c, &table, sizeof table));
  *ret = table.entries > 0;
  return HEARTH_OK;
}

static uint64_t trailer_checksum(const hearth_trailer *trailer) {
  return XXH3_64bits(trailer, offsetof(hearth_trailer, checksum));
}

/* A profile of ours, even its first byte, without the trailer that leads to it: the file was cut or something was put
 * behind it. llvm-profdata writes a whole number of u64. */
static hearth_status refuse_lost_trailer(const hearth_llvm_input *in, uint64_t begin) {
  static const uint64_t magic = HEARTH_INDEXED_MAGIC;
  for (uint64_t at = begin < in->size ? (begin + 7) / 8 * 8 : in->size; at < in->size; at += 8) {
    uint64_t left = in->size - at;
    if (memcmp(in->data + at, &magic, left < sizeof magic ? left : sizeof magic) == 0)
      return hearth_error_set(
          in->err, HEARTH_E_TRUNCATED,
          "%s: offset %llu: a profile of Hearth begins, but the file does not end with its trailer: "
          "it was cut short or appended to; make it again with 'hearth merge'",
          in->name, (unsigned long long)at);
  }
  return HEARTH_OK;
}

/* Behind all numbers of LLVM's that could happen to be our magic: the last control block of the section. One that
 * cannot be read is found out by its reader. */
static uint64_t trailer_search_begin(const hearth_llvm_input *in, const hearth_llvm_header *header) {
  hearth_error ignored;
  hearth_llvm_input quiet = {in->name, in->data, in->size, &ignored};
  hearth_llvm_section section;
  if (!(header->version & HEARTH_LLVM_FLAG_MEMPROF) ||
      hearth_llvm_section_open(&quiet, header->memprof_offset, &section) != HEARTH_OK)
    return header->functions_offset;
  uint64_t last = section.records_control > section.stacks_control ? section.records_control : section.stacks_control;
  return last > header->functions_offset ? last : header->functions_offset;
}

/* A container does not end before this. */
static uint64_t least_end(const hearth_llvm_header *header) {
  uint64_t head = header_size((uint32_t)(header->version & HEARTH_LLVM_VERSION_MASK));
  uint64_t table_end = header->functions_offset + sizeof(hearth_llvm_table);
  return head > table_end ? head : table_end;
}

static hearth_status find_trailer(const hearth_llvm_input *in, const hearth_llvm_header *header,
                                  hearth_llvm_contents *ret) {
  hearth_trailer trailer = {0};
  uint64_t end = in->size - sizeof trailer;
  if (in->size >= sizeof trailer)
    memcpy(&trailer, in->data + end, sizeof trailer);
  if (trailer.magic != HEARTH_TRAILER_MAGIC)
    return refuse_lost_trailer(in, trailer_search_begin(in, header));
  if (trailer.checksum != trailer_checksum(&trailer) || trailer.offset < least_end(header) || trailer.offset > end ||
      trailer.offset % 8 != 0 || trailer.size != end - trailer.offset)
    return hearth_error_set(in->err, HEARTH_E_CORRUPT,
                            "%s: offset %llu: the trailer is corrupt; make the file again with 'hearth merge'",
                            in->name, (unsigned long long)end);
  ret->trailer_offset = trailer.offset;
  ret->trailer_size = trailer.size;
  return HEARTH_OK;
}

hearth_status hearth_llvm_inspect(const void *data, size_t size, const char *name, hearth_llvm_contents *ret,
                                  hearth_error *err) {
  hearth_llvm_input in = {name, data, size, err};
  hearth_llvm_header header;
  *ret = (hearth_llvm_contents){0};
  if (!hearth_llvm_is_container(data, size))
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not an indexed profile of llvm-profdata", name);
  HEARTH_TRY(container_read_header(&in, &header));
  ret->container_version = (uint32_t)(header.version & HEARTH_LLVM_VERSION_MASK);
  HEARTH_TRY(has_functions(&in, &header, &ret->has_functions));
  if (header.version & HEARTH_LLVM_FLAG_MEMPROF) {
    if (header.memprof_offset == 0)
      return hearth_llvm_corrupt(&in, offsetof(hearth_llvm_header, memprof_offset),
                                 "it says that it has a heap profile, but not where");
    ret->section_offset = header.memprof_offset;
  }
  return find_trailer(&in, &header, ret);
}

/* -------------------------------------------------- write -------------------------------------------------- */

/* The cutoffs of the summary of function counters, in parts per million; readers expect the list even where there
 * are no functions. */
static const uint32_t summary_cutoffs[] = {10000,  100000, 200000, 300000, 400000, 500000, 600000, 700000,
                                           800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999};

enum { SUMMARY_FIELDS = 6, SUMMARY_CUTOFFS = sizeof summary_cutoffs / sizeof summary_cutoffs[0] };

/* Oldest container of the LLVM releases that read what we write: all of them read it. */
enum { WRITTEN_CONTAINER = 12 };

/* Summary of no functions, and the table of none. */
static void put_no_functions(hearth_llvm_buffer *out) {
  hearth_llvm_put_u64(out, SUMMARY_FIELDS);
  hearth_llvm_put_u64(out, SUMMARY_CUTOFFS);
  for (size_t i = 0; i < SUMMARY_FIELDS; i++)
    hearth_llvm_put_u64(out, 0);
  for (size_t i = 0; i < SUMMARY_CUTOFFS; i++) {
    hearth_llvm_put_u64(out, summary_cutoffs[i]);
    hearth_llvm_put_u64(out, 0); /* least count, number of counts */
    hearth_llvm_put_u64(out, 0);
  }
  hearth_llvm_patch_u64(out, offsetof(hearth_llvm_header, functions_offset), out->size);
  hearth_llvm_put_u64(out, 1); /* bucket */
  hearth_llvm_put_u64(out, 0); /* entries */
  hearth_llvm_put_u64(out, 0); /* where the bucket is */
}

static void put_header(hearth_llvm_buffer *out) {
  hearth_llvm_header header = {.magic = HEARTH_LLVM_INDEXED_MAGIC, .version = WRITTEN_CONTAINER};
  hearth_llvm_put(out, &header, sizeof header);
  put_no_functions(out);
  hearth_llvm_patch_u64(out, offsetof(hearth_llvm_header, binary_ids_offset), out->size);
  hearth_llvm_put_u64(out, 0); /* bytes of binary ids */
  hearth_llvm_patch_u64(out, offsetof(hearth_llvm_header, vtables_offset), out->size);
  hearth_llvm_put_u64(out, 0); /* bytes of names of vtables */
}

/* The first `end` bytes of a container without its MemProf section. The bytes behind that move up: they hold no offsets
 * of their own. */
static hearth_status put_without_section(hearth_llvm_buffer *out, const hearth_llvm_input *in, uint64_t end) {
  hearth_llvm_header header;
  HEARTH_TRY(container_read_header(in, &header));
  uint64_t begin = header.memprof_offset, next = end;
  uint64_t *const moved[] = {&header.binary_ids_offset, &header.traces_offset, &header.vtables_offset};
  size_t head = header_size((uint32_t)(header.version & HEARTH_LLVM_VERSION_MASK));
  if (begin < least_end(&header) || begin > end)
    return hearth_llvm_corrupt(in, offsetof(hearth_llvm_header, memprof_offset),
                               "its heap profile is not behind its function counters");
  for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
    if (*moved[i] == begin)
      return hearth_llvm_corrupt(in, offsetof(hearth_llvm_header, memprof_offset),
                                 "its heap profile begins where another part does");
    if (*moved[i] > begin && *moved[i] < next)
      next = *moved[i];
  }
  for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
    if (*moved[i] >= next)
      *moved[i] -= next - begin;
  header.version &= ~HEARTH_LLVM_FLAG_MEMPROF;
  header.memprof_offset = 0;
  hearth_llvm_put(out, &header, head);
  hearth_llvm_put(out, in->data + head, begin - head);
  hearth_llvm_put(out, in->data + next, end - next);
  return HEARTH_OK;
}

/* Data behind a file that was cut would stand where its header has other parts. */
static hearth_status check_parts(const hearth_llvm_input *in, uint64_t end) {
  static const size_t fields[] = {offsetof(hearth_llvm_header, binary_ids_offset),
                                  offsetof(hearth_llvm_header, traces_offset),
                                  offsetof(hearth_llvm_header, vtables_offset)};
  hearth_llvm_header header;
  HEARTH_TRY(container_read_header(in, &header));
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    uint64_t offset;
    memcpy(&offset, (const char *)&header + fields[i], sizeof offset);
    if (offset >= end && offset > 0)
      return hearth_error_set(in->err, HEARTH_E_TRUNCATED,
                              "%s: offset %zu: a part is said to begin at %llu, but the file ends at %llu: it was cut "
                              "short; make it again with llvm-profdata",
                              in->name, fields[i], (unsigned long long)offset, (unsigned long long)end);
  }
  return HEARTH_OK;
}

/* Without the heap profile that it has: another one takes its place. */
static hearth_status put_base(hearth_llvm_buffer *out, const hearth_llvm_output *output, hearth_error *err) {
  hearth_llvm_input in = {output->base_name, output->base, output->base_size, err};
  hearth_llvm_contents contents;
  HEARTH_TRY(hearth_llvm_inspect(in.data, in.size, in.name, &contents, err));
  if (output->section && contents.container_version < HEARTH_LLVM_FIRST_WITH_HEAP)
    return hearth_error_set(err, HEARTH_E_VERSION,
                            "%s: container version %u holds no MemProf section (%u and newer do): write Hearth's "
                            "format, which goes behind it",
                            output->base_name, contents.container_version, HEARTH_LLVM_FIRST_WITH_HEAP);
  uint64_t end = contents.trailer_size ? contents.trailer_offset : in.size;
  HEARTH_TRY(check_parts(&in, end));
  if (contents.section_offset)
    return put_without_section(out, &in, end);
  hearth_llvm_put(out, in.data, end);
  return HEARTH_OK;
}

static void flag_section(hearth_llvm_buffer *out) {
  uint64_t version = 0;
  if (!out->failed)
    memcpy(&version, out->data + offsetof(hearth_llvm_header, version), sizeof version);
  hearth_llvm_patch_u64(out, offsetof(hearth_llvm_header, version), version | HEARTH_LLVM_FLAG_MEMPROF);
}

static void put_trailer(hearth_llvm_buffer *out, const hearth_llvm_output *output) {
  hearth_llvm_align(out);
  hearth_trailer trailer = {.offset = out->size, .size = output->trailer_size, .magic = HEARTH_TRAILER_MAGIC};
  trailer.checksum = trailer_checksum(&trailer);
  hearth_llvm_put(out, output->trailer, output->trailer_size);
  hearth_llvm_put(out, &trailer, sizeof trailer);
}

static hearth_status container_put_all(hearth_llvm_buffer *out, hearth_profile *profile,
                                       const hearth_llvm_output *output, hearth_llvm_losses *losses,
                                       hearth_error *err) {
  if (output->base)
    HEARTH_TRY(put_base(out, output, err));
  else
    put_header(out);
  if (output->section) {
    hearth_llvm_align(out);
    hearth_llvm_patch_u64(out, offsetof(hearth_llvm_header, memprof_offset), out->size);
    flag_section(out);
    HEARTH_TRY(hearth_llvm_put_section(out, profile, output->section, losses, err));
  }
  if (output->trailer)
    put_trailer(out, output);
  return out->failed ? hearth_error_nomem(err) : HEARTH_OK;
}

hearth_status hearth_llvm_write_memory(hearth_profile *profile, const hearth_llvm_output *output, void **ret_data,
                                       size_t *ret_size, hearth_llvm_losses *ret_losses, hearth_error *err) {
  hearth_llvm_buffer out = {0};
  hearth_llvm_losses losses = {0};
  hearth_status status = container_put_all(&out, profile, output, &losses, err);
  if (status != HEARTH_OK) {
    free(out.data);
    return status;
  }
  *ret_data = out.data;
  *ret_size = out.size;
  if (ret_losses)
    *ret_losses = losses;
  return HEARTH_OK;
}

/* ------------------------------------------------ hash table ------------------------------------------------ */

/* LLVM's on-disk hash tables, read from the first item to the last. */

enum { LEAST_ITEM = 4 * sizeof(uint64_t) };

hearth_status hearth_llvm_items_begin(const hearth_llvm_input *in, uint64_t payload, uint64_t control,
                                      hearth_llvm_items *ret) {
  hearth_llvm_cursor c;
  hearth_llvm_table table;
  *ret = (hearth_llvm_items){.left = 0};
  HEARTH_TRY(hearth_llvm_part(in, payload, control, "a hash table", &ret->payload));
  HEARTH_TRY(hearth_llvm_part(in, control, in->size, "a hash table's control block", &c));
  HEARTH_TRY(hearth_llvm_take(&c, &table, sizeof table));
  if (table.entries > (control - payload) / LEAST_ITEM)
    return hearth_llvm_corrupt(in, control, "a hash table has more entries than it has room for");
  ret->left = table.entries;
  return HEARTH_OK;
}

static hearth_status container_finish(const hearth_llvm_items *items) {
  if (items->left_in_bucket > 0 || hearth_llvm_left(&items->payload) >= sizeof(uint64_t))
    return hearth_llvm_corrupt(items->payload.in, items->payload.at, "a hash table has more items than it counts");
  return HEARTH_OK;
}

hearth_status hearth_llvm_items_next(hearth_llvm_items *items, bool *ret_end, uint64_t *ret_key,
                                     hearth_llvm_cursor *ret_data) {
  hearth_llvm_cursor *c = &items->payload;
  *ret_end = items->left == 0;
  if (*ret_end)
    return container_finish(items);

  uint64_t at = c->at, hash, key, key_length, data_length;
  if (items->left_in_bucket == 0)
    HEARTH_TRY(hearth_llvm_take(c, &items->left_in_bucket, sizeof items->left_in_bucket));
  if (items->left_in_bucket == 0)
    return hearth_llvm_corrupt(c->in, at, "a bucket without items");
  HEARTH_TRY(hearth_llvm_take(c, &hash, sizeof hash));
  HEARTH_TRY(hearth_llvm_take(c, &key_length, sizeof key_length));
  HEARTH_TRY(hearth_llvm_take(c, &data_length, sizeof data_length));
  HEARTH_TRY(hearth_llvm_take(c, &key, sizeof key));
  if (key_length != sizeof key || key != hash)
    return hearth_llvm_corrupt(c->in, at, "a hash table's item has an impossible key");
  items->left_in_bucket--;
  items->left--;
  *ret_key = key;
  return hearth_llvm_split(c, data_length, ret_data);
}

uint64_t hearth_llvm_bucket_count(uint64_t entries) {
  uint64_t wanted = entries * 4 / 3, buckets = 1;
  if (entries <= 2)
    return 1;
  while (buckets <= wanted)
    buckets *= 2;
  return buckets;
}
