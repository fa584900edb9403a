/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Findings as text and as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "file.h"
#include "findings.h"
#include "print.h"

/* A paragraph for each finding, and the kinds that were not looked for. */

static hearth_status print_type(hearth_advice *a, const hearth_finding *f, FILE *out, hearth_error *err) {
  const char *type;
  HEARTH_TRY(hearth_profile_type_name(a->profile, a->places[f->group].mib.DataTypeId, &type, err));
  if (f->kind != HEARTH_ADVICE_FIELDS || !*type)
    return HEARTH_OK;
  fputs("   of type ", out);
  hearth_print_name(type, 0, out);
  fputc('\n', out);
  return HEARTH_OK;
}

static hearth_status advice_output_print_finding(hearth_advice *a, size_t number, FILE *out, hearth_error *err) {
  static const char *const wholes[] = {"memory by time", "allocations", "allocated bytes"};
  const hearth_finding *f = &a->findings[number];
  uint32_t node;
  HEARTH_TRY(hearth_profile_get_context(a->profile, hearth_advice_context(a, f), &node, NULL, err));
  fprintf(out, "\n%zu. %s (%s): up to %.1f%% of all %s\n   ", number + 1, hearth_advice_title(f->kind),
          hearth_advice_kind_name(f->kind), 100 * f->share, wholes[f->saving]);
  hearth_print_name(a->groups.items[f->group].name, 0, out);
  fprintf(out, "\n   %s\n", f->evidence);
  HEARTH_TRY(print_type(a, f, out, err));
  fprintf(out, "   remedy: %s\n   its heaviest context, %.0f%%:\n", hearth_advice_remedy(f->kind),
          100 * hearth_advice_context_share(a, f));
  return hearth_print_stack(a->profile, &a->names, node, out, err);
}

static void print_missing(const hearth_advice *a, FILE *out) {
  static const char *const sources[] = {"",
                                        "a program compiled for profiling, that counts all accesses",
                                        "the same for some seconds, with 4 MiB of heap or more",
                                        "the same for some seconds, with 4 MiB of heap or more",
                                        "the same in histogram mode",
                                        "a trace ('hearth record --mode=trace')"};
  for (hearth_advice_data data = HEARTH_ADVICE_ACCESSES; data <= HEARTH_ADVICE_TRACE; data++) {
    const char *separator = "";
    if (a->has[data])
      continue;
    fputs("not looked for: ", out);
    for (hearth_advice_kind kind = 0; kind < HEARTH_ADVICE_KINDS; kind++)
      if (hearth_advice_needs(kind) == data) {
        fprintf(out, "%s%s", separator, hearth_advice_kind_name(kind));
        separator = ", ";
      }
    fprintf(out, " (needs %s)\n", sources[data]);
  }
}

hearth_status hearth_advice_print_text(hearth_advice *a, const char *name, size_t top, const char *binary, FILE *out,
                                       hearth_error *err) {
  hearth_print_name(name, 0, out);
  fprintf(out, ": %zu finding%s\n", a->finding_count, hearth_plural(a->finding_count));
  for (size_t i = 0; i < a->finding_count && i < top; i++)
    HEARTH_TRY(advice_output_print_finding(a, i, out, err));
  if (a->finding_count > top)
    fprintf(out, "\n... and %zu more (--full prints all)\n", a->finding_count - top);
  fputc('\n', out);
  print_missing(a, out);
  return hearth_global_advice_print_text(a->profile, name, binary, out, err);
}

/* docs/tools.md, "hearth advise --json", describes the shape: change both in one commit. */

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

void hearth_advice_write_finding(const hearth_advice *a, size_t number, hearth_json *json) {
  const hearth_finding *f = &a->findings[number];
  hearth_json_print(json, "kind:%s, title:%s, saves:%s, share:%f, place:%s, evidence:%s, remedy:%s",
                    hearth_advice_kind_name(f->kind), hearth_advice_title(f->kind),
                    hearth_advice_saving_name(f->saving), f->share, a->groups.items[f->group].name, f->evidence,
                    hearth_advice_remedy(f->kind));
}

void hearth_advice_write_missing(const hearth_advice *a, hearth_json *json) {
  hearth_json_key_array(json, "not_looked_for");
  for (hearth_advice_kind kind = 0; kind < HEARTH_ADVICE_KINDS; kind++)
    if (!a->has[hearth_advice_needs(kind)])
      hearth_json_string(json, hearth_advice_kind_name(kind));
  hearth_json_close(json, ']');
}

static hearth_status print_finding_json(advice_json *p, size_t number, hearth_error *err) {
  const hearth_mib *mib = &p->advice->places[p->advice->findings[number].group].mib;
  hearth_json_line_open(&p->json, '{');
  hearth_advice_write_finding(p->advice, number, &p->json);
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    hearth_json_key_uint(&p->json, hearth_quantities[q].key, hearth_quantity_of(q, mib));
  HEARTH_TRY(print_stack(p, hearth_advice_finding_context(p->advice, number), err));
  hearth_json_close(&p->json, '}');
  return HEARTH_OK;
}

static hearth_status advice_output_print_all(advice_json *p, const char *name, size_t top, const char *binary,
                                             hearth_error *err) {
  hearth_json *json = &p->json;
  HEARTH_TRY(hearth_json_frames_init(&p->table, hearth_profile_frame_count(p->advice->profile), err));
  hearth_json_begin(json, "hearth-advice", JSON_VERSION);
  hearth_json_key_string(json, "profile", name);
  hearth_advice_write_missing(p->advice, json);
  hearth_json_key_array(json, "findings");
  for (size_t i = 0; i < p->advice->finding_count && i < top; i++)
    HEARTH_TRY(print_finding_json(p, i, err));
  hearth_json_close(json, ']');
  HEARTH_TRY(hearth_global_advice_write_json(p->advice->profile, binary, json, err));
  HEARTH_TRY(hearth_json_frames_print(&p->table, json, p->advice->profile, &p->advice->names, err));
  return hearth_json_end(json, err);
}

hearth_status hearth_advice_print_json(hearth_advice *a, const char *name, size_t top, const char *binary, FILE *stream,
                                       hearth_error *err) {
  advice_json p = {.advice = a, .json = {.stream = stream}};
  hearth_status status = advice_output_print_all(&p, name, top, binary, err);
  hearth_json_frames_destroy(&p.table);
  free(p.stack.frames);
  return status;
}
