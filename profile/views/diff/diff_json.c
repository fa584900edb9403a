/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* docs/tools.md, "hearth diff --json", describes the shape: change both in one commit. */
#include "comparison.h"
#include "file.h"
#include "print.h"

enum { JSON_VERSION = 1 };

typedef struct diff_json {
  hearth_diff *diff;
  hearth_json json;
  hearth_json_frames table; /* by common frame */
} diff_json;

static void print_totals(hearth_json *json, const char *name, const hearth_diff_totals *totals) {
  hearth_json_print(json, "%s:{contexts:%f", name, totals->of[HEARTH_MEASURE_CONTEXTS]);
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    hearth_json_key_double(json, hearth_quantity_key(q), totals->of[q]);
  hearth_json_close(json, '}');
}

static void print_side(diff_json *p, int number) {
  const hearth_diff_side *side = &p->diff->sides[number];
  hearth_json *json = &p->json;
  hearth_json_print(json, "\n%s:{profile:%s", number == HEARTH_DIFF_A ? "a" : "b", side->name);
  HEARTH_JSON_MEMBERS(json, &side->summary, runs, accesses_counted, densities_only);
  print_totals(json, "all", &side->all);
  hearth_json_key_object(json, "classes");
  for (hearth_class c = HEARTH_CLASS_COLD; c < HEARTH_DIFF_CLASSES; c++)
    print_totals(json, hearth_class_name(c), &side->classes[c]);
  print_totals(json, hearth_class_name(HEARTH_CLASS_UNKNOWN), &side->classes[HEARTH_CLASS_UNKNOWN]);
  hearth_json_print(json, "}, changes:{");
  for (hearth_change change = 0; change < HEARTH_CHANGE_COUNT; change++)
    print_totals(json, hearth_change_name(change), &side->changes[change]);
  hearth_json_print(json, "}}");
}

static hearth_status print_entry_side(diff_json *p, const hearth_diff_entry *e, int side, hearth_error *err) {
  hearth_json *json = &p->json;
  hearth_mib mib;
  const char *key = side == HEARTH_DIFF_A ? "a" : "b";
  if (e->first[side] == HEARTH_NONE) {
    hearth_json_key_null(json, key);
    return HEARTH_OK;
  }
  HEARTH_TRY(hearth_diff_mib(p->diff, e, side, &mib, err));
  hearth_json_print(json, "%s:{class:%s", key, hearth_class_name(e->hotness[side]));
  for (hearth_quantity q = 0; q < HEARTH_QUANTITY_COUNT; q++)
    hearth_json_key_double(json, hearth_quantity_key(q),
                           hearth_diff_per_run(p->diff, side, hearth_quantity_of(q, &mib)));
  hearth_json_close(json, '}');
  return HEARTH_OK;
}

static hearth_status print_stack(diff_json *p, const hearth_diff_entry *e, hearth_error *err) {
  uint32_t node;
  int side;
  HEARTH_TRY(hearth_diff_stack(p->diff, e, &side, &node, err));
  hearth_json_key_array(&p->json, "stack");
  node = p->diff->sides[side].nodes[node];
  for (; node != HEARTH_NONE; node = p->diff->nodes.pairs[node].second)
    hearth_json_frames_use(&p->table, &p->json, p->diff->nodes.pairs[node].first);
  hearth_json_close(&p->json, ']');
  return HEARTH_OK;
}

static hearth_status print_entries(diff_json *p, size_t top, hearth_error *err) {
  hearth_json *json = &p->json;
  hearth_json_print(json, "\ncontexts:[");
  for (hearth_change change = 0; change < HEARTH_CHANGE_NONE; change++) {
    uint32_t first = p->diff->first[change], end = p->diff->first[change + 1];
    for (uint32_t i = first; i < end && i - first < top; i++) {
      const hearth_diff_entry *e = &p->diff->entries[i];
      hearth_json_print(json, "\n{change:%s", hearth_change_name(change));
      for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
        HEARTH_TRY(print_entry_side(p, e, side, err));
      HEARTH_TRY(print_stack(p, e, err));
      hearth_json_close(json, '}');
    }
  }
  hearth_json_close(json, ']');
  return HEARTH_OK;
}

static hearth_status print_frames(diff_json *p, hearth_error *err) {
  hearth_json_print(&p->json, "\nframes:[");
  for (uint32_t i = 0; i < p->table.count; i++) {
    const hearth_diff_frame *frame = &p->diff->frames[p->table.used[i]];
    hearth_diff_side *side = &p->diff->sides[frame->side];
    HEARTH_TRY(hearth_json_frame(&p->json, side->profile, &side->names, frame->row, err));
  }
  hearth_json_close(&p->json, ']');
  return HEARTH_OK;
}

static hearth_status print_diff(diff_json *p, size_t top, hearth_error *err) {
  HEARTH_TRY(hearth_json_frames_init(&p->table, p->diff->frame_count, err));
  hearth_json_begin(&p->json, "hearth-diff", JSON_VERSION);
  for (int side = 0; side < HEARTH_DIFF_SIDES; side++)
    print_side(p, side);
  HEARTH_TRY(print_entries(p, top, err));
  HEARTH_TRY(print_frames(p, err));
  return hearth_json_end(&p->json, err);
}

hearth_status hearth_diff_print_json(hearth_diff *d, size_t top, FILE *stream, hearth_error *err) {
  diff_json p = {.diff = d, .json = {.stream = stream}};
  hearth_status status = print_diff(&p, top, err);
  hearth_json_frames_destroy(&p.table);
  return status;
}
