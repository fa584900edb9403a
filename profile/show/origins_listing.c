/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth show --runs`: the rows are summed three times, by build, by host and by day. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "file.h"
#include "hearth/json_writer.h"
#include "hearth/origin.h"
#include "print.h"

/* Builds and days of runs, as views print them; "" if unknown. */

typedef struct hearth_origin_text {
  char c[72];
} hearth_origin_text;

enum { SECONDS_OF_A_DAY = 86400 };

/* In hexadecimal. */
static hearth_origin_text hearth_origin_build_text(const hearth_origin *row) {
  hearth_origin_text text = {""};
  for (uint32_t i = 0; i < row->build_id_size; i++)
    snprintf(text.c + 2 * (size_t)i, 3, "%02x", row->build_id[i]);
  return text;
}

/* "2026-11-23". */
static hearth_origin_text hearth_origin_day_text(uint32_t day) {
  hearth_origin_text text = {""};
  time_t begin = (time_t)day * SECONDS_OF_A_DAY;
  struct tm date;
  if (day > 0 && gmtime_r(&begin, &date))
    strftime(text.c, sizeof text.c, "%Y-%m-%d", &date);
  return text;
}

/* A sum of rows; fields that they do not share are unknown. */
typedef hearth_origin origin_sum;

typedef struct origin_kind {
  const char *title;
  uint32_t unknown_from; /* the granularity from which on nothing is known of it */
  origin_sum (*key_of)(const hearth_origin *row);
  void (*print_name)(hearth_profile *profile, const origin_sum *sum, FILE *stream);
} origin_kind;

static origin_sum key_of_build(const hearth_origin *row) {
  origin_sum key = {.host = "", .build_id_size = row->build_id_size};
  memcpy(key.build_id, row->build_id, sizeof key.build_id);
  return key;
}

static origin_sum key_of_host(const hearth_origin *row) { return (origin_sum){.host = row->host}; }

static origin_sum key_of_day(const hearth_origin *row) { return (origin_sum){.host = "", .day = row->day}; }

static bool origin_sums_are_equal(const origin_sum *a, const origin_sum *b) {
  return strcmp(a->host, b->host) == 0 && a->day == b->day && a->build_id_size == b->build_id_size &&
         memcmp(a->build_id, b->build_id, sizeof a->build_id) == 0;
}

/* The name of the binary, if the profile has it, behind its build id. */
static void print_build(hearth_profile *profile, const origin_sum *sum, FILE *stream) {
  hearth_error err;
  fputs(sum->build_id_size ? hearth_origin_build_text(sum).c : "unknown", stream);
  for (uint32_t i = 0; sum->build_id_size && i < hearth_profile_binary_count(profile); i++) {
    const char *name;
    const uint8_t *build_id;
    uint32_t size;
    if (hearth_profile_get_binary(profile, i, &name, &build_id, &size, &err) != HEARTH_OK ||
        size != sum->build_id_size || memcmp(build_id, sum->build_id, size) != 0 || !*name)
      continue;
    fputc(' ', stream);
    hearth_print_name(name, 0, stream);
    break;
  }
}

static void print_host(hearth_profile *profile, const origin_sum *sum, FILE *stream) {
  (void)profile;
  hearth_print_name(*sum->host ? sum->host : "unknown", 0, stream);
}

static void print_day(hearth_profile *profile, const origin_sum *sum, FILE *stream) {
  (void)profile;
  fputs(sum->day ? hearth_origin_day_text(sum->day).c : "unknown", stream);
}

static const origin_kind kinds[] = {{"build", HEARTH_ORIGINS_ONE, key_of_build, print_build},
                                    {"host", HEARTH_ORIGINS_NO_HOST, key_of_host, print_host},
                                    {"day", HEARTH_ORIGINS_BUILDS, key_of_day, print_day}};

static int compare_sums(const void *a, const void *b) {
  const origin_sum *x = a, *y = b;
  if (x->total_bytes != y->total_bytes)
    return x->total_bytes < y->total_bytes ? 1 : -1;
  if (x->runs != y->runs)
    return x->runs < y->runs ? 1 : -1;
  int order = memcmp(x->build_id, y->build_id, sizeof x->build_id);
  if (order == 0)
    order = strcmp(x->host, y->host);
  return order ? order : (x->day > y->day) - (x->day < y->day);
}

static int compare_days(const void *a, const void *b) {
  const origin_sum *x = a, *y = b;
  return (x->day < y->day) - (x->day > y->day);
}

static size_t origins_listing_sum_up(const hearth_origins *origins, const origin_kind *kind, origin_sum *sums) {
  size_t count = 0;
  for (size_t i = 0; i < origins->count; i++) {
    const hearth_origin *row = &origins->rows[i];
    origin_sum key = kind->key_of(row);
    size_t k = 0;
    while (k < count && !origin_sums_are_equal(&sums[k], &key))
      k++;
    if (k == count)
      sums[count++] = key;
    sums[k].runs = hearth_merge_SUM(sums[k].runs, row->runs);
    sums[k].total_bytes = hearth_merge_SUM(sums[k].total_bytes, row->total_bytes);
  }
  qsort(sums, count, sizeof *sums, kind->key_of == key_of_day ? compare_days : compare_sums);
  return count;
}

static void print_kind(hearth_profile *profile, const hearth_origins *origins, const origin_kind *kind,
                       const hearth_profile_summary *all, size_t most, FILE *stream) {
  origin_sum sums[HEARTH_ORIGINS_MOST];
  bool is_week = kind->key_of == key_of_day && origins->granularity >= HEARTH_ORIGINS_BY_WEEK;
  if (origins->granularity >= kind->unknown_from)
    return;
  size_t count = origins_listing_sum_up(origins, kind, sums);
  fprintf(stream, "\n      runs       bytes           %s\n", is_week ? "week of" : kind->title);
  for (size_t i = 0; i < count && i < most; i++) {
    fprintf(stream, "%10" PRIu64 " %11s %6.1f%%   ", sums[i].runs, hearth_amount_bytes(sums[i].total_bytes).c,
            100 * hearth_ratio((double)sums[i].total_bytes, (double)all->total_bytes));
    kind->print_name(profile, &sums[i], stream);
    fputc('\n', stream);
  }
  if (count > most)
    fprintf(stream, "  ... and %zu more\n", count - most);
}

static void print_unknown(const hearth_origins *origins, const hearth_profile_summary *all, FILE *stream) {
  uint64_t runs = 0;
  for (size_t i = 0; i < origins->count; i++)
    runs = hearth_merge_SUM(runs, origins->rows[i].runs);
  if (runs < all->runs)
    fprintf(stream, "of %" PRIu64 " of them nothing is known\n", all->runs - runs);
}

static const char *const coarse[HEARTH_ORIGIN_GRANULARITIES] = {
    "", "weeks stand for days", "weeks stand for days, and hosts are left out", "hosts and days are left out",
    "builds, hosts and days are left out"};

hearth_status hearth_origins_print_text(hearth_profile *profile, size_t most, FILE *stream, hearth_error *err) {
  hearth_profile_summary summary;
  hearth_origins origins;
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  HEARTH_TRY(hearth_profile_get_origins(profile, &origins, err));
  fprintf(stream, "%" PRIu64 " run%s, %s allocated\n", summary.runs, hearth_plural(summary.runs),
          hearth_amount_bytes(summary.total_bytes).c);
  print_unknown(&origins, &summary, stream);
  if (origins.granularity > 0)
    fprintf(stream, "there were more than %u origins: %s\n", HEARTH_ORIGINS_MOST, coarse[origins.granularity]);
  for (size_t i = 0; origins.count > 0 && i < sizeof kinds / sizeof kinds[0]; i++)
    print_kind(profile, &origins, &kinds[i], &summary, most, stream);
  return hearth_stream_flush(stream, err);
}

/* docs/tools.md, "hearth show --runs --json", describes the shape: change both in one commit. */

enum { JSON_VERSION = 1 };

static void print_known(hearth_json *json, const char *key, const char *value) {
  if (*value)
    hearth_json_key_string(json, key, value);
}

static void origins_listing_print_row(hearth_json *json, const hearth_origin *row) {
  hearth_json_line_open(json, '{');
  print_known(json, "build_id", hearth_origin_build_text(row).c);
  print_known(json, "host", row->host);
  print_known(json, "day", hearth_origin_day_text(row->day).c);
  hearth_json_key_uint(json, "runs", row->runs);
  hearth_json_key_uint(json, "bytes", row->total_bytes);
  hearth_json_close(json, '}');
}

hearth_status hearth_origins_print_json(hearth_profile *profile, FILE *stream, hearth_error *err) {
  hearth_profile_summary summary;
  hearth_origins origins;
  hearth_json json = {.stream = stream};
  HEARTH_TRY(hearth_profile_get_summary(profile, &summary, err));
  HEARTH_TRY(hearth_profile_get_origins(profile, &origins, err));
  hearth_json_begin(&json, "hearth-runs", JSON_VERSION);
  hearth_json_key_uint(&json, "runs", summary.runs);
  hearth_json_key_uint(&json, "bytes", summary.total_bytes);
  hearth_json_key_uint(&json, "granularity", origins.granularity);
  hearth_json_line(&json);
  hearth_json_key_array(&json, "origins");
  for (size_t i = 0; i < origins.count; i++)
    origins_listing_print_row(&json, &origins.rows[i]);
  hearth_json_close(&json, ']');
  return hearth_json_end(&json, err);
}
