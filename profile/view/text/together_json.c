/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* docs/tools.md, "hearth show --together --json", describes the shape: change both in one commit. */
#include "file.h"
#include "json_frames.h"
#include "together_view.h"

enum { JSON_VERSION = 1 };

typedef struct together_json {
  hearth_together_view view;
  hearth_json json;
  hearth_json_frames frames;
} together_json;

static void print_totals(together_json *p) {
  const hearth_together_totals *t = &p->view.together.totals;
  hearth_json_key_uint(&p->json, "windows", t->windows);
  hearth_json_key_uint(&p->json, "window_ns", t->window_ns);
  hearth_json_key_uint(&p->json, "sampled_pages", t->sampled_pages);
  hearth_json_key_uint(&p->json, "pages", t->pages);
  hearth_json_key_uint(&p->json, "lost_pairs", t->lost_pairs);
}

static hearth_status print_stack(together_json *p, uint32_t context, hearth_error *err) {
  uint32_t node, frame;
  HEARTH_TRY(hearth_profile_get_context(p->view.profile, context, &node, NULL, err));
  hearth_json_key_array(&p->json, "stack");
  while (node != HEARTH_NONE) {
    HEARTH_TRY(hearth_profile_get_stack(p->view.profile, node, &frame, &node, err));
    hearth_json_frames_use(&p->frames, &p->json, frame);
  }
  hearth_json_close(&p->json, ']');
  return HEARTH_OK;
}

static hearth_status print_row(together_json *p, const hearth_together_row *row, hearth_error *err) {
  hearth_json *json = &p->json;
  hearth_json_line(json);
  hearth_json_open(json, '{');
  HEARTH_TRY(print_stack(p, row->context, err));
  hearth_json_key_uint(json, "row", row->context);
  hearth_json_key_uint(json, "windows", row->touched.windows);
  hearth_json_key_uint(json, "lines", row->touched.lines);
  hearth_json_key_uint(json, "pages", row->touched.pages);
  hearth_json_key_uint(json, "blocks", row->touched.blocks);
  hearth_json_key_uint(json, "live", row->touched.live);
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

static hearth_status print_rows(together_json *p, hearth_error *err) {
  hearth_json_line(&p->json);
  hearth_json_key_array(&p->json, "contexts");
  for (size_t i = 0; i < p->view.row_count; i++)
    HEARTH_TRY(print_row(p, &p->view.rows[i], err));
  hearth_json_close(&p->json, ']');
  return HEARTH_OK;
}

static void print_pairs(together_json *p) {
  hearth_json *json = &p->json;
  hearth_json_line(json);
  hearth_json_key_array(json, "pairs");
  for (size_t i = 0; i < p->view.pair_count; i++) {
    hearth_json_line(json);
    hearth_json_open(json, '{');
    hearth_json_key_uint(json, "a", p->view.pairs[i].a);
    hearth_json_key_uint(json, "b", p->view.pairs[i].b);
    hearth_json_key_uint(json, "windows", p->view.pairs[i].windows);
    hearth_json_key_uint(json, "lines", p->view.pairs[i].lines);
    hearth_json_close(json, '}');
  }
  hearth_json_close(json, ']');
}

static hearth_status print_frames(together_json *p, hearth_error *err) {
  hearth_json_line(&p->json);
  hearth_json_key_array(&p->json, "frames");
  for (uint32_t i = 0; i < p->frames.count; i++)
    HEARTH_TRY(hearth_json_frame(&p->json, p->view.profile, &p->view.names, p->frames.used[i], err));
  hearth_json_close(&p->json, ']');
  return HEARTH_OK;
}

static hearth_status print(together_json *p, hearth_error *err) {
  hearth_json *json = &p->json;
  hearth_json_open(json, '{');
  hearth_json_key_string(json, "format", "hearth-together");
  hearth_json_key_uint(json, "version", JSON_VERSION);
  print_totals(p);
  HEARTH_TRY(print_rows(p, err));
  print_pairs(p);
  HEARTH_TRY(print_frames(p, err));
  hearth_json_close(json, '}');
  fputc('\n', json->stream);
  return hearth_stream_flush(json->stream, err);
}

hearth_status hearth_together_print_json(hearth_profile *profile, size_t most, FILE *stream, hearth_error *err) {
  together_json p = {.json = {.stream = stream}};
  hearth_status status = hearth_together_view_init(&p.view, profile, most, err);
  if (status == HEARTH_OK)
    status = hearth_json_frames_init(&p.frames, hearth_profile_frame_count(profile), err);
  if (status == HEARTH_OK)
    status = print(&p, err);
  hearth_json_frames_destroy(&p.frames);
  hearth_together_view_destroy(&p.view);
  return status;
}
