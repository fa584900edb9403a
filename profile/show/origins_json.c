/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* docs/tools.md, "hearth show --runs --json", describes the shape: change both in one commit. */
#include "file.h"
#include "hearth/json_writer.h"
#include "hearth/origin.h"
#include "origin_names.h"

enum { JSON_VERSION = 1 };

static void print_known(hearth_json *json, const char *key, const char *value) {
  if (*value)
    hearth_json_key_string(json, key, value);
}

static void print_row(hearth_json *json, const hearth_origin *row) {
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
  hearth_json_key_uint(&json, "grain", origins.grain);
  hearth_json_line(&json);
  hearth_json_key_array(&json, "origins");
  for (size_t i = 0; i < origins.count; i++)
    print_row(&json, &origins.rows[i]);
  hearth_json_close(&json, ']');
  return hearth_json_end(&json, err);
}
