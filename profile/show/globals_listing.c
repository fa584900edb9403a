/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth show --globals`: sums by section, then the globals that are accessed most, and the largest of those that
 * are not. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hearth/global.h"
#include "hearth/json_writer.h"
#include "print.h"

typedef struct section_sum {
  uint64_t count, bytes, accesses, hot_bytes, hot_accesses, untouched, untouched_bytes;
} section_sum;

typedef struct globals_listing {
  hearth_global *rows; /* the most accessed first, untouched ones by size */
  size_t count;
  section_sum sums[HEARTH_GLOBAL_KINDS];
} globals_listing;

static int compare_rows(const void *left, const void *right) {
  const hearth_global *a = left, *b = right;
  if (a->accesses != b->accesses)
    return a->accesses < b->accesses ? 1 : -1;
  if (a->size != b->size)
    return a->size < b->size ? 1 : -1;
  int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->file, b->file);
}

static void globals_add(section_sum *sum, const hearth_global *g) {
  sum->count++;
  sum->bytes = hearth_merge_SUM(sum->bytes, g->size);
  sum->accesses = hearth_merge_SUM(sum->accesses, g->accesses);
  if (g->flags & HEARTH_GLOBAL_HOT) {
    sum->hot_bytes = hearth_merge_SUM(sum->hot_bytes, g->size);
    sum->hot_accesses = hearth_merge_SUM(sum->hot_accesses, g->accesses);
  }
  if (g->accesses == 0) {
    sum->untouched++;
    sum->untouched_bytes = hearth_merge_SUM(sum->untouched_bytes, g->size);
  }
}

static hearth_status list(hearth_profile *profile, globals_listing *ret, hearth_error *err) {
  *ret = (globals_listing){.count = hearth_profile_global_count(profile)};
  HEARTH_TRY(hearth_array_create(&ret->rows, ret->count, sizeof *ret->rows, err));
  for (uint32_t i = 0; i < ret->count; i++) {
    hearth_status status = hearth_profile_get_global(profile, i, &ret->rows[i], err);
    if (status != HEARTH_OK) {
      free(ret->rows);
      return status;
    }
    globals_add(&ret->sums[hearth_global_kind_of(ret->rows[i].flags)], &ret->rows[i]);
  }
  if (ret->count > 0)
    qsort(ret->rows, ret->count, sizeof *ret->rows, compare_rows);
  return HEARTH_OK;
}

static size_t count_touched(const globals_listing *l) {
  size_t count = 0;
  while (count < l->count && l->rows[count].accesses > 0)
    count++;
  return count;
}

static void print_sums(const globals_listing *l, FILE *stream) {
  fputs("\n  globals       bytes      accesses   hot bytes  hot accesses  untouched bytes   section\n", stream);
  for (int kind = 0; kind < HEARTH_GLOBAL_KINDS; kind++) {
    const section_sum *s = &l->sums[kind];
    if (s->count > 0)
      fprintf(stream, "%9" PRIu64 " %11s %13" PRIu64 " %10.1f%% %12.2f%% %15.1f%%   %s\n", s->count,
              hearth_amount_bytes(s->bytes).c, s->accesses, hearth_percent(s->hot_bytes, s->bytes),
              hearth_percent(s->hot_accesses, s->accesses), hearth_percent(s->untouched_bytes, s->bytes),
              hearth_global_kind_name(kind));
  }
}

static void globals_print_row(const hearth_global *g, FILE *stream) {
  const uint64_t lines = hearth_global_line_count(g);
  char stores[24] = "-";
  if (g->flags & HEARTH_GLOBAL_STORES)
    snprintf(stores, sizeof stores, "%" PRIu64, g->stores);
  fprintf(stream, "%13" PRIu64 " %12s %11s %6.0f%%   %-11s   ", g->accesses, stores, hearth_amount_bytes(g->size).c,
          hearth_percent(g->touched_lines < lines ? g->touched_lines : lines, lines),
          hearth_global_kind_name(hearth_global_kind_of(g->flags)));
  hearth_print_global(g, stream);
  fputc('\n', stream);
}

static void globals_print_rows(const char *title, const hearth_global *rows, size_t count, size_t most, FILE *stream) {
  if (count == 0)
    return;
  fprintf(stream, "\n%s\n     accesses       stores       bytes   lines   section       global\n", title);
  for (size_t i = 0; i < count && i < most; i++)
    globals_print_row(&rows[i], stream);
  if (count > most)
    fprintf(stream, "  ... and %zu more\n", count - most);
}

hearth_status hearth_globals_print_text(hearth_profile *profile, size_t most, FILE *stream, hearth_error *err) {
  globals_listing l;
  HEARTH_TRY(list(profile, &l, err));
  const size_t touched = count_touched(&l);
  fprintf(stream, "%zu global%s%s\n", l.count, hearth_plural(l.count),
          l.count == 0 ? ": none were recorded (compile with -mllvm -memprof-globals)" : "");
  if (l.count > 0)
    print_sums(&l, stream);
  globals_print_rows("hottest", l.rows, touched, most, stream);
  globals_print_rows("untouched", l.rows + touched, l.count - touched, most, stream);
  free(l.rows);
  return hearth_stream_flush(stream, err);
}

static void print_json_sum(hearth_json *json, const section_sum *sum, enum hearth_global_kind kind) {
  hearth_json_print(json, "\n{section:%s", hearth_global_kind_name(kind));
  HEARTH_JSON_MEMBERS(json, sum, count, bytes, accesses, hot_bytes, hot_accesses, untouched, untouched_bytes);
  hearth_json_close(json, '}');
}

static void print_json_row(hearth_json *json, const hearth_global *g) {
  hearth_json_line_open(json, '{');
  hearth_json_global(json, g);
  hearth_json_print(json, "section:%s, local:%d, hot:%d}", hearth_global_kind_name(hearth_global_kind_of(g->flags)),
                    g->flags & HEARTH_GLOBAL_LOCAL, g->flags & HEARTH_GLOBAL_HOT);
}

static void print_json_sums(hearth_json *json, const globals_listing *l) {
  hearth_json_key_array(json, "sections");
  for (int kind = 0; kind < HEARTH_GLOBAL_KINDS; kind++)
    if (l->sums[kind].count > 0)
      print_json_sum(json, &l->sums[kind], kind);
  hearth_json_print(json, "]\n");
}

static void print_json_rows(hearth_json *json, const char *key, const hearth_global *rows, size_t count) {
  hearth_json_key_array(json, key);
  for (size_t i = 0; i < count; i++)
    print_json_row(json, &rows[i]);
  hearth_json_close(json, ']');
}

hearth_status hearth_globals_write_json(hearth_profile *profile, size_t most, hearth_json *json, hearth_error *err) {
  globals_listing l;
  HEARTH_TRY(list(profile, &l, err));
  size_t touched = count_touched(&l), untouched = l.count - touched;
  print_json_sums(json, &l);
  print_json_rows(json, "hottest", l.rows, touched < most ? touched : most);
  print_json_rows(json, "untouched", l.rows + touched, untouched < most ? untouched : most);
  free(l.rows);
  return HEARTH_OK;
}
