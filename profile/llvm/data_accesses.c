/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Variables go by the part of their name that LLVM keeps: variables with one such part are one. Only hot and
 * untouched variables are written, so that clang places the same ones as Hearth. Its compiler does not use string
 * literals: none are written.
 *
 *   u64 variables with accesses, u64 without, u64 size of the names | names, zeros up to a multiple of 8
 *   u64 number of hashes of literals without accesses, the hashes | u64 records
 *   record: u64 number of its name, or hash, u8 it is a hash, u64 accesses, u64 places, of each u64 name of the file,
 *           u32 line
 *
 *   names: ULEB128 size, ULEB128 compressed size or 0, then names with byte 1 between them, or these compressed: those
 *   of variables with accesses, of variables without, of files. */
#include "array.h"
#include "hearth/global.h"
#include "hearth/ids.h"
#include "hearth/raw.h"
#include "llvm_parts.h"

#define SEPARATOR '\1'

/* -------------------------------------------------- reading -------------------------------------------------- */

typedef struct data_names {
  char *bytes;
  const char **names; /* NUL-terminated */
  size_t count;
} data_names;

static hearth_status take_names_size(hearth_llvm_cursor *c, uint64_t *ret) {
  const uint8_t *from = c->in->data + c->at;
  if (!hearth_raw_take_varint(&from, c->in->data + c->end, ret)) /* packed like the numbers of raw profiles */
    return hearth_llvm_corrupt(c->in, c->at, "this is no size");
  c->at = (uint64_t)(from - c->in->data);
  return HEARTH_OK;
}

static hearth_status split_names(const hearth_llvm_input *in, data_names *n, size_t size) {
  size_t room = 0;
  n->bytes[size] = '\0';
  for (char *name = n->bytes, *end; size > 0; name = end + 1) {
    HEARTH_TRY(hearth_check_memory(hearth_array_grow(&n->names, &room, n->count, sizeof *n->names), in->err));
    n->names[n->count++] = name;
    end = name + strcspn(name, "\1");
    if (*end == '\0')
      break;
    *end = '\0';
  }
  return HEARTH_OK;
}

/* Compressed names are at most a thousandth of their size. */
static hearth_status take_names(hearth_llvm_cursor *blob, hearth_llvm_inflate *inflate, data_names *ret,
                                bool *ret_skipped) {
  uint64_t size, compressed;
  hearth_llvm_cursor from;
  if (hearth_llvm_left(blob) == 0)
    return HEARTH_OK;
  HEARTH_TRY(take_names_size(blob, &size));
  HEARTH_TRY(take_names_size(blob, &compressed));
  HEARTH_TRY(hearth_llvm_split(blob, compressed ? compressed : size, &from));
  if (size / 1100 > hearth_llvm_left(&from))
    return hearth_llvm_corrupt(blob->in, from.at, "names of static data are too long");
  if (compressed && !inflate) {
    *ret_skipped = true;
    return HEARTH_OK;
  }
  ret->bytes = malloc(size + 1);
  HEARTH_TRY(hearth_check_memory(ret->bytes, blob->in->err));
  const uint8_t *bytes = blob->in->data + from.at;
  if (compressed && !inflate(bytes, compressed, ret->bytes, size))
    return hearth_llvm_corrupt(blob->in, from.at, "names of static data cannot be decompressed");
  if (!compressed)
    memcpy(ret->bytes, bytes, size);
  if (memchr(ret->bytes, '\0', size))
    return hearth_llvm_corrupt(blob->in, from.at, "a name of static data holds a NUL");
  return split_names(blob->in, ret, size);
}

static hearth_status add_known_variable(hearth_builder *into, const char *name, const char *file, uint32_t line,
                                        uint64_t accesses, hearth_error *err) {
  const hearth_global global = {
      .name = name, .file = file, .line = line, .flags = HEARTH_GLOBAL_UNKNOWN, .accesses = accesses};
  return *name && strlen(name) <= HEARTH_GLOBAL_NAME_MAX ? hearth_builder_add_global(into, &global, err) : HEARTH_OK;
}

static hearth_status take_variable(hearth_llvm_cursor *c, const data_names *n, hearth_builder *into,
                                   bool *ret_skipped) {
  uint64_t name, accesses, places, file = UINT64_MAX;
  uint32_t line = 0;
  uint8_t is_literal;
  HEARTH_TRY(hearth_llvm_take(c, &name, sizeof name));
  HEARTH_TRY(hearth_llvm_take(c, &is_literal, sizeof is_literal));
  HEARTH_TRY(hearth_llvm_take(c, &accesses, sizeof accesses));
  HEARTH_TRY(hearth_llvm_take_count(c, sizeof file + sizeof line, &places));
  for (uint64_t i = 0; i < places; i++) {
    HEARTH_TRY(hearth_llvm_take(c, &file, sizeof file));
    HEARTH_TRY(hearth_llvm_take(c, &line, sizeof line));
    if (n->bytes && file >= n->count)
      return hearth_llvm_corrupt(c->in, c->at, "a file of static data does not exist");
  }
  *ret_skipped |= is_literal;
  if (is_literal || !n->bytes)
    return HEARTH_OK;
  if (name >= n->count)
    return hearth_llvm_corrupt(c->in, c->at, "a name of static data does not exist");
  return add_known_variable(into, n->names[name], places ? n->names[file] : "", line, accesses, c->in->err);
}

static hearth_status take_all(hearth_llvm_cursor *c, hearth_llvm_inflate *inflate, hearth_builder *into, data_names *n,
                              bool *ret_skipped) {
  uint64_t sampled, cold, size, hashes, records;
  hearth_llvm_cursor names, skipped;
  HEARTH_TRY(hearth_llvm_take(c, &sampled, sizeof sampled));
  HEARTH_TRY(hearth_llvm_take(c, &cold, sizeof cold));
  HEARTH_TRY(hearth_llvm_take_count(c, 1, &size));
  HEARTH_TRY(hearth_llvm_split(c, size, &names));
  HEARTH_TRY(hearth_llvm_split(c, -size & 7, &skipped));
  HEARTH_TRY(take_names(&names, inflate, n, ret_skipped));
  HEARTH_TRY(hearth_llvm_take_count(c, sizeof(uint64_t), &hashes));
  HEARTH_TRY(hearth_llvm_split(c, hashes * sizeof(uint64_t), &skipped));
  *ret_skipped |= hashes > 0;
  HEARTH_TRY(hearth_llvm_take_count(c, 3 * sizeof(uint64_t) + 1, &records));
  for (uint64_t i = 0; i < records; i++)
    HEARTH_TRY(take_variable(c, n, into, ret_skipped));
  if (n->bytes && (sampled > n->count || cold > n->count - sampled))
    return hearth_llvm_corrupt(c->in, c->at, "there are fewer names of static data than it says");
  for (uint64_t i = 0; n->bytes && i < cold; i++)
    HEARTH_TRY(add_known_variable(into, n->names[sampled + i], "", 0, 0, c->in->err));
  return HEARTH_OK;
}

hearth_status hearth_llvm_take_data_accesses(const hearth_llvm_input *in, uint64_t offset, hearth_llvm_inflate *inflate,
                                             hearth_builder *into, bool *ret_skipped) {
  hearth_llvm_cursor c;
  data_names names = {0};
  HEARTH_TRY(hearth_llvm_part(in, offset, in->size, "the profile of static data", &c));
  hearth_status status = take_all(&c, inflate, into, &names, ret_skipped);
  free(names.bytes);
  free(names.names);
  return status;
}

/* -------------------------------------------------- writing -------------------------------------------------- */

/* A variable as LLVM knows it: the sum of those with its name. */
typedef struct data_row {
  const char *name;
  size_t length;
  uint64_t accesses;
  bool hot;
} data_row;

static int compare_variables(const void *left, const void *right) {
  const data_row *a = left, *b = right;
  int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);
  return order ? order : (a->length > b->length) - (a->length < b->length);
}

static hearth_status list_variables(hearth_profile *profile, data_row **ret, size_t *ret_count, hearth_error *err) {
  const uint32_t all = hearth_profile_global_count(profile);
  size_t count = 0, kept = 0;
  HEARTH_TRY(hearth_array_create(ret, all, sizeof **ret, err));
  data_row *rows = *ret;
  for (uint32_t i = 0; i < all; i++) {
    hearth_global g;
    HEARTH_TRY(hearth_profile_get_global(profile, i, &g, err));
    if (hearth_global_kind_of(g.flags) == HEARTH_GLOBAL_LITERAL || hearth_is_stripped_name(g.name))
      continue;
    rows[count++] =
        (data_row){g.name, hearth_llvm_global_name_length(g.name), g.accesses, (g.flags & HEARTH_GLOBAL_HOT) != 0};
  }
  if (count > 0)
    qsort(rows, count, sizeof *rows, compare_variables);
  for (size_t i = 0; i < count; i++)
    if (kept == 0 || compare_variables(&rows[kept - 1], &rows[i]) != 0) {
      rows[kept++] = rows[i];
    } else {
      rows[kept - 1].accesses = hearth_merge_SUM(rows[kept - 1].accesses, rows[i].accesses);
      rows[kept - 1].hot |= rows[i].hot;
    }
  *ret_count = kept;
  return HEARTH_OK;
}

static void put_uleb(hearth_llvm_buffer *out, uint64_t value) {
  uint8_t bytes[HEARTH_RAW_VARINT_MOST];
  hearth_llvm_put(out, bytes, (size_t)(hearth_raw_put_varint(bytes, value) - bytes));
}

static void join_variable(hearth_llvm_buffer *to, const data_row *row) {
  static const char separator = SEPARATOR;
  hearth_llvm_put(to, &separator, to->size > 0);
  hearth_llvm_put(to, row->name, row->length);
}

static void join_names(const data_row *rows, size_t count, hearth_llvm_buffer *to) {
  for (size_t i = 0; i < count; i++)
    if (rows[i].hot)
      join_variable(to, &rows[i]);
  for (size_t i = 0; i < count; i++)
    if (rows[i].accesses == 0)
      join_variable(to, &rows[i]);
}

static void put_variables(hearth_llvm_buffer *out, const data_row *rows, size_t count) {
  uint64_t number = 0;
  const uint8_t is_literal = 0;
  for (size_t i = 0; i < count; i++) {
    if (!rows[i].hot)
      continue;
    hearth_llvm_put_u64(out, number++);
    hearth_llvm_put(out, &is_literal, 1);
    hearth_llvm_put_u64(out, rows[i].accesses);
    hearth_llvm_put_u64(out, 0); /* places: the compiler does not use them */
  }
}

static void put_data_accesses(hearth_llvm_buffer *out, const data_row *rows, size_t count, hearth_llvm_buffer *names) {
  uint64_t hot = 0, untouched = 0;
  for (size_t i = 0; i < count; i++) {
    hot += rows[i].hot;
    untouched += rows[i].accesses == 0;
  }
  if (hot + untouched == 0)
    return;
  join_names(rows, count, names);
  hearth_llvm_put_u64(out, hot);
  hearth_llvm_put_u64(out, untouched);
  size_t size_at = out->size;
  hearth_llvm_put_u64(out, 0);
  size_t begin = out->size;
  put_uleb(out, names->size);
  put_uleb(out, 0);
  hearth_llvm_put(out, names->data, names->size);
  hearth_llvm_patch_u64(out, size_at, out->size - begin);
  static const uint8_t zeros[8];
  hearth_llvm_put(out, zeros, -(out->size - begin) & 7);
  hearth_llvm_put_u64(out, 0); /* literals without accesses */
  hearth_llvm_put_u64(out, hot);
  put_variables(out, rows, count);
}

hearth_status hearth_llvm_put_data_accesses(hearth_llvm_buffer *out, hearth_profile *profile, hearth_error *err) {
  data_row *rows = NULL;
  size_t count;
  hearth_llvm_buffer names = {0};
  hearth_status status = list_variables(profile, &rows, &count, err);
  if (status == HEARTH_OK) {
    put_data_accesses(out, rows, count, &names);
    out->failed |= names.failed;
  }
  free(names.data);
  free(rows);
  return status;
}
