/* Reads an indexed profile in place. Every load goes through touch(), which checks bounds and, once for each block, the
 * checksum. References between tables are checked when they are followed. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "hearth/builder.h"
#include "hearth/ids.h"
#include "hearth/llvm_profile.h"
#include "hearth/profile.h"
#include "hearth/raw.h"
#include "hearth/raw_llvm.h"
#include "packed.h"
#include "reader_internal.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the format is little-endian and this file loads structs as they are: add byte swaps for this machine"
#endif

#define MAGIC_LLVM_INSTR_RAW UINT64_C(0xff6c70726f667281) /* llvm's .profraw of -fprofile-generate */

typedef struct packed_table {
  uint32_t section;
  size_t column_count;
  hearth_indexed_column columns[HEARTH_PACKED_COLUMNS];
  uint64_t starts, blocks; /* offsets in the file */
} packed_table;

/* A block of STACKS that was decoded. Whoever walks up a stack comes through the same blocks again and again. */
typedef struct stack_block {
  uint32_t number; /* one more than the block's; 0: empty */
  uint64_t values[HEARTH_STACK_COLUMNS][HEARTH_PACKED_ROWS];
} stack_block;

enum { STACK_BLOCKS_KEPT = 64 };

struct hearth_profile {
  const uint8_t *data;
  size_t size;
  hearth_file file; /* that they are in; not ours unless mapped */
  void *converted;  /* the bytes, made from another form; NULL: not so */
  char *name;
  hearth_indexed_header header;
  hearth_indexed_section sections[HEARTH_SECTION_CHECKSUMS + 1]; /* by id; all zero where the file has none */
  packed_table stacks, contexts;
  stack_block stack_blocks[STACK_BLOCKS_KEPT]; /* each at its number modulo their count */
  int mib_columns[HEARTH_PACKED_COLUMNS];      /* what each column of `contexts` is in a hearth_mib, or -1 */
  uint32_t bucket_bits;
  uint8_t *checked; /* one bit for each block whose checksum was found right */
};

hearth_status hearth_profile_corrupt(const hearth_profile *profile, hearth_error *err, const char *format, ...) {
  char detail[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(detail, sizeof detail, format, arguments);
  va_end(arguments);
  return hearth_error_set(err, HEARTH_E_CORRUPT, "%s: the profile is corrupt: %s; make it again with 'hearth index'",
                          profile->name, detail);
}

/* -------------------------------------------------- access -------------------------------------------------- */

static const hearth_indexed_section *section(const hearth_profile *profile, uint32_t id) {
  return &profile->sections[id];
}

static uint64_t load64(const uint8_t *from) {
  uint64_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

static hearth_status check_block(hearth_profile *profile, size_t block, hearth_error *err) {
  if (profile->checked[block / 8] & (1u << block % 8))
    return HEARTH_OK;
  const hearth_indexed_section *checksums = section(profile, HEARTH_SECTION_CHECKSUMS);
  size_t begin = block * HEARTH_BLOCK_SIZE, end = begin + HEARTH_BLOCK_SIZE;
  if (end > checksums->offset)
    end = checksums->offset;
  if (XXH3_64bits(profile->data + begin, end - begin) != load64(profile->data + checksums->offset + block * 8))
    return hearth_profile_corrupt(profile, err, "wrong checksum of bytes %zu to %zu", begin, end - 1);
  profile->checked[block / 8] |= (uint8_t)(1u << block % 8);
  return HEARTH_OK;
}

/* The bytes [offset, offset + size) of the file, which lie before the checksums. */
static hearth_status touch(hearth_profile *profile, uint64_t offset, uint64_t size, const uint8_t **ret,
                           hearth_error *err) {
  uint64_t end = section(profile, HEARTH_SECTION_CHECKSUMS)->offset;
  if (offset > end || size > end - offset)
    return hearth_profile_corrupt(profile, err, "a reference to offset %llu leads outside", (unsigned long long)offset);
  for (size_t block = offset / HEARTH_BLOCK_SIZE; size && block <= (offset + size - 1) / HEARTH_BLOCK_SIZE; block++)
    HEARTH_TRY(check_block(profile, block, err));
  *ret = profile->data + offset;
  return HEARTH_OK;
}

/* Copies row `row` of a table, which has rows of `row_size` bytes; `what` names it in messages. */
static hearth_status read_row(hearth_profile *profile, uint32_t id, uint32_t row, void *ret, size_t row_size,
                              const char *what, hearth_error *err) {
  const uint8_t *from;
  if (row >= section(profile, id)->count)
    return hearth_profile_corrupt(profile, err, "there is no %s %u", what, row);
  HEARTH_TRY(touch(profile, section(profile, id)->offset + (uint64_t)row * row_size, row_size, &from, err));
  memcpy(ret, from, row_size);
  return HEARTH_OK;
}

hearth_status hearth_profile_get_string(hearth_profile *profile, uint32_t offset, const char **ret, hearth_error *err) {
  const hearth_indexed_section *strings = section(profile, HEARTH_SECTION_STRINGS);
  if (offset >= strings->size)
    return hearth_profile_corrupt(profile, err, "there is no string at %u", offset);
  for (uint64_t at = strings->offset + offset, end = strings->offset + strings->size; at < end;) {
    const uint8_t *part;
    uint64_t size = HEARTH_BLOCK_SIZE - at % HEARTH_BLOCK_SIZE;
    size = size < end - at ? size : end - at;
    HEARTH_TRY(touch(profile, at, size, &part, err));
    if (memchr(part, 0, size)) {
      *ret = (const char *)profile->data + strings->offset + offset;
      return HEARTH_OK;
    }
    at += size;
  }
  return hearth_profile_corrupt(profile, err, "the string at %u does not end", offset);
}

hearth_status hearth_profile_check_blocks(hearth_profile *profile, hearth_error *err) {
  const uint8_t *from;
  return touch(profile, 0, section(profile, HEARTH_SECTION_CHECKSUMS)->offset, &from, err);
}

size_t hearth_profile_blocks_checked(const hearth_profile *profile) {
  size_t blocks = 0;
  for (size_t i = 0; i <= section(profile, HEARTH_SECTION_CHECKSUMS)->count / 8; i++)
    blocks += (size_t)__builtin_popcount(profile->checked[i]);
  return blocks;
}

uint32_t hearth_profile_strings_size(const hearth_profile *profile) {
  return (uint32_t)section(profile, HEARTH_SECTION_STRINGS)->size;
}

/* -------------------------------------------------- open -------------------------------------------------- */

/* What the file is instead, and what to do about it; NULL if nothing we know. */
static const char *describe_foreign(const uint8_t *data, size_t size) {
  if (hearth_is_text_profile(data, size))
    return "is the text form of a profile; convert it with 'hearth index'";
  if (size >= 4 && memcmp(data, "\177ELF", 4) == 0)
    return "is a program or library, not a profile";
  switch (size >= 8 ? load64(data) : 0) {
  case HEARTH_RAW_MAGIC:
    return "is a raw profile of Hearth; turn it into an indexed one with 'hearth index'";
  case HEARTH_LLVM_RAW_MAGIC:
    return "is a raw profile of LLVM's MemProf; turn it into an indexed one with 'hearth index'";
  case MAGIC_LLVM_INSTR_RAW:
    return "is a raw profile of -fprofile-generate, which says nothing about the heap";
  default:
    return NULL;
  }
}

static hearth_status refuse_foreign(const hearth_profile *profile, hearth_error *err) {
  char begin[9] = {0};
  const char *what = describe_foreign(profile->data, profile->size);
  if (what)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: not an indexed Hearth profile: it %s", profile->name, what);
  for (size_t i = 0; i < sizeof begin - 1 && i < profile->size; i++)
    begin[i] = profile->data[i] < 128 && isprint(profile->data[i]) ? (char)profile->data[i] : '.';
  return hearth_error_set(err, HEARTH_E_FORMAT,
                          "%s: not an indexed Hearth profile (starts with '%s'); make one with 'hearth index'",
                          profile->name, begin);
}

static hearth_status truncated(const hearth_profile *profile, uint64_t expected, hearth_error *err) {
  return hearth_error_set(err, HEARTH_E_TRUNCATED,
                          "%s: the profile is truncated: %zu of %llu bytes are there; make it again with 'hearth "
                          "index'",
                          profile->name, profile->size, (unsigned long long)expected);
}

static hearth_status read_header(hearth_profile *profile, hearth_error *err) {
  hearth_indexed_header *header = &profile->header;
  uint64_t magic = HEARTH_INDEXED_MAGIC;
  if (profile->size == 0)
    return hearth_error_set(err, HEARTH_E_FORMAT, "%s: the file is empty; make a profile with 'hearth index'",
                            profile->name);
  size_t begin = profile->size < sizeof magic ? profile->size : sizeof magic;
  if (memcmp(profile->data, &magic, begin) != 0)
    return refuse_foreign(profile, err);
  if (profile->size < sizeof *header)
    return truncated(profile, sizeof *header, err);
  memcpy(header, profile->data, sizeof *header);
  if (header->version != HEARTH_INDEXED_VERSION || header->required_flags & ~HEARTH_FLAG_ACCESSES)
    return hearth_error_set(err, HEARTH_E_VERSION,
                            "%s: format version %u with flags %#x; this release of Hearth reads version %u: use a "
                            "newer one or make the profile again",
                            profile->name, header->version, header->required_flags, HEARTH_INDEXED_VERSION);
  if (profile->size < header->file_size)
    return truncated(profile, header->file_size, err);
  if (profile->size > header->file_size)
    return hearth_profile_corrupt(profile, err, "%llu bytes follow its end",
                                  (unsigned long long)(profile->size - header->file_size));
  return HEARTH_OK;
}

static hearth_status check_header_checksum(const hearth_profile *profile, hearth_error *err) {
  const hearth_indexed_header *header = &profile->header;
  if (header->header_size < sizeof *header || header->header_size > profile->size ||
      header->section_count > (profile->size - header->header_size) / sizeof(hearth_indexed_section))
    return hearth_profile_corrupt(profile, err, "its header or section table exceeds the file");
  size_t at = offsetof(hearth_indexed_header, checksum), behind = at + sizeof header->checksum;
  size_t covered = header->header_size + header->section_count * sizeof(hearth_indexed_section);
  uint64_t zero = 0;
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, profile->data, at);
  XXH3_64bits_update(&state, &zero, sizeof zero);
  XXH3_64bits_update(&state, profile->data + behind, covered - behind);
  if (XXH3_64bits_digest(&state) != header->checksum)
    return hearth_profile_corrupt(profile, err, "wrong checksum of the header");
  if (header->id_scheme != HEARTH_IDS_HEARTH && header->id_scheme != HEARTH_IDS_LLVM)
    return hearth_error_set(err, HEARTH_E_VERSION,
                            "%s: function ids of scheme %u, which this release of Hearth does not know", profile->name,
                            header->id_scheme);
  return HEARTH_OK;
}

/* Bytes of a row where a section is a table that this reader knows; 0 otherwise. */
static uint32_t row_size(uint32_t id) {
  switch (id) {
  case HEARTH_SECTION_SCHEMA:
    return sizeof(hearth_indexed_field);
  case HEARTH_SECTION_PATHS:
    return sizeof(hearth_indexed_path);
  case HEARTH_SECTION_FUNCTIONS:
    return sizeof(hearth_indexed_function);
  case HEARTH_SECTION_BUCKETS:
    return sizeof(uint32_t);
  case HEARTH_SECTION_FRAMES:
    return sizeof(hearth_indexed_frame);
  case HEARTH_SECTION_BINARIES:
    return sizeof(hearth_indexed_binary);
  case HEARTH_SECTION_CHECKSUMS:
    return sizeof(uint64_t);
  default:
    return 0;
  }
}

static hearth_status read_sections(hearth_profile *profile, hearth_error *err) {
  const hearth_indexed_header *header = &profile->header;
  for (uint32_t i = 0; i < header->section_count; i++) {
    hearth_indexed_section s;
    memcpy(&s, profile->data + header->header_size + i * sizeof s, sizeof s);
    if (s.offset % 8 != 0 || s.offset > profile->size || s.size > profile->size - s.offset)
      return hearth_profile_corrupt(profile, err, "section %u lies outside the file", s.id);
    if (s.id == 0 || s.id > HEARTH_SECTION_CHECKSUMS)
      continue;
    if (row_size(s.id) && s.size != (uint64_t)s.count * row_size(s.id))
      return hearth_profile_corrupt(profile, err, "section %u has a wrong size", s.id);
    if (profile->sections[s.id].id != 0)
      return hearth_profile_corrupt(profile, err, "section %u occurs twice", s.id);
    profile->sections[s.id] = s;
  }
  for (uint32_t id = 1; id <= HEARTH_SECTION_CHECKSUMS; id++)
    if (profile->sections[id].id == 0)
      return hearth_profile_corrupt(profile, err, "section %u is missing", id);
  if (section(profile, HEARTH_SECTION_STRINGS)->size > UINT32_MAX)
    return hearth_profile_corrupt(profile, err, "its strings exceed 4 GiB");
  for (uint32_t id = 1; id < HEARTH_SECTION_CHECKSUMS; id++)
    if (profile->sections[id].offset + profile->sections[id].size > section(profile, HEARTH_SECTION_CHECKSUMS)->offset)
      return hearth_profile_corrupt(profile, err, "section %u is not covered by the checksums", id);
  return HEARTH_OK;
}

static hearth_status prepare_checksums(hearth_profile *profile, hearth_error *err) {
  const hearth_indexed_section *checksums = section(profile, HEARTH_SECTION_CHECKSUMS);
  uint64_t blocks = (checksums->offset + HEARTH_BLOCK_SIZE - 1) / HEARTH_BLOCK_SIZE;
  if (checksums->count != blocks || checksums->offset + checksums->size != profile->size)
    return hearth_profile_corrupt(profile, err, "it has %u checksums for %llu blocks", checksums->count,
                                  (unsigned long long)blocks);
  profile->checked = calloc(blocks / 8 + 1, 1);
  return profile->checked ? HEARTH_OK : hearth_error_set(err, HEARTH_E_NOMEM, "out of memory");
}

/* Column of the MIB that a tag stands for, or -1. */
static int column_of_tag(uint32_t tag) {
  switch (tag) {
#define HEARTH_MIB_FIELD(tag, Name, unit, merge, ir_bits, ir_default, description)                                     \
  case tag:                                                                                                            \
    return HEARTH_COL_##Name;
#include "hearth/mib_fields.def"
  default:
    return -1;
  }
}

static hearth_status read_columns(hearth_profile *profile, packed_table *table, uint64_t at, hearth_error *err) {
  const uint8_t *from;
  HEARTH_TRY(touch(profile, at, table->column_count * sizeof table->columns[0], &from, err));
  memcpy(table->columns, from, table->column_count * sizeof table->columns[0]);
  for (size_t i = 0; i < table->column_count; i++)
    if (table->columns[i].bits > 64 || (table->columns[i].reference >= i && table->columns[i].reference != HEARTH_NONE))
      return hearth_profile_corrupt(profile, err, "column %zu of section %u is impossible", i, table->section);
  return HEARTH_OK;
}

static uint64_t block_count(uint32_t rows) { return ((uint64_t)rows + HEARTH_PACKED_ROWS - 1) / HEARTH_PACKED_ROWS; }

static hearth_status open_packed(hearth_profile *profile, uint32_t id, packed_table *table, hearth_error *err) {
  const hearth_indexed_section *s = section(profile, id);
  hearth_indexed_packed header;
  const uint8_t *from;
  if (s->size < sizeof header)
    return hearth_profile_corrupt(profile, err, "section %u is cut short", id);
  HEARTH_TRY(touch(profile, s->offset, sizeof header, &from, err));
  memcpy(&header, from, sizeof header);
  uint64_t starts = sizeof header + (uint64_t)header.column_count * sizeof table->columns[0];
  uint64_t blocks = starts + ((block_count(s->count) + 1) * sizeof(uint32_t) + 7) / 8 * 8;
  if (header.column_count > HEARTH_PACKED_COLUMNS || blocks > s->size)
    return hearth_profile_corrupt(profile, err, "section %u is cut short", id);
  *table = (packed_table){
      .section = id, .column_count = header.column_count, .starts = s->offset + starts, .blocks = s->offset + blocks};
  return read_columns(profile, table, s->offset + sizeof header, err);
}

/* The bytes of the block that a row lies in, and how many rows it has; `what` names the row in messages. */
static hearth_status find_block(hearth_profile *profile, const packed_table *table, uint32_t row, const uint8_t **ret,
                                uint64_t *ret_size, uint32_t *ret_rows, const char *what, hearth_error *err) {
  const hearth_indexed_section *s = section(profile, table->section);
  const uint8_t *from;
  uint32_t starts[2], block = row / HEARTH_PACKED_ROWS, rest = s->count - block * HEARTH_PACKED_ROWS;
  HEARTH_TRY(touch(profile, table->starts + block * sizeof starts[0], sizeof starts, &from, err));
  memcpy(starts, from, sizeof starts);
  if (starts[0] > starts[1] || (uint64_t)starts[1] * 8 > s->offset + s->size - table->blocks)
    return hearth_profile_corrupt(profile, err, "the block of %s %u lies outside", what, row);
  *ret_size = (uint64_t)(starts[1] - starts[0]) * 8;
  *ret_rows = rest < HEARTH_PACKED_ROWS ? rest : HEARTH_PACKED_ROWS;
  return touch(profile, table->blocks + (uint64_t)starts[0] * 8, *ret_size, ret, err);
}

static hearth_status read_stack_block(hearth_profile *profile, uint32_t node, stack_block *ret, hearth_error *err) {
  const packed_table *table = &profile->stacks;
  const uint8_t *block;
  uint64_t size;
  uint32_t rows;
  HEARTH_TRY(find_block(profile, table, node, &block, &size, &rows, "stack node", err));
  ret->number = 0;
  if (!packed_decode_block(table->columns, table->column_count, block, size, rows, HEARTH_STACK_COLUMNS, ret->values))
    return hearth_profile_corrupt(profile, err, "the block of stack node %u is cut short", node);
  ret->number = node / HEARTH_PACKED_ROWS + 1;
  return HEARTH_OK;
}

/* The first `wanted` columns of a context. */
static hearth_status read_context(hearth_profile *profile, uint32_t row, size_t wanted, uint64_t *ret_values,
                                  hearth_error *err) {
  const packed_table *table = &profile->contexts;
  const uint8_t *block;
  uint64_t size;
  uint32_t rows;
  if (row >= section(profile, HEARTH_SECTION_CONTEXTS)->count)
    return hearth_profile_corrupt(profile, err, "there is no context %u", row);
  HEARTH_TRY(find_block(profile, table, row, &block, &size, &rows, "context", err));
  if (!packed_decode(table->columns, table->column_count, block, size, rows, row % HEARTH_PACKED_ROWS, wanted,
                     ret_values))
    return hearth_profile_corrupt(profile, err, "the block of context %u is cut short", row);
  return HEARTH_OK;
}

static hearth_status read_schema(hearth_profile *profile, hearth_error *err) {
  uint64_t seen = 0;
  if (profile->stacks.column_count < HEARTH_STACK_COLUMNS)
    return hearth_profile_corrupt(profile, err, "its stacks have too few columns");
  if (section(profile, HEARTH_SECTION_SCHEMA)->count != profile->contexts.column_count)
    return hearth_profile_corrupt(profile, err, "its schema does not describe the columns of its contexts");
  for (uint32_t i = 0; i < profile->contexts.column_count; i++) {
    hearth_indexed_field field;
    HEARTH_TRY(read_row(profile, HEARTH_SECTION_SCHEMA, i, &field, sizeof field, "field", err));
    if ((i == 0) != (field.tag == HEARTH_TAG_StackID))
      return hearth_profile_corrupt(profile, err, "field %u is in the wrong place", field.tag);
    int number = profile->mib_columns[i] = column_of_tag(field.tag);
    if (number >= 0 && seen & UINT64_C(1) << number)
      return hearth_profile_corrupt(profile, err, "field %u occurs twice", field.tag);
    if (number >= 0)
      seen |= UINT64_C(1) << number;
  }
  if (profile->contexts.column_count == 0)
    return hearth_profile_corrupt(profile, err, "its contexts have no stacks");
  return HEARTH_OK;
}

static hearth_status check_buckets(hearth_profile *profile, hearth_error *err) {
  uint64_t buckets = (uint64_t)section(profile, HEARTH_SECTION_BUCKETS)->count - 1;
  if (buckets == 0 || buckets > UINT32_MAX || (buckets & (buckets - 1)) != 0)
    return hearth_profile_corrupt(profile, err, "the number of buckets is no power of two");
  profile->bucket_bits = (uint32_t)__builtin_ctzll(buckets);
  return HEARTH_OK;
}

static hearth_status check_summary(hearth_profile *profile, hearth_error *err) {
  hearth_indexed_summary summary;
  const hearth_indexed_section *s = section(profile, HEARTH_SECTION_SUMMARY);
  const uint8_t *from;
  if (s->size >= sizeof summary) {
    HEARTH_TRY(touch(profile, s->offset, sizeof summary, &from, err));
    memcpy(&summary, from, sizeof summary);
    uint64_t cutoffs = (uint64_t)summary.cold_cutoffs + summary.hot_cutoffs;
    if (cutoffs * sizeof(hearth_indexed_cutoff) <= s->size - sizeof summary)
      return HEARTH_OK;
  }
  return hearth_profile_corrupt(profile, err, "its summary is cut short");
}

/* A MemProf section has no form that can be used in place: it is read whole. */
static hearth_status convert_section(hearth_profile *profile, hearth_error *err) {
  hearth_llvm_left_out left_out;
  hearth_builder *builder = hearth_builder_create(HEARTH_IDS_LLVM);
  if (!builder)
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", profile->name);
  hearth_status status = hearth_llvm_read(profile->data, profile->size, profile->name, builder, &left_out, err);
  if (status == HEARTH_OK)
    status = hearth_builder_write_memory(builder, &profile->converted, &profile->size, err);
  if (status == HEARTH_OK)
    profile->data = profile->converted;
  hearth_builder_destroy(builder);
  return status;
}

/* In a file of llvm-profdata's, the profile is the trailer or, without one, the MemProf section. */
static hearth_status enter_container(hearth_profile *profile, hearth_error *err) {
  hearth_llvm_contents contents;
  if (!hearth_llvm_is_container(profile->data, profile->size))
    return HEARTH_OK;
  HEARTH_TRY(hearth_llvm_inspect(profile->data, profile->size, profile->name, &contents, err));
  if (!contents.trailer_size)
    return convert_section(profile, err);
  profile->data += contents.trailer_offset;
  profile->size = contents.trailer_size;
  return HEARTH_OK;
}

static hearth_status open_parts(hearth_profile *profile, hearth_error *err) {
  HEARTH_TRY(enter_container(profile, err));
  HEARTH_TRY(read_header(profile, err));
  HEARTH_TRY(check_header_checksum(profile, err));
  HEARTH_TRY(read_sections(profile, err));
  HEARTH_TRY(prepare_checksums(profile, err));
  HEARTH_TRY(open_packed(profile, HEARTH_SECTION_STACKS, &profile->stacks, err));
  HEARTH_TRY(open_packed(profile, HEARTH_SECTION_CONTEXTS, &profile->contexts, err));
  HEARTH_TRY(read_schema(profile, err));
  HEARTH_TRY(check_buckets(profile, err));
  return check_summary(profile, err);
}

/* Takes over a mapped file. */
static hearth_status open_bytes(hearth_file file, const char *name, hearth_profile **ret, hearth_error *err) {
  hearth_profile *profile = calloc(1, sizeof *profile);
  *ret = NULL;
  if (!profile || !(profile->name = strdup(name))) {
    free(profile);
    if (file.mapped)
      hearth_file_close(&file);
    return hearth_error_set(err, HEARTH_E_NOMEM, "%s: out of memory", name);
  }
  profile->file = file;
  profile->data = file.data;
  profile->size = file.size;
  hearth_status status = open_parts(profile, err);
  if (status == HEARTH_OK)
    *ret = profile;
  else
    hearth_profile_close(profile);
  return status;
}

hearth_status hearth_profile_open_memory(const void *data, size_t size, const char *name, hearth_profile **ret,
                                         hearth_error *err) {
  return open_bytes((hearth_file){.data = data, .size = size}, name, ret, err);
}

hearth_status hearth_profile_open(const char *path, hearth_profile **ret, hearth_error *err) {
  hearth_file file;
  *ret = NULL;
  HEARTH_TRY(hearth_file_map(path, &file, err));
  return open_bytes(file, path, ret, err);
}

void hearth_profile_close(hearth_profile *profile) {
  if (!profile)
    return;
  if (profile->file.mapped)
    hearth_file_close(&profile->file);
  free(profile->converted);
  free(profile->name);
  free(profile->checked);
  free(profile);
}

/* -------------------------------------------------- rows -------------------------------------------------- */

uint32_t hearth_profile_function_count(const hearth_profile *profile) {
  return section(profile, HEARTH_SECTION_FUNCTIONS)->count;
}

uint32_t hearth_profile_frame_count(const hearth_profile *profile) {
  return section(profile, HEARTH_SECTION_FRAMES)->count;
}

uint32_t hearth_profile_stack_count(const hearth_profile *profile) {
  return section(profile, HEARTH_SECTION_STACKS)->count;
}

uint32_t hearth_profile_context_count(const hearth_profile *profile) {
  return section(profile, HEARTH_SECTION_CONTEXTS)->count;
}

uint32_t hearth_profile_binary_count(const hearth_profile *profile) {
  return section(profile, HEARTH_SECTION_BINARIES)->count;
}

uint32_t hearth_profile_path_count(const hearth_profile *profile) {
  return section(profile, HEARTH_SECTION_PATHS)->count;
}

static hearth_status read_summary(hearth_profile *profile, hearth_indexed_summary *ret, hearth_error *err) {
  const uint8_t *from;
  HEARTH_TRY(touch(profile, section(profile, HEARTH_SECTION_SUMMARY)->offset, sizeof *ret, &from, err));
  memcpy(ret, from, sizeof *ret);
  return HEARTH_OK;
}

hearth_status hearth_profile_get_summary(hearth_profile *profile, hearth_profile_summary *ret, hearth_error *err) {
  hearth_indexed_summary stored;
  HEARTH_TRY(read_summary(profile, &stored, err));
  *ret = (hearth_profile_summary){.runs = stored.runs,
                                  .duration_ns = stored.duration_ns,
                                  .total_allocs = stored.total_allocs,
                                  .total_bytes = stored.total_bytes,
                                  .total_accesses = stored.total_accesses,
                                  .dropped_blocks = stored.dropped_blocks,
                                  .dropped_frames = stored.dropped_frames,
                                  .accesses_counted = profile->header.required_flags & HEARTH_FLAG_ACCESSES,
                                  .id_scheme = (enum hearth_id_scheme)profile->header.id_scheme};
  return HEARTH_OK;
}

static hearth_status read_function(hearth_profile *profile, uint32_t row, hearth_indexed_function *ret,
                                   hearth_error *err) {
  return read_row(profile, HEARTH_SECTION_FUNCTIONS, row, ret, sizeof *ret, "function", err);
}

hearth_status hearth_profile_get_bucket(hearth_profile *profile, uint32_t bucket, uint32_t *ret_first,
                                        uint32_t *ret_end, hearth_error *err) {
  HEARTH_TRY(read_row(profile, HEARTH_SECTION_BUCKETS, bucket, ret_first, sizeof *ret_first, "bucket", err));
  HEARTH_TRY(read_row(profile, HEARTH_SECTION_BUCKETS, bucket + 1, ret_end, sizeof *ret_end, "bucket", err));
  if (*ret_first > *ret_end || *ret_end > hearth_profile_function_count(profile))
    return hearth_profile_corrupt(profile, err, "bucket %u has impossible bounds", bucket);
  return HEARTH_OK;
}

uint32_t hearth_profile_bucket_of(const hearth_profile *profile, uint64_t id) {
  return profile->bucket_bits ? (uint32_t)(id >> (64 - profile->bucket_bits)) : 0;
}

hearth_status hearth_profile_find_function(hearth_profile *profile, uint64_t id, uint32_t *ret_row, hearth_error *err) {
  uint32_t first, end;
  HEARTH_TRY(hearth_profile_get_bucket(profile, hearth_profile_bucket_of(profile, id), &first, &end, err));
  while (first < end) {
    hearth_indexed_function f;
    uint32_t middle = first + (end - first) / 2;
    HEARTH_TRY(read_function(profile, middle, &f, err));
    if (f.id == id) {
      *ret_row = middle;
      return HEARTH_OK;
    }
    if (f.id < id)
      first = middle + 1;
    else
      end = middle;
  }
  return HEARTH_E_NOT_FOUND;
}

hearth_status hearth_profile_get_function(hearth_profile *profile, uint32_t row, hearth_function_info *ret,
                                          hearth_error *err) {
  hearth_indexed_function f, next = {.first_frame = hearth_profile_frame_count(profile)};
  HEARTH_TRY(read_function(profile, row, &f, err));
  if (row + 1 < hearth_profile_function_count(profile))
    HEARTH_TRY(read_function(profile, row + 1, &next, err));
  if (f.first_frame > next.first_frame || next.first_frame > hearth_profile_frame_count(profile))
    return hearth_profile_corrupt(profile, err, "function %u has impossible frames", row);
  if (f.path != HEARTH_NONE && f.path >= hearth_profile_path_count(profile))
    return hearth_profile_corrupt(profile, err, "function %u has path %u, which does not exist", row, f.path);
  *ret = (hearth_function_info){.id = f.id,
                                .path = f.path,
                                .start_line = f.start_line,
                                .first_frame = f.first_frame,
                                .frame_count = next.first_frame - f.first_frame};
  return hearth_profile_get_string(profile, f.name, &ret->name, err);
}

static hearth_status read_frame(hearth_profile *profile, uint32_t row, hearth_indexed_frame *ret, hearth_error *err) {
  return read_row(profile, HEARTH_SECTION_FRAMES, row, ret, sizeof *ret, "frame", err);
}

hearth_status hearth_profile_get_frame(hearth_profile *profile, uint32_t row, hearth_frame_info *ret,
                                       hearth_error *err) {
  hearth_indexed_frame f, next = {.first_context = hearth_profile_context_count(profile)};
  hearth_indexed_function function;
  HEARTH_TRY(read_frame(profile, row, &f, err));
  if (row + 1 < hearth_profile_frame_count(profile))
    HEARTH_TRY(read_frame(profile, row + 1, &next, err));
  if (f.first_context > next.first_context || next.first_context > hearth_profile_context_count(profile))
    return hearth_profile_corrupt(profile, err, "frame %u has impossible contexts", row);
  HEARTH_TRY(read_function(profile, f.function, &function, err));
  bool known = f.line != HEARTH_LINE_UNKNOWN && f.column != 0;
  *ret = (hearth_frame_info){.function = f.function,
                             .line = f.line,
                             .column = f.column,
                             .discriminator = f.discriminator,
                             .inlined = f.flags & HEARTH_FRAME_INLINED,
                             .stack_id = known ? hearth_stack_id(function.id, f.line, f.column) : 0,
                             .first_context = f.first_context,
                             .context_count = next.first_context - f.first_context};
  return HEARTH_OK;
}

hearth_status hearth_profile_get_stack(hearth_profile *profile, uint32_t node, uint32_t *ret_frame,
                                       uint32_t *ret_parent, hearth_error *err) {
  stack_block *block = &profile->stack_blocks[node / HEARTH_PACKED_ROWS % STACK_BLOCKS_KEPT];
  if (node >= hearth_profile_stack_count(profile))
    return hearth_profile_corrupt(profile, err, "there is no stack node %u", node);
  if (block->number != node / HEARTH_PACKED_ROWS + 1)
    HEARTH_TRY(read_stack_block(profile, node, block, err));
  uint64_t frame = block->values[HEARTH_STACK_FRAME][node % HEARTH_PACKED_ROWS];
  uint64_t up = block->values[HEARTH_STACK_UP][node % HEARTH_PACKED_ROWS];
  if (up > node) /* following parents ends, as each is lower */
    return hearth_profile_corrupt(profile, err, "stack node %u comes before its parent", node);
  if (frame >= hearth_profile_frame_count(profile))
    return hearth_profile_corrupt(profile, err, "stack node %u has frame %llu, which does not exist", node,
                                  (unsigned long long)frame);
  *ret_frame = (uint32_t)frame;
  *ret_parent = node - 1 - (uint32_t)up; /* HEARTH_NONE is -1 */
  return HEARTH_OK;
}

hearth_status hearth_profile_get_context(hearth_profile *profile, uint32_t row, uint32_t *ret_stack,
                                         hearth_mib *ret_mib, hearth_error *err) {
  uint64_t values[HEARTH_PACKED_COLUMNS];
  size_t wanted = ret_mib ? profile->contexts.column_count : 1;
  HEARTH_TRY(read_context(profile, row, wanted, values, err));
  if (values[0] >= hearth_profile_stack_count(profile))
    return hearth_profile_corrupt(profile, err, "context %u has stack node %llu, which does not exist", row,
                                  (unsigned long long)values[0]);
  if (ret_stack)
    *ret_stack = (uint32_t)values[0];
  if (!ret_mib)
    return HEARTH_OK;
  memset(ret_mib, 0, sizeof *ret_mib);
  for (size_t i = 0; i < wanted; i++)
    if (profile->mib_columns[i] >= 0)
      ret_mib->v[profile->mib_columns[i]] = values[i];
  return HEARTH_OK;
}

hearth_status hearth_profile_get_path_row(hearth_profile *profile, uint32_t row, const char **ret_name,
                                          uint32_t *ret_parent, hearth_error *err) {
  hearth_indexed_path p;
  HEARTH_TRY(read_row(profile, HEARTH_SECTION_PATHS, row, &p, sizeof p, "path", err));
  if (p.parent != HEARTH_NONE && p.parent >= row)
    return hearth_profile_corrupt(profile, err, "path %u comes before its parent", row);
  *ret_parent = p.parent;
  return hearth_profile_get_string(profile, p.name, ret_name, err);
}

/* The limit also keeps a file of nothing but one endless path from costing quadratic time. */
static hearth_status path_length(hearth_profile *profile, uint32_t row, size_t *ret, hearth_error *err) {
  size_t length = 0, components = 0;
  while (row != HEARTH_NONE) {
    const char *name;
    uint32_t parent;
    HEARTH_TRY(hearth_profile_get_path_row(profile, row, &name, &parent, err));
    length += strlen(name) + (components > 0);
    if (length >= HEARTH_PATH_LIMIT)
      return hearth_profile_corrupt(profile, err, "path %u is too long", row);
    components++;
    row = parent;
  }
  *ret = components == 1 && length == 0 ? 1 : length; /* the root alone is "/" */
  return HEARTH_OK;
}

/* Characters [at, at + n) of a path, as far as they fit. */
static void put_part(char *buffer, size_t size, size_t at, const char *part, size_t n) {
  if (at < size)
    memcpy(buffer + at, part, n < size - at ? n : size - at);
}

hearth_status hearth_profile_get_path(hearth_profile *profile, uint32_t row, char *buffer, size_t size,
                                      hearth_error *err) {
  size_t length = 0;
  HEARTH_TRY(path_length(profile, row, &length, err));
  put_part(buffer, size, 0, "/", length > 0);
  for (size_t end = length; row != HEARTH_NONE;) {
    const char *name;
    HEARTH_TRY(hearth_profile_get_path_row(profile, row, &name, &row, err));
    size_t n = strlen(name);
    put_part(buffer, size, end - n, name, n);
    end -= n;
    if (row != HEARTH_NONE)
      put_part(buffer, size, --end, "/", 1);
  }
  buffer[length < size ? length : size - 1] = '\0';
  return HEARTH_OK;
}

hearth_status hearth_profile_get_binary(hearth_profile *profile, uint32_t row, const char **ret_name,
                                        const uint8_t **ret_build_id, uint32_t *ret_build_id_size, hearth_error *err) {
  hearth_indexed_binary b;
  HEARTH_TRY(read_row(profile, HEARTH_SECTION_BINARIES, row, &b, sizeof b, "binary", err));
  if (b.build_id_size > sizeof b.build_id)
    return hearth_profile_corrupt(profile, err, "binary %u has a build id of %u bytes", row, b.build_id_size);
  *ret_build_id = profile->data + section(profile, HEARTH_SECTION_BINARIES)->offset + row * sizeof b +
                  offsetof(hearth_indexed_binary, build_id);
  *ret_build_id_size = b.build_id_size;
  return hearth_profile_get_string(profile, b.name, ret_name, err);
}

hearth_status hearth_profile_get_cutoff(hearth_profile *profile, hearth_class which, uint32_t share_ppm,
                                        double *ret_density, hearth_error *err) {
  hearth_indexed_summary summary;
  HEARTH_TRY(read_summary(profile, &summary, err));
  uint32_t first = which == HEARTH_CLASS_HOT ? summary.cold_cutoffs : 0;
  uint32_t count = which == HEARTH_CLASS_HOT    ? summary.hot_cutoffs
                   : which == HEARTH_CLASS_COLD ? summary.cold_cutoffs
                                                : 0;
  uint64_t table = section(profile, HEARTH_SECTION_SUMMARY)->offset + sizeof summary;
  uint32_t best = 0;
  for (uint32_t i = first; i < first + count; i++) {
    hearth_indexed_cutoff cutoff;
    const uint8_t *from;
    HEARTH_TRY(touch(profile, table + (uint64_t)i * sizeof cutoff, sizeof cutoff, &from, err));
    memcpy(&cutoff, from, sizeof cutoff);
    if (cutoff.share_ppm > share_ppm || cutoff.share_ppm <= best)
      continue;
    best = cutoff.share_ppm;
    *ret_density = cutoff.density;
  }
  return best ? HEARTH_OK : HEARTH_E_NOT_FOUND;
}
