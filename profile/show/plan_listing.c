/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth show --plan`: each choice of the plan and its worth; decision sites and tables with the most bytes come
 * first. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hearth/plan.h"
#include "print.h"
#include "selection.h"

/* A decision site or a table: those of most bytes are printed first. */
typedef struct plan_row {
  uint64_t bytes, stack_id;
  uint64_t left; /* bytes that get another placement than theirs */
  uint32_t row;
} plan_row;

typedef struct plan_view {
  hearth_profile *profile;
  hearth_names names;
  hearth_plan plan;
  plan_row *sites, *tables;
} plan_view;

static int plan_listing_compare(const void *a, const void *b) {
  const plan_row *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes > y->bytes ? -1 : 1;
  return (x->stack_id > y->stack_id) - (x->stack_id < y->stack_id);
}

static plan_row weigh_table(const hearth_plan *plan, uint32_t row) {
  const hearth_plan_table *table = &plan->tables[row];
  plan_row ret = {.stack_id = table->stack_id, .row = row};
  ret.bytes = table->bytes[0] + table->bytes[1];
  ret.left = ret.bytes - table->right_bytes[0] - table->right_bytes[1];
  return ret;
}

/* Destroy also after an error. */
static hearth_status plan_view_init(plan_view *view, hearth_profile *profile, hearth_error *err) {
  hearth_plan *plan = &view->plan;
  *view = (plan_view){.profile = profile};
  HEARTH_TRY(hearth_names_init(&view->names, profile, NULL, err));
  HEARTH_TRY(hearth_profile_get_plan(profile, plan, err));
  HEARTH_TRY(hearth_array_create(&view->sites, plan->site_count, sizeof *view->sites, err));
  HEARTH_TRY(hearth_array_create(&view->tables, plan->table_count, sizeof *view->tables, err));
  for (uint32_t i = 0; i < plan->site_count; i++)
    view->sites[i] = (plan_row){.bytes = plan->sites[i].bytes, .stack_id = plan->sites[i].stack_id, .row = i};
  for (uint32_t i = 0; i < plan->table_count; i++)
    view->tables[i] = weigh_table(plan, i);
  qsort(view->sites, plan->site_count, sizeof *view->sites, plan_listing_compare);
  qsort(view->tables, plan->table_count, sizeof *view->tables, plan_listing_compare);
  return HEARTH_OK;
}

static void plan_view_destroy(plan_view *view) {
  hearth_names_destroy(&view->names);
  free(view->sites);
  free(view->tables);
}

/* "name  file:line:column", or "name  library" */
static hearth_status plan_listing_print_place(plan_view *v, uint32_t row, FILE *stream, hearth_error *err) {
  hearth_place place;
  HEARTH_TRY(hearth_place_get(v->profile, &v->names, row, &place, err));
  hearth_print_name(place.function.name, 0, stream);
  fputs("  ", stream);
  hearth_print_name(*place.function.path ? place.function.path : "?", 0, stream);
  if (place.frame.stack_id)
    fprintf(stream, ":%" PRIu32 ":%" PRIu32, place.line, place.frame.column);
  return HEARTH_OK;
}

static hearth_status print_sites(plan_view *v, FILE *stream, hearth_error *err) {
  fprintf(stream,
          "\nDecision sites: bit, weight that is right because of it, blocks allocated while it is being called\n");
  for (uint32_t i = 0; i < v->plan.site_count; i++) {
    const hearth_plan_site *site = &v->plan.sites[v->sites[i].row];
    fprintf(stream, "  %2" PRIu32 " %10s %12" PRIu64 "  ", site->bit, hearth_amount_bytes(site->bytes).c, site->allocs);
    HEARTH_TRY(plan_listing_print_place(v, site->frame, stream, err));
    fputc('\n', stream);
  }
  return HEARTH_OK;
}

static void print_bits(uint64_t bits, FILE *stream) {
  const char *separator = "";
  for (int bit = 0; bit < 64; bit++)
    if (bits >> bit & 1) {
      fprintf(stream, "%s%d", separator, bit);
      separator = " or ";
    }
  if (!bits)
    fputs("none", stream);
}

static void plan_listing_print_entry(const hearth_plan_table *table, bool is_set, FILE *stream) {
  uint64_t others = table->bytes[is_set] - table->right_bytes[is_set];
  fputs("    bits ", stream);
  print_bits(is_set ? table->mask : 0, stream);
  fprintf(stream, ": %s; %s", hearth_placement_name(table->placements[is_set]),
          hearth_amount_bytes(table->bytes[is_set]).c);
  if (others)
    fprintf(stream, ", of others %s", hearth_amount_bytes(others).c);
  fputc('\n', stream);
}

static hearth_status plan_listing_print_table(plan_view *v, const plan_row *row, FILE *stream, hearth_error *err) {
  const hearth_plan_table *table = &v->plan.tables[row->row];
  fputs("  ", stream);
  HEARTH_TRY(plan_listing_print_place(v, table->frame, stream, err));
  fputc('\n', stream);
  plan_listing_print_entry(table, false, stream);
  if (table->mask)
    plan_listing_print_entry(table, true, stream);
  if (row->left && !table->mask)
    fprintf(stream, "    no site is worth its while here: too few bytes, or its contexts share all callers\n");
  else if (row->left)
    fprintf(stream, "    %s remain: cold contexts go through none of the decision sites, or others through the same\n",
            hearth_amount_bytes(row->left).c);
  return HEARTH_OK;
}

static hearth_status print_calls(plan_view *v, FILE *stream, hearth_error *err) {
  fputs("\nAllocation calls by pool id: pool; weight, bytes, blocks, accesses; mean lifetime\n", stream);
  for (uint32_t i = 0; i < v->plan.call_count; i++) {
    const hearth_plan_call *call = &v->plan.calls[i];
    fprintf(stream, "  %2" PRIu32 " %4d %10s %10s %12" PRIu64 " %14" PRIu64 " %8s  ", i + 1, v->plan.pools[i],
            hearth_amount_bytes(call->weight).c, hearth_amount_bytes(call->bytes).c, call->allocs, call->accesses,
            hearth_amount_time(call->lifetime_ns).c);
    HEARTH_TRY(plan_listing_print_place(v, call->frame, stream, err));
    fputc('\n', stream);
  }
  return HEARTH_OK;
}

/* Per cent that a ratio is off one, and to which side. */
static double plan_listing_change(uint32_t ratio_ppm) { return fabs(1e6 - (double)ratio_ppm) / 1e4; }
static const char *plan_listing_side(uint32_t ratio_ppm) { return ratio_ppm > 1000000 ? "more" : "less"; }

static void print_layout(const hearth_plan *plan, FILE *stream) {
  const hearth_plan_tuning *t = &plan->tuning;
  uint8_t one[HEARTH_POOLS_MAX + 1];
  char layout[HEARTH_POOLS_MAX + 1];
  hearth_layout_print(plan->pools, layout);
  hearth_layout_parse("one", plan->call_count, plan->has_dormant, one, NULL);
  fprintf(stream, "layout %s", memcmp(plan->pools, one, sizeof one) == 0 ? "one" : layout);
  if (t->kind == HEARTH_TUNING_NONE)
    fputc('\n', stream);
  else
    fprintf(stream,
            ", tuned for %s: %.1f %% %s time than with one pool (spread %.1f %%), %.1f %% %s memory (%.1f %%), in "
            "%" PRIu32 " rounds\n",
            hearth_tuning_name(t->kind), plan_listing_change(t->time_ppm), plan_listing_side(t->time_ppm),
            (double)t->time_spread_ppm / 1e4, plan_listing_change(t->memory_ppm), plan_listing_side(t->memory_ppm),
            (double)t->memory_spread_ppm / 1e4, t->rounds);
}

/* How much the profile's classes move. */
static hearth_status print_apart(plan_view *v, FILE *stream, hearth_error *err) {
  uint64_t bytes[HEARTH_PLACEMENTS] = {0}, all = 0;
  for (uint32_t i = 0; i < v->plan.context_count; i++) {
    hearth_mib mib;
    HEARTH_TRY(hearth_profile_get_context(v->profile, i, NULL, &mib, err));
    bytes[hearth_plan_placement_of(&v->plan, i)] += mib.TotalSize;
    all += mib.TotalSize;
  }
  fprintf(stream, "apart: %s cold, %s dormant, of %s\n", hearth_amount_bytes(bytes[HEARTH_CLASS_COLD]).c,
          hearth_amount_bytes(bytes[HEARTH_PLACEMENT_DORMANT]).c, hearth_amount_bytes(all).c);
  return HEARTH_OK;
}

static hearth_status print_plan(plan_view *v, FILE *stream, hearth_error *err) {
  uint64_t bits = 0, left = 0;
  for (uint32_t i = 0; i < v->plan.site_count; i++)
    bits |= UINT64_C(1) << v->plan.sites[i].bit;
  if (!v->plan.id) {
    fputs("no plan: no context has a placement ('hearth merge' makes plans)\n", stream);
    return HEARTH_OK;
  }
  fprintf(stream,
          "plan %016" PRIx64 ": %" PRIu32 " pool id%s, %" PRIu32 " decision site%s in %d bit%s for %" PRIu32
          " allocation call%s\n",
          v->plan.id, v->plan.call_count, hearth_plural(v->plan.call_count), v->plan.site_count,
          hearth_plural(v->plan.site_count), __builtin_popcountll(bits),
          hearth_plural((uint64_t)__builtin_popcountll(bits)), v->plan.table_count, hearth_plural(v->plan.table_count));
  print_layout(&v->plan, stream);
  HEARTH_TRY(print_apart(v, stream, err));
  if (v->plan.call_count)
    HEARTH_TRY(print_calls(v, stream, err));
  if (v->plan.site_count)
    HEARTH_TRY(print_sites(v, stream, err));
  if (!v->plan.table_count)
    return HEARTH_OK;
  fprintf(stream, "\nAllocation calls with cold contexts and others: placement and bytes by the bits that are set\n");
  for (uint32_t i = 0; i < v->plan.table_count; i++) {
    HEARTH_TRY(plan_listing_print_table(v, &v->tables[i], stream, err));
    left += v->tables[i].left;
  }
  fprintf(stream, "\n%s get a placement that is not theirs\n", hearth_amount_bytes(left).c);
  return HEARTH_OK;
}

hearth_status hearth_plan_print(hearth_profile *profile, FILE *stream, hearth_error *err) {
  plan_view v;
  hearth_status status = plan_view_init(&v, profile, err);
  HEARTH_THEN(status, print_plan(&v, stream, err));
  plan_view_destroy(&v);
  return status == HEARTH_OK ? hearth_stream_flush(stream, err) : status;
}
