/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* docs/tools.md, "hearth advise --json", describes the shape: change both in one commit. */
#include <stdlib.h>

#include "file.h"
#include "findings.h"
#include "json_frames.h"

enum { JSON_VERSION = 1 };

typedef struct advice_json {
  hearth_advice *advice;
  hearth_json json;
  hearth_json_frames table;
  hearth_frames stack;
} advice_json;

static hearth_status print_stack(advice_json *p, uint32_t context, hearth_error *err) {
  uint32_t node;
  HEARTH_TRY(hearth_profile_get_context(p->advice->profile, context, &node, NULL, err));
  HEARTH_TRY(hearth_frames_read(&p->stack, p->advice->profile, node, err));
  hearth_json_stack(&p->table, &p->json, &p->stack);
  return HEARTH_OK;
}

static hearth_status print_finding(advice_json *p, const hearth_finding *f, hearth_error *err) {
  const hearth_place_sum *place = &p->advice->places[f->group];
  hearth_json *json = &p->json;
  hearth_json_line_open(json, '{');
  hearth_json_key_string(json, "kind", hearth_advice_kind_name(f->kind));
  hearth_json_key_string(json, "saves", hearth_advice_saves_work(f->kind) ? "allocations" : "memory");
  hearth_json_key_double(json, "share", f->share);
  hearth_json_key_string(json, "place", p->advice->groups.items[f->group].name);
  hearth_json_key_string(json, "evidence", f->evidence);
  if (*f->fields)
    hearth_json_key_string(json, "fields", f->fields);
  hearth_json_key_string(json, "remedy", hearth_advice_remedy(f->kind));
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    hearth_json_key_uint(json, hearth_quantity_key(q), hearth_quantity_of(q, &place->mib));
  HEARTH_TRY(print_stack(p, place->context, err));
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

static void print_missing(advice_json *p) {
  hearth_json_key_array(&p->json, "not_looked_for");
  for (hearth_advice_kind kind = 0; kind < HEARTH_ADVICE_KINDS; kind++)
    if (!hearth_advice_looked_for(p->advice, kind))
      hearth_json_string(&p->json, hearth_advice_kind_name(kind));
  hearth_json_close(&p->json, ']');
}

static hearth_status print_all(advice_json *p, const char *name, size_t top, hearth_error *err) {
  hearth_json *json = &p->json;
  HEARTH_TRY(hearth_json_frames_init(&p->table, hearth_profile_frame_count(p->advice->profile), err));
  hearth_json_begin(json, "hearth-advice", JSON_VERSION);
  hearth_json_key_string(json, "profile", name);
  print_missing(p);
  hearth_json_key_array(json, "findings");
  for (size_t i = 0; i < p->advice->finding_count && i < top; i++)
    HEARTH_TRY(print_finding(p, &p->advice->findings[i], err));
  hearth_json_close(json, ']');
  HEARTH_TRY(hearth_json_frames_print(&p->table, json, p->advice->profile, &p->advice->names, err));
  return hearth_json_end(json, err);
}

hearth_status hearth_advice_print_json(hearth_advice *a, const char *name, size_t top, FILE *stream,
                                       hearth_error *err) {
  advice_json p = {.advice = a, .json = {.stream = stream}};
  hearth_status status = print_all(&p, name, top, err);
  hearth_json_frames_destroy(&p.table);
  free(p.stack.frames);
  return status;
}
