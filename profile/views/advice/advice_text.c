/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A paragraph for each finding, and the kinds that were not looked for. */
#include <stdio.h>

#include "file.h"
#include "findings.h"
#include "print.h"

static hearth_status print_type(hearth_advice *a, const hearth_finding *f, FILE *out, hearth_error *err) {
  const char *type;
  HEARTH_TRY(hearth_profile_type_name(a->profile, a->places[f->group].mib.DataTypeId, &type, err));
  if (f->kind != HEARTH_ADVICE_FIELDS || !*type)
    return HEARTH_OK;
  fputs("   of type ", out);
  hearth_print_name(type, 0, out);
  fputs(*f->fields ? ": " : " (--binary with -g names its fields)", out);
  hearth_print_name(f->fields, 0, out);
  fputc('\n', out);
  return HEARTH_OK;
}

static hearth_status print_finding(hearth_advice *a, size_t number, FILE *out, hearth_error *err) {
  const hearth_finding *f = &a->findings[number];
  uint32_t node;
  HEARTH_TRY(hearth_profile_get_context(a->profile, a->places[f->group].context, &node, NULL, err));
  fprintf(out, "\n%zu. %s (%s): up to %.1f%% of all %s\n   ", number + 1, hearth_advice_title(f->kind),
          hearth_advice_kind_name(f->kind), 100 * f->share,
          hearth_advice_saves_work(f->kind) ? "allocations" : "memory by time");
  hearth_print_name(a->groups.items[f->group].name, 0, out);
  fprintf(out, "\n   %s\n", f->evidence);
  HEARTH_TRY(print_type(a, f, out, err));
  fprintf(out, "   remedy: %s\n   most of it here:\n", hearth_advice_remedy(f->kind));
  return hearth_print_stack(a->profile, &a->names, node, out, err);
}

static void print_missing(const hearth_advice *a, FILE *out) {
  static const char *const sources[] = {"", "a program compiled for profiling, that counts all accesses",
                                        "the same for some seconds, with 4 MiB of heap or more",
                                        "the same in histogram mode", "a trace ('hearth record --mode=trace')"};
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

hearth_status hearth_advice_print_text(hearth_advice *a, const char *name, size_t top, FILE *out, hearth_error *err) {
  hearth_print_name(name, 0, out);
  fprintf(out, ": %zu finding%s\n", a->finding_count, hearth_plural(a->finding_count));
  for (size_t i = 0; i < a->finding_count && i < top; i++)
    HEARTH_TRY(print_finding(a, i, out, err));
  if (a->finding_count > top)
    fprintf(out, "\n... and %zu more (--full prints all)\n", a->finding_count - top);
  fputc('\n', out);
  print_missing(a, out);
  return hearth_stream_flush(out, err);
}
