/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `hearth show --plan`: each choice of the plan and its worth. */
#include <inttypes.h>
#include <string.h>

#include "amount.h"
#include "file.h"
#include "plan_view.h"
#include "print.h"

/* "name  file:line:column", or "name  library" */
static hearth_status print_place(hearth_plan_view *v, uint32_t row, FILE *stream, hearth_error *err) {
  hearth_place place;
  HEARTH_TRY(hearth_place_get(v->profile, &v->names, row, &place, err));
  hearth_print_name(place.function.name, 0, stream);
  fputs("  ", stream);
  hearth_print_name(*place.function.path ? place.function.path : "?", 0, stream);
  if (place.frame.stack_id)
    fprintf(stream, ":%" PRIu32 ":%" PRIu32, place.line, place.frame.column);
  return HEARTH_OK;
}

static hearth_status print_sites(hearth_plan_view *v, FILE *stream, hearth_error *err) {
  fprintf(stream,
          "\nDecision sites: bit, weight that is right because of it, blocks allocated while it is being called\n");
  for (uint32_t i = 0; i < v->plan.site_count; i++) {
    const hearth_plan_site *site = v->sites[i];
    fprintf(stream, "  %2" PRIu32 " %10s %12" PRIu64 "  ", site->bit, hearth_amount_bytes(site->bytes).c, site->allocs);
    HEARTH_TRY(print_place(v, site->frame, stream, err));
    fputc('\n', stream);
  }
  return HEARTH_OK;
}

static void print_bits(uint64_t bits, FILE *stream) {
  const char *separator = "";
  for (int bit = 0; bit < 64; bit++)
    if (bits >> bit & 1) {
      fprintf(stream, "%s%d", separator, bit);
      separator = "+";
    }
  if (!bits)
    fputs("none", stream);
}

static void print_entry(const hearth_plan_entry *entry, FILE *stream) {
  fputs("    bits ", stream);
  print_bits(entry->bits, stream);
  fprintf(stream, ": %s; %s", hearth_placement_name((hearth_placement)entry->placement),
          hearth_amount_bytes(entry->bytes).c);
  if (entry->right_bytes < entry->bytes)
    fprintf(stream, ", of others %s", hearth_amount_bytes(entry->bytes - entry->right_bytes).c);
  fputc('\n', stream);
}

static hearth_status print_table(hearth_plan_view *v, const hearth_plan_table *table, FILE *stream, hearth_error *err) {
  uint32_t count;
  const hearth_plan_entry *entries = hearth_plan_entries(&v->plan, table, &count);
  uint64_t left = hearth_plan_table_bytes_left(v, table);
  fputs("  ", stream);
  HEARTH_TRY(print_place(v, table->frame, stream, err));
  fputc('\n', stream);
  for (uint32_t i = 0; i < count; i++)
    print_entry(&entries[i], stream);
  if (left && !table->mask)
    fprintf(stream,
            "    no site is worth its while here: --min-gain, --max-sites, or its contexts share all callers\n");
  else if (left)
    fprintf(stream, "    %s remain: cold contexts go through none of the decision sites, or others through the same\n",
            hearth_amount_bytes(left).c);
  return HEARTH_OK;
}

static hearth_status print_calls(hearth_plan_view *v, FILE *stream, hearth_error *err) {
  fputs("\nAllocation calls by pool id: pool; weight, bytes, blocks, accesses; mean lifetime, of blocks that die young "
        "or "
        "stay\n",
        stream);
  for (uint32_t i = 0; i < v->plan.call_count; i++) {
    const hearth_plan_call *call = &v->plan.calls[i];
    fprintf(stream, "  %2" PRIu32 " %4d %10s %10s %12" PRIu64 " %14" PRIu64 " %8s %s  ", i + 1, v->plan.pools[i],
            hearth_amount_bytes(call->weight).c, hearth_amount_bytes(call->bytes).c, call->allocs, call->accesses,
            hearth_amount_time(call->lifetime_ns).c, call->dies_young ? "young" : "stay ");
    HEARTH_TRY(print_place(v, call->frame, stream, err));
    fputc('\n', stream);
  }
  return HEARTH_OK;
}

/* Per cent that a ratio is below one. */
static double saving(uint32_t ratio_ppm) { return (1e6 - (double)ratio_ppm) / 1e4; }

static void print_layout(const hearth_plan *plan, FILE *stream) {
  const hearth_plan_tuning *t = &plan->tuning;
  char layout[HEARTH_POOLS_MAX + 1];
  hearth_layout_print(plan->pools, layout);
  fprintf(stream, "layout %s", strcmp(layout, "0") == 0 ? "one" : layout);
  if (t->kind == HEARTH_TUNING_NONE)
    fputc('\n', stream);
  else
    fprintf(stream,
            ", tuned for %s: %.1f %% less time than with one pool (spread %.1f %%), %.1f %% less memory (%.1f %%), in "
            "%" PRIu32 " rounds\n",
            hearth_tuning_name(t->kind), saving(t->time_ppm), (double)t->time_spread_ppm / 1e4, saving(t->memory_ppm),
            (double)t->memory_spread_ppm / 1e4, t->rounds);
}

static hearth_status print_plan(hearth_plan_view *v, FILE *stream, hearth_error *err) {
  uint64_t bits = 0, left = 0;
  for (uint32_t i = 0; i < v->plan.site_count; i++)
    bits |= UINT64_C(1) << v->plan.sites[i].bit;
  if (!v->plan.id) {
    fputs("no plan: no context has a placement ('hearth plan' makes plans)\n", stream);
    return HEARTH_OK;
  }
  fprintf(stream,
          "plan %016" PRIx64 ": %" PRIu32 " pool id%s, %" PRIu32 " decision site%s in %d bit%s for %" PRIu32
          " allocation call%s\n",
          v->plan.id, v->plan.call_count, hearth_plural(v->plan.call_count), v->plan.site_count,
          hearth_plural(v->plan.site_count), __builtin_popcountll(bits),
          hearth_plural((uint64_t)__builtin_popcountll(bits)), v->plan.table_count, hearth_plural(v->plan.table_count));
  print_layout(&v->plan, stream);
  if (v->plan.call_count)
    HEARTH_TRY(print_calls(v, stream, err));
  if (v->plan.site_count)
    HEARTH_TRY(print_sites(v, stream, err));
  if (!v->plan.table_count)
    return HEARTH_OK;
  fprintf(stream, "\nAllocation calls with cold contexts and others: placement and bytes by the bits that are set\n");
  for (uint32_t i = 0; i < v->plan.table_count; i++) {
    HEARTH_TRY(print_table(v, v->tables[i], stream, err));
    left += hearth_plan_table_bytes_left(v, v->tables[i]);
  }
  fprintf(stream, "\n%s get a placement that is not theirs\n", hearth_amount_bytes(left).c);
  return HEARTH_OK;
}

hearth_status hearth_plan_print_text(hearth_profile *profile, FILE *stream, hearth_error *err) {
  hearth_plan_view v;
  hearth_status status = hearth_plan_view_init(&v, profile, err);
  if (status == HEARTH_OK)
    status = print_plan(&v, stream, err);
  hearth_plan_view_destroy(&v);
  return status == HEARTH_OK ? hearth_stream_flush(stream, err) : status;
}
