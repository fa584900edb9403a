/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The page: report.html with style, script and data put where it says so. The data is a JSON object in the
 * element `<script id="data">`: the model (page.h) with a column for each number of its tables, and facts of the
 * profile by the keys of `hearth show --json`. */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "hearth/ids.h"
#include "hearth/profile.h"
#include "hearth/status.h"
#include "page.h"
#include "print.h"
#include "selection.h"
#include "utf8.h"

enum { GLOBALS_SHOWN = 200 }; /* the hottest, and the largest untouched ones */

typedef struct hearth_page_writer {
  const hearth_page_model *model;
  hearth_profile *profile;
  hearth_json json;
} hearth_page_writer;

/* -------------------------------------------------- columns -------------------------------------------------- */

/* Columns of numbers as a page holds them: a JSON string, base64 (RFC 4648) of LEB128 numbers. JSON's own numbers would
 * take half as much room again and several times as long to read. LEB128 bytes are written in groups of three, as four
 * characters of base64. */
typedef struct page_column {
  hearth_json *json;
  uint32_t group; /* bytes that are not written yet, last in the low bits */
  int bytes;      /* of them: 0 to 2 */
} page_column;

static void page_column_begin(page_column *column, hearth_json *json) {
  hearth_json_value_begin(json);
  putc_unlocked('"', json->stream);
  *column = (page_column){.json = json};
}

/* Three bytes as four digits; of a group that is not full, one more than it has bytes, and padding. */
static void put_group(const page_column *column, uint32_t group, int bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0; i < 4; i++)
    putc_unlocked(i <= bytes ? digits[group >> (18 - 6 * i) & 63] : '=', column->json->stream);
}

static void put_column_byte(page_column *column, uint32_t byte) {
  column->group = column->group << 8 | byte;
  if (++column->bytes < 3)
    return;
  put_group(column, column->group, 3);
  column->group = 0;
  column->bytes = 0;
}

static void page_column_add(page_column *column, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    put_column_byte(column, (uint32_t)(value & 0x7f) | 0x80);
  put_column_byte(column, (uint32_t)value);
}

static void page_column_end(page_column *column) {
  if (column->bytes > 0)
    put_group(column, column->group << (8 * (3 - column->bytes)), column->bytes);
  putc_unlocked('"', column->json->stream);
}

/* A column of a table: `value` is an expression of row i. */
#define WRITE_COLUMN(json, name, rows, value)                                                                          \
  do {                                                                                                                 \
    page_column column;                                                                                                \
    hearth_json_key(json, name);                                                                                       \
    page_column_begin(&column, json);                                                                                  \
    for (uint32_t i = 0; i < (rows); i++)                                                                              \
      page_column_add(&column, value);                                                                                 \
    page_column_end(&column);                                                                                          \
  } while (0)

/* Numbers of rows are written plus one, so that 0 is none. */
static uint64_t or_none(uint32_t row) { return row == HEARTH_NONE ? 0 : (uint64_t)row + 1; }

/* As `hearth show --by=library` tells it. */
static bool is_library_function(const hearth_page_model *m, const hearth_page_function *f) {
  const char *file = f->symbol && f->file != HEARTH_NONE ? m->files[f->file] : "";
  return *file && !hearth_is_name_file(file);
}

/* Most callers are near. */
static uint64_t caller_distance(const hearth_page_model *m, uint32_t node) {
  uint32_t caller = m->nodes.pairs[node].second;
  return caller == HEARTH_NONE ? 0 : node - caller;
}

/* -------------------------------------------------- tables -------------------------------------------------- */

static void begin_table(hearth_page_writer *w, const char *name, uint32_t count) {
  hearth_json_line(&w->json);
  hearth_json_key_object(&w->json, name);
  hearth_json_key_uint(&w->json, "count", count);
}

static void end_table(hearth_page_writer *w) { hearth_json_close(&w->json, '}'); }

static void begin_list(hearth_page_writer *w, const char *name) {
  hearth_json_line(&w->json);
  hearth_json_key_array(&w->json, name);
}

static void end_list(hearth_page_writer *w) { hearth_json_close(&w->json, ']'); }

static void html_write_functions(hearth_page_writer *w) {
  const hearth_page_model *m = w->model;
  begin_table(w, "functions", m->function_count);
  begin_list(w, "name");
  for (uint32_t i = 0; i < m->function_count; i++)
    hearth_json_string(&w->json, m->functions[i].name);
  end_list(w);
  WRITE_COLUMN(&w->json, "file", m->function_count, or_none(m->functions[i].file));
  WRITE_COLUMN(&w->json, "wrapper", m->function_count, m->functions[i].role - HEARTH_ROLE_OWNER); /* 0: it is none */
  WRITE_COLUMN(&w->json, "library", m->function_count, is_library_function(m, &m->functions[i]));
  end_table(w);
}

static void write_stacks(hearth_page_writer *w) {
  const hearth_page_model *m = w->model;
  begin_table(w, "places", m->places.count);
  WRITE_COLUMN(&w->json, "function", m->places.count, hearth_page_model_place(m, i).function);
  WRITE_COLUMN(&w->json, "line", m->places.count, hearth_page_model_place(m, i).line);
  WRITE_COLUMN(&w->json, "column", m->places.count, hearth_page_model_place(m, i).column);
  end_table(w);
  begin_table(w, "nodes", m->nodes.count);
  WRITE_COLUMN(&w->json, "place", m->nodes.count, m->nodes.pairs[i].first);
  WRITE_COLUMN(&w->json, "caller", m->nodes.count, caller_distance(m, i));
  end_table(w);
}

static void write_contexts(hearth_page_writer *w) {
  const hearth_page_context *contexts = w->model->contexts;
  uint32_t count = w->model->context_count;
  begin_table(w, "contexts", count);
  WRITE_COLUMN(&w->json, "node", count, contexts[i].node);
  WRITE_COLUMN(&w->json, "class", count, contexts[i].hotness);
  WRITE_COLUMN(&w->json, "type", count, or_none(contexts[i].type));
  WRITE_COLUMN(&w->json, "lifetime_ns", count, contexts[i].lifetime_ns);
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++) {
    char key[64];
    WRITE_COLUMN(&w->json, hearth_quantities[q].key, count, contexts[i].of[q]);
    snprintf(key, sizeof key, "base_%s", hearth_quantities[q].key);
    if (w->model->options->base)
      WRITE_COLUMN(&w->json, key, count, contexts[i].base[q]);
  }
  if (w->model->knows_untouched)
    WRITE_COLUMN(&w->json, "untouched", count, contexts[i].untouched);
  WRITE_COLUMN(&w->json, "temporary", count, contexts[i].temporary);
  end_table(w);
}

static void html_write_strings(hearth_page_writer *w, const char *name, const char *const *strings, uint32_t count) {
  begin_list(w, name);
  for (uint32_t i = 0; i < count; i++)
    hearth_json_string(&w->json, strings[i]);
  end_list(w);
}

/* -------------------------------------------------- plots -------------------------------------------------- */

static void write_axis(hearth_page_writer *w, const char *name, const hearth_page_axis *axis) {
  hearth_json_print(&w->json, "%s:{label:%s, unit:%s, step:%f}", name, axis->label,
                    axis->unit == HEARTH_PAGE_BYTES ? "bytes" : "ns", axis->step);
}

static void write_cell(hearth_page_writer *w, const hearth_page_grid *grid, uint32_t x, uint32_t y) {
  const hearth_page_cell *cell = hearth_page_grid_at(grid, x, y);
  if (cell->of[HEARTH_QUANTITY_ALLOCS] == 0)
    return;
  hearth_json_print(&w->json, "\n[%u, %u", x, y);
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    hearth_json_double(&w->json, cell->of[q]);
  hearth_json_close(&w->json, ']');
}

static void write_grid(hearth_page_writer *w, const char *name, const hearth_page_grid *grid) {
  if (!grid->cells)
    return;
  hearth_json_line(&w->json);
  hearth_json_key_object(&w->json, name);
  write_axis(w, "x", &grid->x);
  write_axis(w, "y", &grid->y);
  begin_list(w, "cells");
  for (uint32_t y = 0; y < grid->y.bins; y++)
    for (uint32_t x = 0; x < grid->x.bins; x++)
      write_cell(w, grid, x, y);
  end_list(w);
  hearth_json_close(&w->json, '}');
}

static void write_owner(hearth_json *json, const hearth_page_owner_series *owner) {
  hearth_json_print(json, "\n{count:%u", HEARTH_TALLY_MOMENTS);
  if (owner->function == HEARTH_NONE)
    hearth_json_key_null(json, "function");
  else
    HEARTH_JSON_MEMBERS(json, owner, function, peak);
  WRITE_COLUMN(json, "bytes", HEARTH_TALLY_MOMENTS, owner->bytes[i]);
  hearth_json_close(json, '}');
}

static void write_owners(hearth_page_writer *w) {
  if (w->model->owner_count == 0)
    return;
  begin_list(w, "owners");
  for (uint32_t i = 0; i < w->model->owner_count; i++)
    write_owner(&w->json, &w->model->owners[i]);
  end_list(w);
}

static void write_plots(hearth_page_writer *w) {
  hearth_json_line(&w->json);
  hearth_json_key_object(&w->json, "plots");
  write_grid(w, "lifetime-size", hearth_page_model_lifetime_size(w->model));
  write_grid(w, "lifetime-time", &w->model->timeline.lifetime_time);
  if (w->model->has_peak_time)
    HEARTH_JSON_MEMBERS(&w->json, w->model, peak_ns);
  write_owners(w);
  hearth_json_close(&w->json, '}');
}

/* -------------------------------------------------- facts -------------------------------------------------- */

static void write_summary(hearth_page_writer *w) {
  const hearth_profile_summary *s = &w->model->summary;
  hearth_json *json = &w->json;
  hearth_json_key_string(json, "profile", w->model->options->title);
  HEARTH_JSON_MEMBERS(json, s, runs, duration_ns);
  if (w->model->options->base)
    hearth_json_key_string(json, "base", w->model->options->base_title);
  hearth_json_print(json, "accesses_counted:%d, accesses_known:%d, tallied:%d, untouched_known:%d, live_estimated:%d",
                    s->accesses_counted, hearth_accesses_known(s) && !w->model->options->base,
                    w->model->options->trace != NULL, w->model->knows_untouched, w->model->live_estimated);
  HEARTH_JSON_MEMBERS(json, s, dropped_blocks, dropped_frames);
  HEARTH_JSON_MEMBERS(json, w->model, library_bytes, cold_library_bytes);
}

static void write_classifier(hearth_page_writer *w) {
  const hearth_classifier *c = &w->model->classifier;
  hearth_json_print(&w->json, "\nclassifier:{mode:%s", hearth_classify_mode_name(c->mode));
  HEARTH_JSON_MEMBERS(&w->json, c, cold_max_density, cold_min_lifetime_ns, hot_min_density);
  hearth_json_close(&w->json, '}');
}

/* In a comparison, the profile is the sum of both. */
static hearth_status write_runs(hearth_page_writer *w, hearth_error *err) {
  hearth_run_facts facts;
  if (w->model->options->base || w->model->options->trace)
    return HEARTH_OK;
  HEARTH_TRY(hearth_profile_get_run_facts(w->profile, &facts, err));
  hearth_json_run_facts(&w->json, &facts);
  return HEARTH_OK;
}

/* A trace knows its run to the nanosecond. */
static hearth_status write_traced_run(hearth_page_writer *w, hearth_error *err) {
  hearth_trace_info info;
  if (!w->model->options->trace)
    return HEARTH_OK;
  hearth_trace_get_info(w->model->options->trace, &info);
  char *command = malloc(info.command_size + 1);
  if (!command)
    return hearth_error_nomem(err);
  for (size_t i = 0; i < info.command_size; i++)
    command[i] = info.command[i] ? info.command[i] : ' ';
  command[info.command_size > 0 ? info.command_size - 1 : 0] = '\0';
  hearth_json_key_string(&w->json, "command", command);
  hearth_json_print(&w->json, "start_unix_ns:%lu, peak_bytes:%lu", info.start_unix_ns, w->model->timeline.peak_bytes);
  free(command);
  return HEARTH_OK;
}

/* The page's number of a context of the profile. */
static uint32_t find_context(const hearth_page_model *m, uint32_t row) {
  uint32_t low = 0;
  for (uint32_t high = m->context_count; low < high;) {
    uint32_t middle = low + (high - low) / 2;
    if (m->contexts[middle].row < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void html_write_finding(hearth_page_writer *w, size_t number) {
  uint32_t row = hearth_advice_finding_context(w->model->options->advice, number),
           context = find_context(w->model, row);
  hearth_json_line_open(&w->json, '{');
  hearth_advice_write_finding(w->model->options->advice, number, &w->json);
  if (context < w->model->context_count && w->model->contexts[context].row == row)
    hearth_json_key_uint(&w->json, "context", context);
  hearth_json_close(&w->json, '}');
}

static void write_advice(hearth_page_writer *w) {
  const hearth_advice *advice = w->model->options->advice;
  if (!advice)
    return;
  hearth_json_line(&w->json);
  hearth_json_key_object(&w->json, "advice");
  hearth_advice_write_missing(advice, &w->json);
  begin_list(w, "findings");
  for (size_t i = 0; i < hearth_advice_finding_count(advice); i++)
    html_write_finding(w, i);
  end_list(w);
  hearth_json_close(&w->json, '}');
}

static hearth_status html_write_globals(hearth_page_writer *w, hearth_error *err) {
  if (!w->profile || hearth_profile_global_count(w->profile) == 0)
    return HEARTH_OK;
  hearth_json_line(&w->json);
  hearth_json_key_object(&w->json, "globals");
  HEARTH_TRY(hearth_globals_write_json(w->profile, GLOBALS_SHOWN, &w->json, err));
  HEARTH_TRY(hearth_global_advice_write_json(w->profile, &w->json, err));
  hearth_json_close(&w->json, '}');
  return HEARTH_OK;
}

static void write_quantities(hearth_page_writer *w) {
  begin_list(w, "quantities");
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++) {
    hearth_json_print(&w->json, "\n{name:%s, key:%s, description:%s}", hearth_quantities[q].name,
                      hearth_quantities[q].key, hearth_quantities[q].description);
  }
  end_list(w);
}

static void write_classes(hearth_page_writer *w) {
  begin_list(w, "classes");
  for (hearth_class c = HEARTH_CLASS_UNKNOWN; c <= HEARTH_CLASS_HOT; c++)
    hearth_json_string(&w->json, hearth_class_name(c));
  end_list(w);
}

static hearth_status write_data(hearth_page_writer *w, hearth_error *err) {
  const hearth_page_model *m = w->model;
  hearth_json_begin(&w->json, "hearth-page", 1);
  write_summary(w);
  HEARTH_TRY(write_runs(w, err));
  HEARTH_TRY(write_traced_run(w, err));
  hearth_json_line(&w->json);
  HEARTH_TRY(hearth_json_binaries(&w->json, w->profile, err));
  write_classifier(w);
  write_quantities(w);
  write_classes(w);
  html_write_strings(w, "files", (const char *const *)m->files, m->file_count);
  html_write_strings(w, "types", m->types, m->type_count);
  html_write_functions(w);
  write_stacks(w);
  write_contexts(w);
  write_plots(w);
  write_advice(w);
  HEARTH_TRY(html_write_globals(w, err));
  hearth_json_close(&w->json, '}');
  return HEARTH_OK;
}

/* -------------------------------------------------- the page -------------------------------------------------- */

/* As content: characters of markup are escaped, control bytes are '?', bytes that are not UTF-8 are U+FFFD. */
static void put_title(const char *text, FILE *stream) {
  for (size_t length; *text; text += length ? length : 1) {
    const char *escaped = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;
    length = hearth_utf8_length(text);
    if (length == 0)
      fputs(HEARTH_UTF8_REPLACEMENT, stream);
    else if (escaped)
      fputs(escaped, stream);
    else if (hearth_utf8_is_control(text))
      fputc('?', stream);
    else
      fwrite(text, 1, length, stream);
  }
}

static hearth_status write_part(hearth_page_writer *w, const char *name, size_t size, hearth_error *err) {
  FILE *stream = w->json.stream;
  if (strncmp(name, "title", size) == 0)
    put_title(w->model->options->title, stream);
  else if (strncmp(name, "style", size) == 0)
    fputs(hearth_page_asset_css, stream);
  else if (strncmp(name, "script", size) == 0)
    fputs(hearth_page_asset_js, stream);
  else
    return write_data(w, err);
  return HEARTH_OK;
}

/* {{title}}, {{style}}, {{script}} and {{data}} are replaced. */
static hearth_status html_write_page(hearth_page_writer *w, hearth_error *err) {
  const char *at = hearth_page_asset_html, *mark;
  while ((mark = strstr(at, "{{")) != NULL) {
    const char *name = mark + 2, *end = strstr(name, "}}");
    fwrite(at, 1, (size_t)(mark - at), w->json.stream);
    HEARTH_TRY(write_part(w, name, (size_t)(end - name), err));
    at = end + 2;
  }
  fputs(at, w->json.stream);
  return hearth_stream_flush(w->json.stream, err);
}

hearth_status hearth_page_write_html(hearth_profile *profile, const hearth_page_options *options, FILE *stream,
                                     hearth_error *err) {
  hearth_page_options known;
  hearth_view_options view;
  hearth_page_model model;
  hearth_page_writer writer = {.model = &model, .profile = profile, .json = {.stream = stream, .in_html = true}};
  HEARTH_TRY(hearth_options_take(&known, sizeof known, options, err));
  HEARTH_TRY(hearth_options_take(&view, sizeof view, known.view, err));
  known.view = &view;
  hearth_status status = hearth_page_model_from_profile(&model, profile, &known, err);
  HEARTH_THEN(status, html_write_page(&writer, err));
  hearth_page_model_destroy(&model);
  return status;
}
