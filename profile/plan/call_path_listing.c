/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* How the placements of a program as it is are told apart: a row for each return address, the most bytes first, and how many
 * bytes lie where their whole call stacks would have them. */
#include <inttypes.h>
#include <stdlib.h>

#include "call_path_sites.h"
#include "file.h"
#include "hearth/json_writer.h"

static uint64_t bytes_of(const path_site *s) {
  uint64_t sum = 0;
  for (int key = 0; key < HEARTH_PATH_KEYS; key++)
    sum += s->bytes[key];
  return sum;
}

static int compare_sites(const void *a, const void *b) {
  const path_site *x = a, *y = b;
  uint64_t of_x = bytes_of(x), of_y = bytes_of(y);
  return of_x != of_y ? (of_x < of_y) - (of_x > of_y) : (x->first > y->first) - (x->first < y->first);
}

static double share(uint64_t part, uint64_t of) { return of ? (double)part / (double)of : 0; }

static uint64_t placed_bytes(const path_sums *sums) { return sums->with_path - sums->unplaced; }

/* A return address in the output. */
typedef struct row {
  const char *file, *function, *key;
  uint64_t offset, bytes, ambiguous;
} row;

static hearth_status describe(const path_sites *k, const path_site *s, row *ret, hearth_error *err) {
  const hearth_call_path *path = &k->paths[s->first].row;
  const uint8_t *build_id;
  uint32_t size, node, frame, parent;
  hearth_frame_info info;
  hearth_function_info function;
  hearth_mib mib;
  *ret = (row){.key = s->by_height ? "height" : "address",
               .offset = path->offset,
               .bytes = bytes_of(s),
               .ambiguous = s->bytes[HEARTH_PATH_AMBIGUOUS]};
  HEARTH_TRY(hearth_profile_get_binary(k->profile, path->binary, &ret->file, &build_id, &size, err));
  HEARTH_TRY(hearth_profile_get_context(k->profile, path->context, &node, &mib, err));
  HEARTH_TRY(hearth_profile_get_stack(k->profile, node, &frame, &parent, err));
  HEARTH_TRY(hearth_profile_get_frame(k->profile, frame, &info, err));
  HEARTH_TRY(hearth_profile_get_function(k->profile, info.function, &function, err));
  ret->function = function.name;
  return HEARTH_OK;
}

static void print_row(const row *r, FILE *stream) {
  fprintf(stream, "%14" PRIu64 "  %-7s  %5.1f %%  %s+0x%" PRIx64 "  %s\n", r->bytes, r->key,
          100 * share(r->ambiguous, r->bytes), r->file, r->offset, r->function);
}

static void print_sums(const path_sums *sums, FILE *stream) {
  static const char *const texts[HEARTH_PATH_KEYS] = {"by the return address alone", "by the height of the stack, too",
                                                      "at any other height", "ambiguous: placed as without a profile"};
  uint64_t placed = placed_bytes(sums);
  fprintf(stream, "\nOf %" PRIu64 " bytes with a placement:\n", placed);
  for (int key = 0; key < HEARTH_PATH_KEYS; key++)
    fprintf(stream, "  %5.1f %%  %s\n", 100 * share(sums->bytes[key], placed), texts[key]);
}

static void write_row(const row *r, hearth_json *json) {
  hearth_json_line(json);
  hearth_json_open(json, '{');
  hearth_json_key_string(json, "file", r->file);
  hearth_json_key_uint(json, "offset", r->offset);
  hearth_json_key_string(json, "function", r->function);
  hearth_json_key_string(json, "key", r->key);
  hearth_json_key_uint(json, "bytes", r->bytes);
  hearth_json_key_uint(json, "ambiguous_bytes", r->ambiguous);
  hearth_json_close(json, '}');
}

/* For each key, the share of bytes that would lie as the whole stacks say if programs had no better key. */
static void write_sums(const path_sums *sums, hearth_json *json) {
  uint64_t by_address = sums->bytes[HEARTH_PATH_ADDRESS], placed = placed_bytes(sums);
  hearth_json_key_uint(json, "placed_bytes", placed);
  hearth_json_key_uint(json, "unplaced_bytes", sums->unplaced);
  hearth_json_key(json, "as_whole_stacks");
  hearth_json_open(json, '{');
  hearth_json_key_double(json, "address", share(by_address, placed));
  hearth_json_key_double(json, "height", share(placed - sums->bytes[HEARTH_PATH_AMBIGUOUS], placed));
  hearth_json_close(json, '}');
}

static hearth_status print_all(const path_sites *k, bool as_json, FILE *stream, hearth_error *err) {
  hearth_json json = {.stream = stream};
  if (as_json) {
    hearth_json_open(&json, '{');
    write_sums(&k->sums, &json);
    hearth_json_key_array(&json, "addresses");
  } else {
    fprintf(stream, "%14s  %-7s  %9s  return address\n", "bytes", "key", "ambiguous");
  }
  for (size_t i = 0; i < k->site_count; i++) {
    row r;
    HEARTH_TRY(describe(k, &k->sites[i], &r, err));
    if (as_json)
      write_row(&r, &json);
    else
      print_row(&r, stream);
  }
  if (as_json) {
    hearth_json_close(&json, ']');
    hearth_json_close(&json, '}');
    fputc('\n', stream);
  } else {
    print_sums(&k->sums, stream);
  }
  return hearth_stream_flush(stream, err);
}

hearth_status hearth_path_keys_print(hearth_profile *profile, bool as_json, FILE *stream, hearth_error *err) {
  path_sites k = {.profile = profile};
  hearth_status status = hearth_path_sites_find(&k, err);
  if (status == HEARTH_OK) {
    qsort(k.sites, k.site_count, sizeof *k.sites, compare_sites);
    status = print_all(&k, as_json, stream, err);
  }
  hearth_path_sites_free(&k);
  return status;
}
